"""Lists of numbers, one for each row, with values beside them: pairs, and weights by feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from recalltree import _core
from recalltree.merging.labels import Matched
from recalltree.merging.plan import Fading, Plan
from recalltree.merging.rules import Rule
from recalltree.merging.threads import for_each

#: Numbers that are merged at a time, in all models together.
_TOGETHER = 1 << 19


@dataclass(frozen=True)
class Lists:
    """Lists of one model: those of row i are ``ids[offsets[i] : offsets[i + 1]]``.

    Attributes
    ----------
    offsets, ids : ndarray
    names : ndarray of uint32 or None
        What the merged lists call each id; None: the same.
    counts, weights, accumulators : ndarray of float32 or None
        Beside the ids; None where there are none.
    """

    offsets: NDArray[np.uint64]
    ids: NDArray[np.uint32]
    names: NDArray[np.uint32] | None = None
    counts: NDArray[np.float32] | None = None
    weights: NDArray[np.float32] | None = None
    accumulators: NDArray[np.float32] | None = None


def merge_lists(
    plan: Plan,
    rows: Matched,
    lists: Sequence[Lists],
    *,
    fading: Fading | None = None,
    rule: Rule | None = None,
    offset: float = 0.0,
) -> Lists:
    """Return merged lists, with the values that the models have.

    Parameters
    ----------
    plan : Plan
    rows : Matched
    lists : sequence of Lists
        Of the base and of each model.
    fading : Fading, default=None
        Of the counts; None: they do not fade.
    rule : Rule, default=None
        That for the weights; None where there are none.
    offset : float, default=0.0
        What AdaGrad adds to its sums.
    """
    ranges = [_ranges(one.offsets, rows.inverse(i)) for i, one in enumerate(lists)]
    factors = [(1.0 if fading is None else fading.base, 1.0, 1.0)]
    for i, share in enumerate(plan.shares):
        now, then = (1.0, 1.0) if fading is None else (fading.new[i], fading.then[i])
        factors.append((now, then, share))

    def parts(low: int, high: int) -> list[_core.Lists]:
        return [
            (
                begin[low:high],
                end[low:high],
                one.ids,
                one.names,
                one.counts,
                one.weights,
                one.accumulators,
            )
            for (begin, end), one in zip(ranges, lists, strict=True)
        ]

    has_values = [
        any(values is not None for values in beside)
        for beside in zip(*((x.counts, x.weights, x.accumulators) for x in lists), strict=True)
    ]

    def n_bytes(low: int, high: int) -> int:
        n = sum(int((end[low:high] - begin[low:high]).sum()) for begin, end in ranges)
        return 4 * n * (1 + sum(has_values))

    blocks = list(_blocks(ranges, rows.size))
    sizes = np.zeros(rows.size, dtype=np.uint64)

    def measure(block: tuple[int, int]) -> None:
        sizes[slice(*block)] = _core.merged_sizes(parts(*block))
        plan.release()
        plan.work.measured(n_bytes(*block))

    for_each(measure, blocks, plan.n_threads)
    offsets = np.zeros(rows.size + 1, dtype=np.uint64)
    np.cumsum(sizes, out=offsets[1:])
    n = int(offsets[-1])
    ids = np.empty(n, dtype=np.uint32)
    values = [np.empty(n, dtype=np.float32) if has else None for has in has_values]

    def fill(block: tuple[int, int]) -> None:
        low, high = block
        to = slice(int(offsets[low]), int(offsets[high]))
        name = "sum" if rule is None else rule.name
        ids[to], *found = _core.merge_lists(parts(low, high), factors, name, offset)
        for merged, part in zip(values, found, strict=True):
            if merged is not None:
                merged[to] = part
        plan.release()
        plan.work.merged(n_bytes(*block))

    for_each(fill, blocks, plan.n_threads)
    return Lists(offsets, ids, None, *values)


def _ranges(
    offsets: NDArray[np.uint64], own: NDArray[np.int64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return where the list of each merged row begins and ends in a model: nowhere, if not there.

    Parameters
    ----------
    offsets : ndarray
        Of the model's lists.
    own : ndarray
        The row in the model, -1 if there is none.
    """
    n = len(offsets) - 1
    has = (own >= 0) & (own < n)
    at = np.where(has, own, 0)
    begins = np.where(has, offsets[at], 0).astype(np.uint64)
    last = offsets[np.minimum(at + 1, n)] if n else np.zeros(len(at), np.uint64)
    return begins, np.where(has, last, 0).astype(np.uint64)


def _blocks(
    ranges: Sequence[tuple[NDArray[np.uint64], NDArray[np.uint64]]], n_rows: int
) -> Iterator[tuple[int, int]]:
    """Yield ranges of rows with about this many numbers together."""
    if n_rows == 0:
        return
    n = np.zeros(n_rows, dtype=np.int64)
    for begins, ends in ranges:
        n += (ends - begins).astype(np.int64)
    groups = np.cumsum(n) // _TOGETHER
    edges = np.flatnonzero(np.diff(groups)) + 1
    yield from pairwise([0, *edges.tolist(), n_rows])
