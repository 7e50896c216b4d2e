"""Lists of numbers, one for each row, with values beside them: pairs, and weights by feature."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import join_lists
from recalltree.merging.labels import Matched
from recalltree.merging.plan import Plan
from recalltree.merging.threads import for_each

#: Numbers that are joined at a time, in all models together.
_TOGETHER = 1 << 18


@dataclass(frozen=True)
class Lists:
    """Lists of one model: those of row i are ``ids[offsets[i] : offsets[i + 1]]``.

    Attributes
    ----------
    offsets, ids : ndarray
    names : ndarray of uint32 or None
        What the merged lists call each id; None: the same.
    """

    offsets: NDArray[np.uint64]
    ids: NDArray[np.uint32]
    names: NDArray[np.uint32] | None = None


@dataclass(frozen=True)
class Block:
    """Some merged rows.

    Attributes
    ----------
    size : int
        Numbers in their lists.
    entries : list
        Of the base and of each model, which of its entries they are: a slice or an index.
    places : list of ndarray
        Where these are among the merged ones.
    """

    size: int
    entries: list[Any]
    places: list[NDArray[np.uint32]]


def merge_lists(
    plan: Plan,
    rows: Matched,
    lists: Sequence[Lists],
    values: dict[str, Any],
    merge_block: Callable[[Block], Sequence[NDArray[Any]]],
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], dict[str, NDArray[Any]]]:
    """Return the offsets and ids of merged lists, and the values beside the ids.

    Parameters
    ----------
    plan : Plan
    rows : Matched
    lists : sequence of Lists
        Of the base and of each model.
    values : dict
        Names of the values, and their types.
    merge_block : callable
        Returns the values of a block, in this order.
    """
    begins, ends = [], []
    for i, one in enumerate(lists):
        own = rows.inverse(i)
        n = len(one.offsets) - 1
        has = (own >= 0) & (own < n)
        at = np.where(has, own, 0)
        begins.append(np.where(has, one.offsets[at], 0).astype(np.uint64))
        last = one.offsets[np.minimum(at + 1, n)] if n else np.zeros(len(at), np.uint64)
        ends.append(np.where(has, last, 0).astype(np.uint64))

    def parts(low: int, high: int) -> list[Any]:
        return [
            (begin[low:high], end[low:high], one.ids, one.names)
            for begin, end, one in zip(begins, ends, lists, strict=True)
        ]

    blocks = list(_blocks(begins, ends, rows.size))
    sizes = np.zeros(rows.size, dtype=np.uint64)

    def measure(block: tuple[int, int]) -> None:
        low, high = block
        sizes[low:high] = join_lists(parts(low, high), only_sizes=True)[0]
        plan.release()

    for_each(measure, blocks, plan.n_threads)
    offsets = np.zeros(rows.size + 1, dtype=np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    ids = np.empty(int(offsets[-1]), dtype=np.uint32)
    merged = {name: np.empty(len(ids), dtype=dtype) for name, dtype in values.items()}

    def fill(block: tuple[int, int]) -> None:
        low, high = block
        _, found, places = join_lists(parts(low, high), only_sizes=False)
        entries = [
            _entries(begin[low:high], end[low:high])
            for begin, end in zip(begins, ends, strict=True)
        ]
        to = slice(int(offsets[low]), int(offsets[high]))
        ids[to] = found
        results = merge_block(Block(len(found), entries, places))
        for name, result in zip(values, results, strict=True):
            merged[name][to] = result
        plan.release()

    for_each(fill, blocks, plan.n_threads)
    return offsets, ids, merged


def _blocks(
    begins: Sequence[NDArray[Any]], ends: Sequence[NDArray[Any]], n_rows: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with about this many numbers together."""
    if n_rows == 0:
        return
    n = np.zeros(n_rows, dtype=np.int64)
    for begin, end in zip(begins, ends, strict=True):
        n += (end - begin).astype(np.int64)
    groups = np.cumsum(n) // _TOGETHER
    edges = np.flatnonzero(np.diff(groups)) + 1
    yield from pairwise([0, *edges.tolist(), n_rows])


def _entries(begins: NDArray[np.uint64], ends: NDArray[np.uint64]) -> Any:
    """Return which entries lie in these ranges: a slice where they follow each other."""
    sizes = (ends - begins).astype(np.int64)
    used = sizes > 0
    if not used.any():
        return slice(0, 0)
    first, last = begins[used].astype(np.int64), ends[used].astype(np.int64)
    if np.array_equal(first[1:], last[:-1]):
        return slice(int(first[0]), int(last[-1]))
    sizes = sizes[used]
    steps = np.repeat(first - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return steps + np.arange(int(sizes.sum()))
