"""Work on many things in a few threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_Item = TypeVar("_Item")


def for_each(use: Callable[[_Item], None], items: Iterable[_Item], n_threads: int) -> None:
    """Call a function with every item. After an error or an interrupt, no further item is begun.

    Parameters
    ----------
    use : callable
    items : iterable
    n_threads : int

    Examples
    --------
    >>> from recalltree.merging.threads import for_each
    >>> found = []
    >>> for_each(found.append, range(4), n_threads=2)
    >>> sorted(found)
    [0, 1, 2, 3]
    """
    if n_threads == 1:
        for item in items:
            use(item)
        return
    pool = ThreadPoolExecutor(n_threads)
    try:
        for future in [pool.submit(use, item) for item in items]:
            future.result()
    finally:
        pool.shutdown(cancel_futures=True)
