"""Online classification among very many classes, with work that does not grow with their number."""

from importlib.metadata import version
from typing import TYPE_CHECKING

from recalltree import _core
from recalltree.lazy import lazy_names

if TYPE_CHECKING:
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
    "simd",
]

# The classifiers stand on scikit-learn, which takes a second to import.
__getattr__ = lazy_names(
    __name__,
    {
        "LOMTreeClassifier": "estimators",
        "OneAgainstAllClassifier": "estimators",
        "OneAgainstSomeClassifier": "estimators",
        "RecallTreeClassifier": "estimators",
        "load": "estimators",
    },
)


def simd() -> str:
    """Return the instruction set of the inner loops: "scalar", "avx2" or "avx512".

    It is the best that the processor has, unless the environment variable ``RECALLTREE_SIMD`` names
    another.

    Examples
    --------
    >>> import recalltree
    >>> recalltree.simd() in ("scalar", "avx2", "avx512")
    True
    """
    return _core.simd()
