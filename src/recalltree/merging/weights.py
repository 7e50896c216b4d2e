"""Rows of weights, one for each linear model: the tensors ``NAME.*`` of a model file."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.labels import Matched
from recalltree.merging.lists import Lists, merge_lists
from recalltree.merging.plan import Plan, State, aligned_zeros
from recalltree.merging.rules import Learned, Rule, combine

#: Numbers of dense rows that are merged at a time.
_TOGETHER = 1 << 18


def merge_weights(
    plan: Plan,
    name: str,
    rows: Matched,
    *,
    features: Matched | None = None,
    offset: float = 0.0,
) -> State:
    """Return the tensors of merged rows.

    Parameters
    ----------
    plan : Plan
    name : str
    rows : Matched
        Which row of each model is which.
    features : Matched, default=None
        Of sparse rows, which feature is which; None: the same in all models.
    offset : float, default=0.0
        What AdaGrad adds to its sums.
    """
    is_sparse = f"{name}.offsets" in plan.base.model.state
    rule = plan.rules.pairs if is_sparse else plan.rules.rows
    bias, squares = merge_vectors(
        plan, f"{name}.bias", f"{name}.bias_accumulators", rows, rule=rule, offset=offset
    )
    merged = {f"{name}.bias": bias, f"{name}.bias_accumulators": squares}
    if is_sparse:
        return {**merged, **_merge_sparse(plan, name, rows, features, rule, offset)}
    weights = f"{name}.weights"
    if f"{name}.accumulators" in plan.base.model.state:
        both = merge_vectors(plan, weights, f"{name}.accumulators", rows, rule=rule, offset=offset)
        return {**merged, weights: both[0], f"{name}.accumulators": both[1]}
    shared = f"{name}.bias_accumulators"
    merged[weights] = merge_vectors(plan, weights, shared, rows, rule=rule, offset=offset)[0]
    return merged


def merge_vectors(
    plan: Plan,
    weights: str,
    squares: str,
    rows: Matched,
    *,
    rule: Rule | None = None,
    offset: float = 0.0,
    columns: slice | None = None,
    missing: float = 0.0,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return merged numbers with AdaGrad's sums, which a row of several may share.

    Parameters
    ----------
    plan : Plan
    weights, squares : str
        The arrays, of one or two dimensions.
    rows : Matched
    rule : Rule, default=None
        None is that for rows.
    offset : float, default=0.0
        What AdaGrad adds to its sums.
    columns : slice, default=None
        Which columns of the weights; None is all.
    missing : float, default=0.0
        Weights that the base does not have.
    """
    rule = plan.rules.rows if rule is None else rule
    of_row = (slice(None) if columns is None else columns,) if plan.base[weights].ndim == 2 else ()
    widths = plan.base[weights][(slice(0, 0), *of_row)].shape[1:]
    out = aligned_zeros((rows.size, *widths))
    sums = np.zeros((rows.size, *plan.base[squares].shape[1:]), dtype=np.float32)
    inverse = [rows.inverse(i) for i in range(len(plan.sources))]
    step = max(1, _TOGETHER // max(1, int(np.prod(widths)) * len(plan.sources)))
    is_shared = sums.ndim < out.ndim
    for low in range(0, rows.size, step):
        high = min(rows.size, low + step)
        found = []
        for source, own in zip(plan.sources, inverse, strict=True):
            here = own[low:high]
            places = np.flatnonzero(here >= 0)
            w = source[weights][(here[places], *of_row)].astype(np.float64)
            G = source[squares][here[places]].astype(np.float64) + offset
            found.append((w, G[:, np.newaxis] if is_shared else G, places))
        n = high - low
        w0 = np.full((n, *widths), missing)
        G0 = np.full((n, 1) if is_shared else (n, *sums.shape[1:]), offset)
        w0[found[0][2]], G0[found[0][2]] = found[0][:2]
        models = [Learned(*one, share) for one, share in zip(found[1:], plan.shares, strict=True)]
        w, G = combine(rule, w0, G0, models)
        out[low:high] = w
        sums[low:high] = (np.maximum(G - offset, 0.0)).reshape(sums[low:high].shape)
        plan.release()
        plan.work.merged(sum(4 * (one[0].size + one[1].size) for one in found))
    return out, sums


def _merge_sparse(
    plan: Plan, name: str, rows: Matched, features: Matched | None, rule: Rule, offset: float
) -> State:
    if features is None:
        n = max(len(source[f"{name}.offsets"]) - 1 for source in plan.sources)
        features = Matched(
            n, [np.arange(len(source[f"{name}.offsets"]) - 1) for source in plan.sources]
        )
    lists = [
        Lists(
            source[f"{name}.offsets"],
            source[f"{name}.rows"],
            names_of(rows, i),
            None,
            source[f"{name}.weights"],
            source[f"{name}.accumulators"],
        )
        for i, source in enumerate(plan.sources)
    ]
    found = merge_lists(plan, features, lists, rule=rule, offset=offset)
    offsets, ids = found.offsets, found.ids
    assert found.weights is not None
    assert found.accumulators is not None
    merged = {f"{name}.weights": found.weights, f"{name}.accumulators": found.accumulators}
    if (ids == rows.size).any():  # rows that are left out
        kept = ids != rows.size
        n_before = np.concatenate([[0], np.cumsum(kept)]).astype(np.uint64)
        offsets, ids = n_before[offsets.astype(np.int64)], ids[kept]
        merged = {name: values[kept] for name, values in merged.items()}
    last = int(np.searchsorted(offsets, offsets[-1]))  # features at the end without weights
    return {f"{name}.offsets": offsets[: last + 1], f"{name}.rows": ids, **merged}


def names_of(matched: Matched, i: int) -> NDArray[np.uint32] | None:
    """Return the merged numbers of a model's things; None if they are its own.

    What is left out has the number that follows the last one.
    """
    numbers = matched.numbers[i]
    if np.array_equal(numbers, np.arange(len(numbers))):
        return None
    return np.where(numbers < 0, matched.size, numbers).astype(np.uint32)
