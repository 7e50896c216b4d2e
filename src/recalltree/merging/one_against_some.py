"""One-against-some: classes, features that vote, trees that vote, and cells."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.cells import merge_cells
from recalltree.merging.common import merge_common
from recalltree.merging.forest import merge_forest
from recalltree.merging.labels import Matched
from recalltree.merging.pairs import OFFSET, merge_pairs, rank_features
from recalltree.merging.plan import Fading, Plan, State, everything, sum_up
from recalltree.merging.sources import Source
from recalltree.merging.weights import merge_vectors, merge_weights

#: Constant that AdaGrad adds to the sums of votes and of marginals, as in the core.
_OFFSET_OF_VOTES = 0.1
_LABELS = "counted.labels"


def merge_one_against_some(plan: Plan, features: Matched | None) -> State:
    """Return the state of a merged model."""
    origins = np.array([source["counted.examples"][1] for source in plan.sources])
    fading = plan.fading("counted.n", origins, late=0.0)
    pairs = merge_pairs(plan, features, fading)
    state = {
        **merge_common(plan, features),
        **pairs,
        **_merge_keys(plan, features, pairs, fading),
        **_merge_classes(plan, fading),
        **_merge_votes(plan),
        **_merge_counted(plan, origins, fading),
        **_merge_centring(plan),
        **merge_weights(plan, "predictors", _predictor_rows(plan), offset=OFFSET),
        **merge_forest(plan, fading),
    }
    if "class_vectors.vectors" in plan.base.model.state:
        state |= merge_cells(plan, fading)
        state["classes.bias"] = state["class_vectors.bias"].copy()
    return state


def _merge_keys(plan: Plan, features: Matched | None, pairs: State, fading: Fading) -> State:
    known = [source["keys.features"].astype(np.int64) for source in plan.sources]
    if features is not None:
        known = [own[keys] for own, keys in zip(features.numbers, known, strict=True)]
    keys = _union(known)
    matched = Matched(len(keys), [np.searchsorted(keys, own) for own in known])
    learned = _merge_vote_weights(plan, "keys.weights", "keys.accumulators", matched)
    state: State = {
        "keys.features": keys.astype(np.uint32),
        "keys.examples": sum_up(plan, "keys.examples", matched, fading),
        "keys.weights": learned[0],
        "keys.accumulators": learned[1],
    }
    if any(len(source["keys.labels"]) for source in plan.sources):
        return state | rank_features(plan, pairs, state["keys.features"])
    return {
        **state,
        "keys.offsets": np.zeros(len(keys) + 1, dtype=np.uint64),
        "keys.labels": np.empty(0, dtype=np.uint32),
        "keys.roots": np.empty(0, dtype=np.float32),
        "keys.predictors": np.empty(0, dtype=np.float32),
    }


def _union(numbers: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return all numbers that are in one of the arrays, sorted."""
    largest = max((int(own.max()) for own in numbers if len(own)), default=-1)
    if largest > 64 * sum(map(len, numbers)):  # marks would take more memory than numbers
        return np.unique(np.concatenate(numbers))
    is_known = np.zeros(largest + 1, dtype=bool)
    for own in numbers:
        is_known[own] = True
    return np.flatnonzero(is_known)


def _merge_vote_weights(
    plan: Plan, weights: str, squares: str, matched: Matched
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Merge how much the votes of features count: 1 before a feature was met."""
    merged, sums = merge_vectors(
        plan,
        weights,
        squares,
        matched,
        rule=plan.rules.votes,
        offset=_OFFSET_OF_VOTES,
        missing=1.0,
    )
    return np.maximum(merged, 0.0), sums


def _merge_classes(plan: Plan, fading: Fading) -> State:
    sums = sum_up(plan, "classes.sums", plan.classes, fading)
    bias, squares = merge_vectors(
        plan,
        "classes.bias",
        "classes.bias_accumulators",
        plan.classes,
        rule=plan.rules.votes,
        offset=OFFSET,
    )
    roots = np.sqrt(sums[:, 0].astype(np.float32))
    order = np.argsort(-roots, kind="stable")[: int(plan.config["max_labels"])]
    order = order[roots[order] > 0.0]
    return {
        "classes.sums": sums,
        "classes.bias": bias,
        "classes.bias_accumulators": squares,
        "frequent.labels": order.astype(np.uint32),
        "frequent.roots": roots[order],
    }


def _merge_votes(plan: Plan) -> State:
    """Merge A, S and B, and the numbers of marginal probabilities where there are lists."""
    state = {"vote.scales": _merge_numbers(plan, "vote.scales", plan.base["vote.scales"], 0.0)}
    if any("marginals" in source.model.state for source in plan.sources):
        begin = np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32)
        state["marginals"] = _merge_numbers(plan, "marginals", begin, -np.inf)
    return state


def _merge_numbers(
    plan: Plan, name: str, begin: NDArray[np.float32], least: float
) -> NDArray[np.float32]:
    """Merge numbers that are each followed by AdaGrad's sum."""
    found = [source.model.state.get(name, begin).astype(np.float64) for source in plan.sources]
    base, rule = found[0], plan.rules.votes
    squares = base[1::2] + _OFFSET_OF_VOTES
    total, moved = np.zeros_like(squares), np.zeros_like(squares)
    for model, share in zip(found[1:], plan.shares, strict=True):
        gain = np.maximum(model[1::2] - base[1::2], 0.0)
        moved += rule.importance(squares, gain, share) * (model[::2] - base[::2])
        total += gain
    merged = base.copy()
    merged[::2] = base[::2] + moved / rule.norm(squares, total)
    merged[1::2] = base[1::2] + total
    merged[0::4] = np.maximum(merged[0::4], least)
    merged[2::4] = np.maximum(merged[2::4], least)
    return merged.astype(np.float32)


def _merge_counted(plan: Plan, origins: NDArray[np.float64], fading: Fading) -> State:
    one = everything(plan, "counted.n")
    n = sum_up(plan, "counted.n", one)
    matched = everything(plan, "counted.examples")
    weight = sum_up(plan, "counted.examples", matched, fading)[0]
    has_decay = plan.config["count_decay"] > 0.0
    origin = float(n[0]) if has_decay else float(origins[0])
    state = {
        "counted.n": n.round().astype(np.uint64),
        "counted.examples": np.array([weight, origin]),
    }
    if any(_LABELS in source.model.state for source in plan.sources):
        state[_LABELS] = _merge_labels(plan)
    return state


def _merge_labels(plan: Plan) -> NDArray[np.uint64]:
    """Return how many labels the rows have together; a model that does not say had one for each."""

    def labels_of(source: Source) -> int:
        return int(source[_LABELS if _LABELS in source.model.state else "counted.n"][0])

    base = labels_of(plan.base)
    return np.array([base + sum(labels_of(model) - base for model in plan.models)], dtype=np.uint64)


def _merge_centring(plan: Plan) -> State:
    """Merge means and variances by way of the sums that they stand for."""
    matched = everything(plan, "centring.moments")
    total = np.zeros((matched.size, 2))
    weight = 0.0
    for i, source in enumerate(plan.sources):
        own_weight = float(source["centring.sums"][1])
        mean, variance = source["centring.moments"][:, 0], source["centring.moments"][:, 1]
        factor = own_weight if i else own_weight * (1 - len(plan.models))
        total += factor * np.stack([mean, variance + mean * mean], axis=1)
        weight += factor
    if weight > 0.0:
        total /= weight
    total[:, 1] = np.maximum(total[:, 1] - total[:, 0] ** 2, 0.0)
    return {
        "centring.moments": total,
        "centring.sums": sum_up(plan, "centring.sums", everything(plan, "centring.sums")),
    }


def _predictor_rows(plan: Plan) -> Matched:
    """Return the classes where dense predictors have rows: elsewhere there are none."""
    if all(len(source["predictors.bias"]) == 0 for source in plan.sources):
        return Matched(0, [np.empty(0, dtype=np.int64)] * len(plan.sources))
    return plan.classes
