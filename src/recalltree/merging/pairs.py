"""Pairs of a class and a feature, and the histograms of features that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import rank_lists
from recalltree.merging.labels import Matched
from recalltree.merging.lists import Block, Lists, merge_lists
from recalltree.merging.plan import Fading, Plan, State
from recalltree.merging.weights import merge_entries, names_of

#: What AdaGrad adds to the sums of pairs, as in the core.
OFFSET = 0.03


def merge_pairs(plan: Plan, features: Matched | None, fading: Fading) -> State:
    """Return the tensors ``pairs.*``."""
    lists = [
        Lists(
            source["pairs.offsets"],
            source["pairs.keys"],
            None if features is None else names_of(features, i),
        )
        for i, source in enumerate(plan.sources)
    ]

    def merge_block(block: Block) -> list[NDArray[Any]]:
        counts = [
            source["pairs.counts"][entries]
            for source, entries in zip(plan.sources, block.entries, strict=True)
        ]
        learned = merge_entries(plan, "pairs", block, plan.rules.pairs, OFFSET)
        return [add_counts(block, counts, fading), *learned]

    kinds = dict.fromkeys(("pairs.counts", "pairs.weights", "pairs.accumulators"), np.float32)
    offsets, keys, merged = merge_lists(plan, plan.classes, lists, kinds, merge_block)
    return {"pairs.offsets": offsets, "pairs.keys": keys, **merged}


def add_counts(block: Block, counts: Sequence[NDArray[Any]], fading: Fading) -> NDArray[np.float64]:
    """Return base + sum of (model - base), of the models that have a number.

    So what one model forgot, as within a budget of memory, stays as it was in the base.
    """
    base = np.zeros(block.size)
    base[block.places[0]] = counts[0]
    total = fading.base * base
    for i, places in enumerate(block.places[1:]):
        total[places] += fading.new[i] * counts[i + 1] - fading.then[i] * base[places]
    return np.maximum(total, 0.0)


def rank_features(plan: Plan, pairs: State, features: NDArray[np.uint32]) -> State:
    """Return the histograms of these features: the classes with the largest counts."""
    offsets, labels, roots, predictors = rank_lists(
        pairs["pairs.offsets"],
        pairs["pairs.keys"],
        pairs["pairs.counts"],
        pairs["pairs.weights"],
        features,
        int(plan.config["max_labels"]),
    )
    return {
        "keys.offsets": offsets,
        "keys.labels": labels,
        "keys.roots": roots,
        "keys.predictors": predictors,
    }
