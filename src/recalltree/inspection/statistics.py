"""Figures of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.inspection.class_map import cell_sizes
from recalltree.inspection.classes import class_counts
from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.inspection.traffic import Traffic, traffic
from recalltree.moment import at_one_moment


@at_one_moment
def summary(clf: Any, nodes: NodeTable | None = None) -> dict[str, Any]:
    """Return what is inside a fitted model: plain numbers, ready for JSON.

    Parameters
    ----------
    clf : fitted estimator
    nodes : NodeTable, default=None
        Its nodes, if they are at hand.

    Returns
    -------
    dict
        ``algorithm``, ``parameters``, ``n_examples``, ``n_classes``, ``n_features``, ``storage``
        ("dense" or "sparse" rows of weights), ``progressive_error``, ``memory_bytes``,
        ``memory_by_part``, ``work``; ``class_frequency`` if the model counts classes; ``tree`` if
        it has one, ``cells`` if it has some.

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import summary
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> found = summary(RecallTreeClassifier(max_candidates=3, random_state=0).fit(X, y))
    >>> found["algorithm"], found["n_examples"], found["n_classes"]
    ('Recall Tree', 1797, 10)
    >>> found["tree"]["n_nodes"], found["class_frequency"]["max"]
    (15, 183.0)
    """
    core = clf._check_fitted().core
    nodes = nodes or node_table(clf)
    found: dict[str, Any] = {
        "algorithm": clf._algorithm_name,
        "estimator": type(clf).__name__,
        "parameters": {name: _plain(value) for name, value in clf.get_params().items()},
        "n_examples": int(core.n_examples),
        "n_classes": len(clf.classes_),
        "n_classes_seen": int(core.n_classes_seen),
        "n_features": int(clf.n_features_in_),
        "storage": "sparse" if core.config["sparse"] else "dense",
        "progressive_error": _number(clf.progressive_error_),
        "memory_bytes": int(clf.memory_bytes_),
        "memory_by_part": {name: int(size) for name, size in clf.memory_by_part_.items()},
        "work": dict(clf.work_),
    }
    counts = class_counts(clf)
    if counts is not None:
        found["class_frequency"] = class_frequency(counts)
    if nodes is not None:
        found["tree"] = tree_summary(core, nodes)
    if getattr(core, "has_cells", False):
        found["cells"] = cells_summary(core)
    return found


def cells_summary(core: Any) -> dict[str, Any]:
    """Return how many cells there are and how many classes stand in those that have any.

    Parameters
    ----------
    core : OneAgainstSome or MappedOneAgainstSome

    Returns
    -------
    dict
    """
    sizes = cell_sizes(core)
    return {
        "n_cells": int(core.n_cells),
        "n_levels": int(core.n_cell_levels),
        "cells_read": int(core.config["cells_read"]),
        "n_classes": int(sizes.sum()),
        "largest": int(sizes.max(initial=0)),
        "median": float(np.median(sizes)) if len(sizes) else 0.0,
        "smallest": int(sizes.min()) if len(sizes) else 0,
    }


def class_frequency(counts: NDArray[np.float64]) -> dict[str, float]:
    """Return how the examples are spread over the classes that have any.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.inspection.statistics import class_frequency
    >>> class_frequency(np.array([7.0, 0.0, 1.0, 2.0]))
    {'max': 7.0, 'median': 2.0, 'min': 1.0, 'share_of_top_tenth': 0.7}
    """
    ranked = np.sort(counts[counts > 0])[::-1]
    tenth = -(-len(ranked) // 10)
    return {
        "max": float(ranked[0]),
        "median": float(np.median(ranked)),
        "min": float(ranked[-1]),
        "share_of_top_tenth": float(ranked[:tenth].sum() / ranked.sum()),
    }


def tree_summary(core: Any, nodes: NodeTable) -> dict[str, Any]:
    """Return the shape of a tree and, depth by depth, its recall and where examples stop.

    Parameters
    ----------
    core : RecallTree or LOMTree
    nodes : NodeTable

    Returns
    -------
    dict
    """
    max_depth = int(getattr(core, "max_depth_now", nodes.depth.max()))
    flow = traffic(nodes, max_depth)
    sizes = np.diff(nodes.indptr)
    found: dict[str, Any] = {
        "n_nodes": len(nodes),
        "n_leaves": int(nodes.is_leaf.sum()),
        "depth": int(nodes.depth.max()),
        "recall": float(flow.stopping @ nodes.recall),
        "mean_candidates": float(flow.stopping @ sizes),
        "mean_depth": float(flow.stopping @ nodes.depth),
        "by_depth": _by_depth(nodes, flow),
    }
    if nodes.recall_bound is not None:
        found["max_candidates"] = int(core.max_candidates_now)
        found["max_depth"] = max_depth
        found["recall_bound"] = float(flow.stopping @ nodes.recall_bound)
    return found


def _by_depth(nodes: NodeTable, flow: Traffic) -> list[dict[str, Any]]:
    rows = []
    for depth, level in enumerate(nodes.by_depth()):
        arriving, total = flow.arriving[level], nodes.total[level]
        # Nodes that no example would reach still hold what they counted: weigh them by that.
        weights = arriving if arriving.sum() > 0 else total
        row = {
            "depth": depth,
            "n_nodes": len(level),
            "n_examples": float(total.sum()),
            "arriving": float(arriving.sum()),
            "stopping": float(flow.stopping[level].sum()),
            "recall": _mean(nodes.recall[level], weights),
        }
        if nodes.recall_bound is not None:
            row["recall_bound"] = _mean(nodes.recall_bound[level], weights)
        rows.append(row)
    return rows


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float | None:
    return float(np.average(values, weights=weights)) if weights.sum() > 0 else None


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return value.item() if isinstance(value, np.generic) else str(value)
