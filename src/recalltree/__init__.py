"""Online classification among very many classes, with work that does not grow with their number."""

from importlib.metadata import version

from recalltree.estimators import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
    load,
)

__version__ = version("recalltree")

__all__ = [
    "LOMTreeClassifier",
    "OneAgainstAllClassifier",
    "OneAgainstSomeClassifier",
    "RecallTreeClassifier",
    "__version__",
    "load",
]
