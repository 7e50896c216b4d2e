"""Which examples cannot run: those of programs that are not installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("annif") else ["src/recalltree/annif.py"]
collect_ignore_glob = [] if find_spec("ray") else ["src/recalltree/ray/*"]
