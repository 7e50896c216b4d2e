"""Explain the answer for one row: the route, the candidates, the features behind both."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from recalltree.inspection.class_map import NO_CELL
from recalltree.inspection.explanation import (
    ROUTER_FEATURES,
    CandidateShare,
    CellRead,
    CellSearch,
    Explanation,
    FeatureShare,
    NodeShare,
    RouteStep,
    VectorShare,
)
from recalltree.moment import at_one_moment
from recalltree.validation import Matrix


@at_one_moment
def explain(
    clf: Any,
    x: Any,
    k: int = 5,
    n_features: int = 10,
    feature_names: Sequence[str] | Mapping[int, str] | None = None,
) -> Explanation:
    """Explain what a fitted estimator answers for one row, and why.

    The method ``explain`` of the estimators does the same.

    Parameters
    ----------
    clf : estimator
    x : array-like of shape (n_features_in_,) or (1, n_features_in_), dense or sparse
    k : int, default=5
        How many of the best candidates to show.
    n_features : int, default=10
        How many features to show for each of them: those that move its score most.
    feature_names : sequence of str, or dict from int to str, default=None
        Names of the features, of all of them or of some by their numbers: those of a row of text
        are found by `word_names`, or in a batch of ``open_rows(keep_names=True)``. None is
        ``feature_names_in_``, or numbers.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import explain
    >>> X, y = [[0.0, 1.0], [1.0, 0.0]] * 20, ["up", "right"] * 20
    >>> clf = RecallTreeClassifier(shuffle=False).fit(X, y)
    >>> explanation = explain(clf, [0.0, 2.0])
    >>> explanation.label, [step.depth for step in explanation.route]
    ('up', [0])
    >>> explanation.candidates[0].features[0].name
    'feature 1'
    """
    for name, value, least in (("k", k, 1), ("n_features", n_features, 0)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
            raise ValueError(f"{name}={value!r}: it must be an integer, {least} or more.")
    given = _as_one_row(x)
    fitted, row, _ = clf._check_new(given)
    core, rows = fitted.core, row.rows
    names = _Names(clf, row, feature_names)
    route, stopped = _route(clf, core, rows, names)
    ids, scores, n_candidates = _best_candidates(core, rows, int(k))
    probabilities = clf.predict_proba(given, sparse=True)
    counts = dict(zip(*core.histogram(route[-1].node), strict=True)) if route else None
    classes = clf.classes_
    parts = _Parts(core, rows, ids)
    cells = _Cells(core, rows, ids) if getattr(core, "has_cells", False) else None
    candidates = tuple(
        CandidateShare(
            label=classes[class_id],
            score=float(score),
            probability=float(probabilities[0, class_id]),
            n_examples=None if counts is None else float(counts.get(class_id, 0.0)),
            **parts.of(i, int(n_features), names),
            vector=None if cells is None else cells.vector(i),
        )
        for i, (class_id, score) in enumerate(zip(ids, scores, strict=True))
    )
    return Explanation(
        algorithm=clf._algorithm_name,
        label=candidates[0].label,
        route=route,
        stopped=stopped,
        candidates=candidates,
        n_candidates=n_candidates,
        cells=None if cells is None else cells.search(),
    )


class _Names:
    """Names and values of a row's features."""

    def __init__(
        self, clf: Any, row: Matrix, names: Sequence[str] | Mapping[int, str] | None
    ) -> None:
        if names is None:
            names = getattr(clf, "feature_names_in_", None)
        elif not isinstance(names, Mapping) and len(names) != clf.n_features_in_:
            raise ValueError(
                f"feature_names has {len(names)} names, but there are {clf.n_features_in_} "
                "features; give one name for each, or a dict of some."
            )
        self._names = (
            names if isinstance(names, Mapping) else dict(enumerate(() if names is None else names))
        )
        csr = sparse.csr_matrix(row.values)
        csr.sum_duplicates()
        self._values = dict(zip(csr.indices.tolist(), csr.data.tolist(), strict=True))

    def share(self, feature: int, contribution: float, vote: float | None) -> FeatureShare:
        name = str(self._names.get(feature, f"feature {feature}"))
        value = float(self._values.get(feature, 0.0))
        return FeatureShare(name, value, float(contribution), None if vote is None else float(vote))

    def largest(
        self,
        features: NDArray[Any],
        contributions: NDArray[Any],
        n: int,
        votes: NDArray[Any] | None = None,
    ) -> tuple[FeatureShare, ...]:
        """Return the `n` features that contribute most, either way; none that contributes 0."""
        order = np.argsort(-np.abs(contributions), kind="stable")[:n]
        return tuple(
            self.share(int(features[i]), contributions[i], None if votes is None else votes[i])
            for i in order
            if contributions[i] != 0
        )


class _Parts:
    """The parts of the scores of candidates, where there are predictors."""

    def __init__(self, core: Any, rows: Any, ids: NDArray[Any]) -> None:
        self._found = None
        if hasattr(core, "explain_classes"):
            self._found = core.explain_classes(rows, ids.astype(np.uint32))

    def of(self, i: int, n_features: int, names: _Names) -> dict[str, Any]:
        if self._found is None:
            return {"features": (), "other_features": None, "bias": None, "path": None}
        found = self._found
        nodes: tuple[NodeShare, ...] = ()
        if "contributions" in found:
            contributions, votes = found["contributions"][i], None
            path = float(found["path"][i])
        else:
            contributions = found["votes"][i] + found["predictors"][i]
            votes = found["votes"][i] if found["votes"].any() else None
            nodes = tuple(
                NodeShare(int(node), float(vote))
                for node, vote in zip(found["nodes"], found["node_votes"][i], strict=True)
            )
            path = float(found["node_votes"][i].sum(dtype=np.float64))
        shown = names.largest(found["features"], contributions, n_features, votes)
        rest = contributions.sum(dtype=np.float64) - sum(f.contribution for f in shown)
        return {
            "features": shown,
            "other_features": float(rest),
            "bias": float(found["bias"][i]),
            "path": path,
            "nodes": nodes,
        }


class _Cells:
    """Search of the cells for a row, and the parts of scores that class vectors add."""

    def __init__(self, core: Any, rows: Any, ids: NDArray[Any]) -> None:
        self._ids = ids
        self._found = core.cells_for(rows, ids.astype(np.uint32))
        self._cell_of = core.class_cells()
        self._core = core

    def search(self) -> CellSearch:
        found = self._found
        standing = self._cell_of[self._cell_of != NO_CELL]
        names, sizes = np.unique(standing, return_counts=True)
        n_classes = dict(zip(names.tolist(), sizes.tolist(), strict=True))
        n_found = Counter(self._cell_of[found["found"]].tolist())
        read = tuple(
            CellRead(cell, n_classes.get(cell, 0), n_found[cell])
            for cell in found["cells"].tolist()
        )
        return CellSearch(read, self._core.n_cells, found["n_compared"], len(found["found"]))

    def vector(self, i: int) -> VectorShare:
        found, cell = self._found, int(self._found["cell_of"][i])
        return VectorShare(
            mean=float(found["mean"][i]) if self._core.has_class_means else None,
            weights=float(found["weights"][i]),
            cell=None if cell == NO_CELL else cell,
            found=bool((found["found"] == self._ids[i]).any()),
        )


def _as_one_row(x: Any) -> Any:
    if sparse.issparse(x):
        n_rows = x.shape[0] if x.ndim == 2 else 1
        row = x if x.ndim == 2 else x.reshape(1, -1)
    elif hasattr(x, "columns"):  # a data frame keeps its names
        n_rows, row = len(x), x
    else:
        row = np.asarray(x)
        row = row[np.newaxis] if row.ndim == 1 else row
        n_rows = row.shape[0]
    if n_rows != 1:
        raise ValueError(f"x has {n_rows} rows; one row is explained at a time.")
    return row


def _best_candidates(core: Any, rows: Any, k: int) -> tuple[NDArray[Any], NDArray[Any], int]:
    ids, scores, _, all_scores = core.predict_topk(rows, min(k, core.n_classes), 1)
    found = ids[0] >= 0
    return ids[0][found], scores[0][found], len(all_scores)


def _route(
    clf: Any, core: Any, rows: Any, names: _Names
) -> tuple[tuple[RouteStep, ...], str | None]:
    if not hasattr(core, "explain_routers"):
        return (), None
    nodes = core.route(rows)[1]
    routers = core.explain_routers(rows, nodes.astype(np.uint32))
    margins = routers["bias"] + routers["contributions"].sum(axis=1)
    tree = clf.tree_
    bounds = getattr(tree, "recall_bound", None)
    stopped, last_is_asked = _why_stopped(core, tree, int(nodes[-1]), float(margins[-1]))
    steps = []
    for i, node in enumerate(nodes.tolist()):
        # Where the row goes is what the core did, margins within a rounding of 0 included.
        asked = i + 1 < len(nodes) or last_is_asked
        goes_right = nodes[i + 1] == tree.right[node] if i + 1 < len(nodes) else margins[i] > 0
        steps.append(
            RouteStep(
                node=node,
                depth=i,
                **_seen(core, tree, node),
                recall_bound=None if bounds is None else float(bounds[node]),
                margin=float(margins[i]) if asked else None,
                goes=("right" if goes_right else "left") if asked else None,
                features=names.largest(
                    routers["features"], routers["contributions"][i], ROUTER_FEATURES
                )
                if asked
                else (),
            )
        )
    return tuple(steps), stopped


def _seen(core: Any, tree: Any, node: int) -> dict[str, Any]:
    """Return the weight of the examples and the number of labels that a node has seen."""
    if hasattr(tree, "total"):
        return {"n_examples": float(tree.total[node]), "n_labels": int(tree.n_labels[node])}
    # LOMTree: a leaf has counts, a router the margins of what came through.
    labels, *_, counts = core.histogram(node) if tree.is_leaf[node] else core.margins(node)
    return {"n_examples": float(counts.sum()), "n_labels": len(labels)}


def _why_stopped(core: Any, tree: Any, node: int, margin: float) -> tuple[str, bool]:
    """Return why a row ends at a node, and whether the router of that node was asked."""
    if not hasattr(core, "max_depth_now"):
        return "it is a leaf", False
    if tree.depth[node] >= core.max_depth_now:
        return f"it is at the maximal depth, {core.max_depth_now}", False
    side = "right" if margin > 0 else "left"
    child = int(tree.right[node] if margin > 0 else tree.left[node])
    if child < 0:
        return f"it has no {side} child yet", True
    return (
        f"its {side} child, node {child}, has the lower recall bound, "
        f"{tree.recall_bound[child]:.4f}"
    ), True
