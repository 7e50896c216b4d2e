"""Recall Tree: predictors of classes, and one tree with label histograms and routers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.common import merge_common
from recalltree.merging.labels import NOWHERE, Matched
from recalltree.merging.plan import Plan, State
from recalltree.merging.trees import add_up_histograms, histogram_arrays, match_trees
from recalltree.merging.weights import merge_weights

_MOST_CANDIDATES = 0xFFFE


def merge_recall_tree(plan: Plan, features: Matched | None) -> State:
    """Return the state of a merged model."""
    state = merge_common(plan, features)
    trees = match_trees(plan, 1, are_routers_alike=False)
    origins = np.array([source["tree.decay_origin"][0] for source in plan.sources])
    fading = plan.fading("n_examples", origins, late=1.0)
    node, label, count, arrival = add_up_histograms(plan, trees.nodes, fading)
    n_nodes = trees.nodes.size
    n_candidates = _candidates(plan, int(state["classes.seen"].sum()))
    begin = np.concatenate([[0], np.cumsum(np.bincount(node, minlength=n_nodes))])[:-1]
    is_candidate = np.arange(len(node)) - begin[node] < n_candidates
    totals = np.bincount(node, count, n_nodes)
    mass = np.bincount(node[is_candidate], count[is_candidate], n_nodes)
    has_decay = bool(plan.config.get("count_decay"))
    origin = float(state["n_examples"][0]) - 1.0 if has_decay else float(origins[0])
    return {
        **state,
        **trees.links,
        **histogram_arrays(n_nodes, node, label, count, arrival, totals, mass),
        "tree.max_candidates": np.array([n_candidates], dtype=np.uint32),
        "tree.decay_origin": np.array([origin]),
        **merge_weights(plan, "predictors", plan.classes, features=features),
        **merge_weights(plan, "routers", trees.routers, features=features),
        **merge_weights(plan, "path", _path_rows(plan), features=trees.nodes),
        **_merge_interactions(plan, trees.nodes, features),
    }


def _candidates(plan: Plan, n_seen: int) -> int:
    """Return how many candidates a node has with this many classes."""
    given = int(plan.config["max_candidates"])
    if n_seen == 0:
        return 0
    return min(given, _MOST_CANDIDATES) if given else max(1, 4 * (n_seen - 1).bit_length())


def _path_rows(plan: Plan) -> Matched:
    """Return the classes where path features have rows: without these there are none."""
    if all(len(source["path.bias"]) == 0 for source in plan.sources):
        return Matched(0, [np.empty(0, dtype=np.int64)] * len(plan.sources))
    rows = [
        own[: len(source["path.bias"])]
        for source, own in zip(plan.sources, plan.classes.numbers, strict=True)
    ]
    return Matched(plan.classes.size, rows)


def _merge_interactions(plan: Plan, nodes: Matched, features: Matched | None) -> State:
    keys: list[NDArray[np.int64]] = []
    for i, source in enumerate(plan.sources):
        pairs = source["interactions.node_and_class"]
        node = nodes.numbers[i][(pairs >> np.uint64(32)).astype(np.int64)]
        label = plan.classes.numbers[i][(pairs & np.uint64(0xFFFFFFFF)).astype(np.int64)]
        keys.append(np.where(node >= 0, node << 32 | label, NOWHERE))
    known = np.unique(np.concatenate(keys))
    known = known[known >= 0]
    rows = [np.where(key >= 0, np.searchsorted(known, key), NOWHERE) for key in keys]
    return {
        "interactions.node_and_class": known.astype(np.uint64),
        **merge_weights(plan, "interactions", Matched(len(known), rows), features=features),
    }
