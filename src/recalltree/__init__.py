"""Online classification among very many classes, at a cost logarithmic in their number."""

from importlib.metadata import version

__version__ = version("recalltree")

__all__ = ["__version__"]
