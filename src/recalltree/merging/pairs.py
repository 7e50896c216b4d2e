"""Pairs of a class and a feature, and the histograms of features that follow from them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree._core import rank_lists
from recalltree.merging.labels import Matched
from recalltree.merging.lists import Lists, merge_lists
from recalltree.merging.plan import Fading, Plan, State
from recalltree.merging.weights import names_of

#: Constant that AdaGrad adds to the sums of pairs, as in the core.
OFFSET = 0.03


def merge_pairs(plan: Plan, features: Matched | None, fading: Fading) -> State:
    """Return the tensors ``pairs.*``."""
    lists = [
        Lists(
            source["pairs.offsets"],
            source["pairs.keys"],
            None if features is None else names_of(features, i),
            source["pairs.counts"],
            source["pairs.weights"],
            source["pairs.accumulators"],
        )
        for i, source in enumerate(plan.sources)
    ]
    merged = merge_lists(
        plan, plan.classes, lists, fading=fading, rule=plan.rules.pairs, offset=OFFSET
    )
    assert merged.counts is not None
    assert merged.weights is not None
    assert merged.accumulators is not None
    return {
        "pairs.offsets": merged.offsets,
        "pairs.keys": merged.ids,
        "pairs.counts": merged.counts,
        "pairs.weights": merged.weights,
        "pairs.accumulators": merged.accumulators,
    }


def rank_features(plan: Plan, pairs: State, features: NDArray[np.uint32]) -> State:
    """Return the histograms of these features: the classes with the largest counts."""
    offsets, labels, roots, predictors = rank_lists(
        pairs["pairs.offsets"],
        pairs["pairs.keys"],
        pairs["pairs.counts"],
        pairs["pairs.weights"],
        features,
        int(plan.config["max_labels"]),
        plan.n_threads,
    )
    return {
        "keys.offsets": offsets,
        "keys.labels": labels,
        "keys.roots": roots,
        "keys.predictors": predictors,
    }
