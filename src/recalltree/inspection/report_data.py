"""Data of the report's page: of bounded size, whatever the size of the model."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.inspection.class_map import map_data
from recalltree.inspection.classes import class_counts
from recalltree.inspection.evaluation import Evaluation
from recalltree.inspection.list_evaluation import ListEvaluation
from recalltree.inspection.list_results import list_results
from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.inspection.page_values import bars, rounded, shown_text
from recalltree.inspection.statistics import summary
from recalltree.inspection.traffic import Traffic, traffic
from recalltree.inspection.votes import votes_data
from recalltree.moment import at_one_moment

MAX_NODES = 20_000
MAX_CLASSES = 100_000
#: Candidates that are listed for a node, and how many of all nodes together.
NODE_CANDIDATES = 20
ALL_CANDIDATES = 120_000
#: Nodes that are listed for a class, and how many of all classes together.
CLASS_HOLDERS = 40
ALL_HOLDERS = 400_000
MAX_CONFUSED = 500
FREQUENCY_POINTS = 160


@at_one_moment
def report_data(
    clf: Any,
    evaluation: Evaluation | ListEvaluation | None,
    feature_names: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return what the page shows, as plain lists, strings and numbers.

    Parameters
    ----------
    clf : fitted estimator
    evaluation : Evaluation, ListEvaluation or None
    feature_names : sequence of str, default=None

    Returns
    -------
    dict
    """
    core = clf._check_fitted().core
    nodes = node_table(clf)
    found = summary(clf, nodes)
    counts = class_counts(clf)
    results = None if evaluation is None else _results(evaluation, len(clf.classes_))
    rows = None if results is None else results["rows"]
    shown_classes = _most_frequent(counts, rows, len(clf.classes_))
    place_of = np.full(len(clf.classes_), -1, dtype=np.int64)
    place_of[shown_classes] = np.arange(len(shown_classes))
    curve = clf.progressive_curve_
    data: dict[str, Any] = {
        "subtitle": _subtitle(found),
        "summary": found,
        "curve": {name: rounded(curve[name]) for name in curve.dtype.names},
        "classes": {
            "n_classes": len(clf.classes_),
            "labels": [shown_text(label) for label in clf.classes_[shown_classes].tolist()],
            "counts": None if counts is None else rounded(counts[shown_classes]),
        },
        "frequency": _frequency(counts, rows),
        "tree": None,
        "cells": None,
        "evaluation": None,
        "confused": [],
    }
    if evaluation is not None and results is not None:
        data |= _errors(evaluation, place_of)
        data["classes"] |= {name: rounded(part[shown_classes]) for name, part in results.items()}
    if nodes is not None:
        max_depth = int(getattr(core, "max_depth_now", nodes.depth.max()))
        flow = traffic(nodes, max_depth)
        shown = _largest_nodes(nodes)
        data["tree"] = _tree(nodes, flow, shown, place_of, max_depth)
        data["classes"] |= _holders(nodes, shown, shown_classes)
        data["candidate_sizes"] = _candidate_sizes(nodes, flow)
    if getattr(core, "has_cells", False):
        data["cells"] = map_data(core, shown_classes)
    data["votes"] = votes_data(clf, core, place_of, feature_names)
    return data


def pack(data: dict[str, Any]) -> str:
    """Return data as text that a page can hold: JSON, compressed, in base 64."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    packed = gzip.compress(text.encode("utf-8", errors="replace"), compresslevel=6, mtime=0)
    return base64.b64encode(packed).decode("ascii")


def sha256(text: str) -> str:
    """Return the hash of a script as a content security policy names it."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")


def _subtitle(found: dict[str, Any]) -> str:
    return (
        f"{found['algorithm']}, {found['n_classes_seen']:,} classes, "
        f"{found['n_examples']:,} examples learned, {found['n_features']:,} features"
    )


def _most_frequent(
    counts: NDArray[np.float64] | None, rows: NDArray[np.float64] | None, n_classes: int
) -> NDArray[np.int64]:
    frequency = counts if counts is not None else rows
    if frequency is None:
        return np.arange(min(n_classes, MAX_CLASSES))
    return np.argsort(-frequency, kind="stable")[:MAX_CLASSES]


def _frequency(
    counts: NDArray[np.float64] | None, rows: NDArray[np.float64] | None
) -> dict[str, Any] | None:
    frequency = counts if counts is not None else rows
    if frequency is None or not (frequency > 0).any():
        return None
    ranked = np.sort(frequency[frequency > 0])[::-1]
    ranks = np.unique(np.geomspace(1, len(ranked), FREQUENCY_POINTS).round().astype(np.int64))
    return {
        "ranks": ranks.tolist(),
        "counts": rounded(ranked[ranks - 1]),
        "from": "rows" if counts is None else "examples",
    }


def _results(
    evaluation: Evaluation | ListEvaluation, n_classes: int
) -> dict[str, NDArray[np.float64]]:
    """Return rows and right answers by class; classes learned since the evaluation have none."""
    rows, right = evaluation.class_results()
    later = (0, n_classes - len(rows))
    return {"rows": np.pad(rows, later), "right": np.pad(right, later)}


def _largest_nodes(nodes: NodeTable) -> NDArray[np.int64]:
    """Return the nodes to draw, the root first; with a node, its parent."""
    # A child has at most its parent's examples; where it has as many, depth puts it after.
    order = np.lexsort((nodes.depth, -nodes.total))
    order = np.concatenate([[nodes.root], order[order != nodes.root]])
    shown = np.zeros(len(nodes), dtype=bool)
    kept = []
    for node in order:
        up = nodes.parent[node]
        if up < 0 and node != nodes.root:
            continue  # a node that a LOMTree has put aside
        if up >= 0 and not shown[up]:
            continue
        shown[node] = True
        kept.append(node)
        if len(kept) == MAX_NODES:
            break
    return np.array(kept, dtype=np.int64)


def _tree(
    nodes: NodeTable,
    flow: Traffic,
    shown: NDArray[np.int64],
    place_of: NDArray[np.int64],
    max_depth: int,
) -> dict[str, Any]:
    index = _index(nodes, shown)
    limit = min(NODE_CANDIDATES, max(3, ALL_CANDIDATES // len(shown)))
    candidates, counts = [], []
    for node in shown.tolist():
        class_ids, weights = nodes.candidates(node)
        places = place_of[class_ids[:limit]]
        known = places >= 0
        candidates.append(places[known].tolist())
        counts.append(rounded(weights[:limit][known]))
    bounded = nodes.recall_bound is not None
    colours = [("recall bound" if bounded else "share of right answers", nodes.quality)]
    if bounded:
        colours.append(("recall", nodes.recall))
    # Shares that stop at a node are small and uneven: the scale is that of their logarithm.
    smallest = 1e-6
    stops = 1 + np.log10(np.maximum(flow.stopping, smallest)) / -np.log10(smallest)
    colours.append(("share of routes that end here (logarithmic)", stops))
    return {
        "bounded": bounded,
        "max_depth": max_depth,
        "note": _note(len(shown), len(nodes), bounded),
        "id": shown.tolist(),
        "parent": np.where(nodes.parent[shown] >= 0, index[nodes.parent[shown]], -1).tolist(),
        "left": np.where(nodes.left[shown] >= 0, index[nodes.left[shown]], -1).tolist(),
        "right": np.where(nodes.right[shown] >= 0, index[nodes.right[shown]], -1).tolist(),
        "depth": nodes.depth[shown].tolist(),
        "total": rounded(nodes.total[shown]),
        "n_labels": nodes.n_labels[shown].tolist(),
        "recall": rounded(nodes.recall[shown]),
        "quality": rounded(nodes.quality[shown]),
        "arriving": rounded(flow.arriving[shown]),
        "stopping": rounded(flow.stopping[shown]),
        "hidden_below": _hidden_below(nodes, shown).tolist(),
        "n_candidates": np.diff(nodes.indptr)[shown].tolist(),
        "candidates": candidates,
        "counts": counts,
        "colours": [{"name": name, "values": rounded(values[shown])} for name, values in colours],
    }


def _note(n_shown: int, n_nodes: int, bounded: bool) -> str:
    what = "recall bound" if bounded else "share of examples with the label that is answered"
    width = "number of examples" if bounded else "number of examples that leaves have counted"
    text = f"The root is on top. Width is the {width}, colour the {what}."
    if bounded:
        text += " Where nothing hangs below a node, routes end."
    if n_shown < n_nodes:
        text += f" Drawn are the {n_shown:,} nodes with the most examples, of {n_nodes:,}."
    return text


def _index(nodes: NodeTable, shown: NDArray[np.int64]) -> NDArray[np.int64]:
    index = np.full(len(nodes), -1, dtype=np.int64)
    index[shown] = np.arange(len(shown))
    return index


def _hidden_below(nodes: NodeTable, shown: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each node drawn how many of its descendants are not."""
    hidden = np.ones(len(nodes), dtype=np.int64)
    hidden[shown] = 0
    for level in nodes.by_depth()[:0:-1]:
        np.add.at(hidden, nodes.parent[level], hidden[level])
    return hidden[shown]


def _holders(
    nodes: NodeTable, shown: NDArray[np.int64], shown_classes: NDArray[np.int64]
) -> dict[str, Any]:
    """Return the nodes that hold each class, those with the most examples of it."""
    owner = np.repeat(np.arange(len(nodes)), np.diff(nodes.indptr))
    order = np.lexsort((nodes.depth[owner], -nodes.counts, nodes.class_ids))
    by_class = nodes.class_ids[order]
    starts = np.searchsorted(by_class, shown_classes, side="left")
    stops = np.searchsorted(by_class, shown_classes, side="right")
    limit = min(CLASS_HOLDERS, max(2, ALL_HOLDERS // max(1, len(shown_classes))))
    sizes = np.minimum(stops - starts, limit)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], sizes)
    taken = order[np.repeat(starts, sizes) + within]
    held_by = owner[taken]
    # A node that is not drawn is shown by the nearest one above it that is.
    index = _index(nodes, shown)
    drawn = held_by.copy()
    while (missing := index[drawn] < 0).any():
        drawn[missing] = nodes.parent[drawn[missing]]
    return {
        "holder_offsets": offsets.tolist(),
        "holders": index[drawn].tolist(),
        "holder_ids": held_by.tolist(),
        "holder_counts": rounded(nodes.counts[taken]),
        "n_holders": (stops - starts).tolist(),
    }


def _candidate_sizes(nodes: NodeTable, flow: Traffic) -> list[dict[str, Any]]:
    """Return how many candidates examples are compared with, and nodes have."""
    sizes = np.diff(nodes.indptr)
    holding = sizes > 0
    bar, ranges = bars(sizes[holding])
    share = np.bincount(bar, flow.stopping[holding], minlength=len(ranges))
    of_nodes = np.bincount(bar, minlength=len(ranges)) / holding.sum()
    return [
        {**span, "share": float(f"{share[i]:.5g}"), "nodes": float(f"{of_nodes[i]:.5g}")}
        for i, span in enumerate(ranges)
    ]


def _errors(evaluation: Evaluation | ListEvaluation, place_of: NDArray[np.int64]) -> dict[str, Any]:
    if evaluation.n_rows == 0:
        return {"evaluation": None, "confused": []}
    ranked = sorted(evaluation.confusions.items(), key=lambda item: (-item[1], item[0]))
    confused = [
        {"label": int(place_of[label]), "answer": int(place_of[answer]), "n_rows": count}
        for (label, answer), count in ranked[:MAX_CONFUSED]
        if place_of[label] >= 0 and place_of[answer] >= 0
    ]
    found = {name: _finite(value) for name, value in evaluation.as_dict().items()}
    stops = [rounded(row) for row in evaluation.stops]
    data = {"evaluation": {**found, "stops": stops}, "confused": confused}
    if isinstance(evaluation, ListEvaluation):
        data["lists"] = list_results(evaluation, place_of)
    return data


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
