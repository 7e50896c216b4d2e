"""Online classification among very many classes, with work that does not grow with their number."""

from importlib.metadata import version

from recalltree import _core
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
