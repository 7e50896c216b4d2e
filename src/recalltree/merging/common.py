"""Parts of every model: examples, progress, feature scales, which classes were seen."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.labels import Matched
from recalltree.merging.plan import Plan, State, everything, sum_up


def merge_common(plan: Plan, features: Matched | None = None) -> State:
    """Return the tensors that all models have.

    Parameters
    ----------
    plan : Plan
    features : Matched, default=None
        Which feature is which; None: the same in all models.
    """
    features = everything(plan, "scale.features") if features is None else features
    has_lists = any("has_lists" in source.model.state for source in plan.sources)
    return {
        **({"has_lists": np.ones(1, dtype=np.uint32)} if has_lists else {}),
        "n_examples": _rounded(sum_up(plan, "n_examples", everything(plan, "n_examples"))),
        "progress": sum_up(plan, "progress", everything(plan, "progress")),
        "classes.seen": _largest(plan, "classes.seen", plan.classes).astype(np.uint32),
        "scale.features": _largest(plan, "scale.features", features).astype(np.float32),
        "scale.sums": sum_up(plan, "scale.sums", everything(plan, "scale.sums")),
    }


def _rounded(numbers: NDArray[np.float64]) -> NDArray[np.uint64]:
    return numbers.round().astype(np.uint64)


def _largest(plan: Plan, name: str, matched: Matched) -> NDArray[np.float64]:
    largest = np.zeros(matched.size)
    for source, own in zip(plan.sources, matched.numbers, strict=True):
        kept = own >= 0
        largest[own[kept]] = np.maximum(largest[own[kept]], source[name][kept])
    return largest
