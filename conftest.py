"""Which examples cannot run: those of engines that are not installed."""

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("ray") else ["src/recalltree/ray/*"]
