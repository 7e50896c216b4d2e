"""Online classification among very many classes, with work that does not grow with their number."""

from typing import TYPE_CHECKING, Any

from recalltree import _core
from recalltree.lazy import lazy_names

if TYPE_CHECKING:
    from recalltree.dense_block import hybrid  # noqa: F401
    from recalltree.estimators import *  # noqa: F403
    from recalltree.merging import merge as merge

    __version__: str

# The classifiers stand on scikit-learn, which takes a second to import.
_lazy = lazy_names(__name__, {"hybrid": "dense_block", "merge": "merging"}, rest="estimators")


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted([*_lazy("estimators").__all__, "__version__", "hybrid", "merge", "simd"])
    if name == "__version__":
        from importlib.metadata import version

        return globals().setdefault(name, version("recalltree"))
    return _lazy(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


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
