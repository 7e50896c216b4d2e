"""Trees that vote in one-against-some: nodes, routers, and where examples of classes ended."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree._core import rank_lists
from recalltree.merging.lists import Lists, merge_lists
from recalltree.merging.plan import Fading, Plan, State, sum_up
from recalltree.merging.trees import histogram_arrays, match_trees
from recalltree.merging.weights import merge_weights, names_of

#: Labels in the histogram of a leaf, at most, as in the core.
_MOST_LABELS = 128
_CANDIDATES_OF_PATH = 100


def merge_forest(plan: Plan, fading: Fading) -> State:
    """Return the tensors of trees that vote."""
    n_roots = int((plan.base["tree.depth"] == 0).sum())
    trees = match_trees(plan, n_roots, are_routers_alike=True)
    nodes = trees.nodes
    state = {
        **trees.links,
        **merge_weights(plan, "routers", trees.routers),
        "tree.passed": sum_up(plan, "tree.passed", nodes, fading),
    }
    if n_roots == 0:
        names = ("class_nodes.offsets", "class_nodes.nodes", "class_nodes.counts")
        empty = np.empty(0, dtype=np.int64)
        state |= {name: plan.base[name].copy() for name in names}
        return state | histogram_arrays(
            0, empty, empty, np.empty(0), empty, np.empty(0), np.empty(0)
        )
    lists = [_sorted_nodes(plan, i, names_of(nodes, i)) for i in range(len(plan.sources))]
    merged = merge_lists(plan, plan.classes, lists, fading=fading)
    assert merged.counts is not None
    of_nodes = np.arange(nodes.size, dtype=np.uint32)
    ranked, labels, roots, _ = rank_lists(
        merged.offsets, merged.ids, merged.counts, None, of_nodes, _labels_of_node(plan, n_roots)
    )
    sizes = np.diff(ranked).astype(np.int64)
    node = np.repeat(np.arange(nodes.size), sizes)
    count = roots.astype(np.float64) ** 2
    rank = np.arange(len(labels)) - np.repeat(ranked[:-1].astype(np.int64), sizes)
    totals = sum_up(plan, "histograms.sums", nodes, fading)[:, 0]
    mass = np.bincount(node, count, nodes.size)
    return {
        **state,
        "class_nodes.offsets": merged.offsets,
        "class_nodes.nodes": merged.ids,
        "class_nodes.counts": merged.counts,
        **histogram_arrays(nodes.size, node, labels.astype(np.int64), count, rank, totals, mass),
    }


def _sorted_nodes(plan: Plan, i: int, names: NDArray[np.uint32] | None) -> Lists:
    """Return the nodes of each class in increasing order, with their counts."""
    source = plan.sources[i]
    offsets, nodes = source["class_nodes.offsets"], source["class_nodes.nodes"]
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets).astype(np.int64))
    order = np.lexsort((nodes, row))
    return Lists(offsets, nodes[order], names, source["class_nodes.counts"][order])


def _labels_of_node(plan: Plan, n_trees: int) -> int:
    config = plan.config
    if config["keys"] == "path":
        candidates = int(config["max_candidates"]) or _CANDIDATES_OF_PATH
        return min(int(config["max_labels"]), candidates, int(config["max_entries"]))
    entries = max(1, int(config["max_entries"]) // (2 * n_trees))
    return min(int(config["max_labels"]), _MOST_LABELS, entries)
