"""How much of a merge is done, by how long its parts take."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

from recalltree.merging.sources import Source

#: Seconds of one thread per gigabyte that is read, and per gigabyte of the largest model. Only
#: their ratios count.
_SUM, _CHECK, _SIZES, _VALUES, _RANKS = 0.55, 0.2, 0.1, 0.4, 2.9


class Work:
    """Tells how much of a merge is done.

    Parameters
    ----------
    tell : callable or None
        Called with a share, which only grows, from one thread at a time.
    sources : sequence of Source
        All that is read.

    Examples
    --------
    >>> from recalltree.merging.work import Work
    >>> Work(print, []).end()
    1.0
    """

    def __init__(self, tell: Callable[[float], object] | None, sources: list[Source]) -> None:
        self._tell = tell
        self._lock = Lock()
        self._done = 0.0
        sizes = [sum(array.nbytes for array in s.model.state.values()) for s in sources]
        files = [n for n, s in zip(sizes, sources, strict=True) if s.container is not None]
        self._total = (
            sum(files) * (_SUM + _CHECK)
            + sum(sizes) * (_SIZES + _VALUES)
            + max(sizes, default=0) * _RANKS
        )

    def summed(self, n_bytes: int) -> None:
        """Add bytes of which a checksum was made."""
        self._add(n_bytes * _SUM)

    def checked(self, n_bytes: int) -> None:
        """Add bytes that were checked."""
        self._add(n_bytes * _CHECK)

    def measured(self, n_bytes: int) -> None:
        """Add bytes of lists whose merged sizes are known."""
        self._add(n_bytes * _SIZES)

    def merged(self, n_bytes: int) -> None:
        """Add bytes that were merged."""
        self._add(n_bytes * _VALUES)

    def end(self) -> None:
        """Tell that all is done."""
        self._add(self._total)

    def _add(self, seconds: float) -> None:
        if self._tell is None:
            return
        with self._lock:
            self._done = min(self._total, self._done + seconds)
            self._tell(self._done / self._total if self._total else 1.0)
