"""Plots of a model with matplotlib (``pip install "recalltree[plots]"``).

Every function draws into `ax`, or into a new figure, and returns the Axes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from recalltree.inspection.classes import class_counts
from recalltree.inspection.nodes import NodeTable, node_table
from recalltree.inspection.statistics import tree_summary
from recalltree.moment import at_one_moment

__all__ = ["plot_class_frequency", "plot_depths", "plot_progressive_error", "plot_tree"]


@at_one_moment
def plot_tree(clf: Any, ax: Any = None, max_depth: int | None = None, n_labels: int = 1) -> Any:
    """Draw the tree: a row per depth, width by examples, colour by the bound of recall.

    Parameters
    ----------
    clf : fitted RecallTreeClassifier or LOMTreeClassifier
        Of a LOMTree, colour is the share of examples whose label is answered.
    ax : matplotlib Axes, default=None
        Where to draw; None makes a new figure.
    max_depth : int, default=None
        Leave out what is deeper; None draws everything.
    n_labels : int, default=1
        How many of its most frequent labels to write into a node that has the room.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.plots import plot_tree
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(max_candidates=3, random_state=0).fit(X, y)
    >>> plot_tree(clf).get_ylabel()
    'depth'
    """
    plt = _pyplot()
    from matplotlib.collections import PolyCollection

    nodes = _nodes(clf)
    ax = _axes(ax, (12, 5))
    start, stop = _spans(nodes)
    shown = np.flatnonzero(stop > start)
    if max_depth is not None:
        shown = shown[nodes.depth[shown] <= max_depth]
    depth = nodes.depth[shown]
    left, right = start[shown], stop[shown]
    corners = [(left, depth), (right, depth), (right, depth + 1), (left, depth + 1)]
    rectangles = np.stack([np.stack(corner, axis=1) for corner in corners], axis=1)
    boxes = PolyCollection(
        list(rectangles), array=nodes.quality[shown], cmap="viridis", edgecolors="white"
    )
    # A line between nodes that are wide enough for one.
    boxes.set_linewidth(np.where(right - left > 0.004, 0.5, 0.0).tolist())
    boxes.set_clim(0, 1)
    ax.add_collection(boxes)
    ax.set(xlim=(0, 1), ylim=(depth.max() + 1, 0), ylabel="depth", xlabel="share of the examples")
    ax.set_yticks(np.arange(depth.max() + 1) + 0.5, np.arange(depth.max() + 1))
    what = "share of right answers" if nodes.recall_bound is None else "recall bound"
    plt.colorbar(boxes, ax=ax, label=what)
    _write_labels(ax, nodes, shown, start, stop, clf.classes_, n_labels)
    return ax


@at_one_moment
def plot_progressive_error(clf: Any, ax: Any = None) -> Any:
    """Draw how the progressive error went while learning, overall and recently.

    Parameters
    ----------
    clf : fitted estimator
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.plots import plot_progressive_error
    >>> from sklearn.datasets import load_digits
    >>> clf = OneAgainstAllClassifier().fit(*load_digits(return_X_y=True))
    >>> len(plot_progressive_error(clf).lines)
    2
    """
    curve = clf.progressive_curve_
    ax = _axes(ax)
    ax.plot(curve["examples"], curve["recent_error"], color="C1", linewidth=1, label="recently")
    ax.plot(curve["examples"], curve["error"], color="C0", linewidth=2, label="overall")
    ax.set(xlabel="examples learned", ylabel="progressive error")
    ax.set_ylim(bottom=0)
    ax.legend()
    return ax


@at_one_moment
def plot_depths(clf: Any, ax: Any = None) -> Any:
    """Draw, by depth, the share of routes that end there and the recall of its nodes.

    Parameters
    ----------
    clf : fitted RecallTreeClassifier or LOMTreeClassifier
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.plots import plot_depths
    >>> from sklearn.datasets import load_digits
    >>> clf = RecallTreeClassifier(max_candidates=3).fit(*load_digits(return_X_y=True))
    >>> plot_depths(clf).get_xlabel()
    'depth'
    """
    nodes = _nodes(clf)
    rows = tree_summary(clf._check_fitted().core, nodes)["by_depth"]
    ax = _axes(ax)
    depths = [row["depth"] for row in rows]
    ax.bar(depths, [row["stopping"] for row in rows], color="0.8", label="routes that end here")
    lines = {"recall": "recall", "recall_bound": "recall bound"}
    for key, name in lines.items():
        if key in rows[0]:
            values = [np.nan if row[key] is None else row[key] for row in rows]
            ax.plot(depths, values, marker="o", label=name)
    ax.set(xlabel="depth", ylim=(0, 1.05))
    ax.legend()
    return ax


@at_one_moment
def plot_class_frequency(clf: Any, ax: Any = None) -> Any:
    """Draw how many examples each class had, from the most to the least frequent.

    Parameters
    ----------
    clf : fitted RecallTreeClassifier or LOMTreeClassifier
        One-against-all does not count its classes.
    ax : matplotlib Axes, default=None

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.plots import plot_class_frequency
    >>> from sklearn.datasets import load_digits
    >>> clf = RecallTreeClassifier().fit(*load_digits(return_X_y=True))
    >>> plot_class_frequency(clf).get_xscale()
    'log'
    """
    counts = class_counts(clf)
    if counts is None:
        raise ValueError(
            f"{type(clf).__name__} does not count the examples of its classes; "
            "OneAgainstSomeClassifier and RecallTreeClassifier do."
        )
    ranked = np.sort(counts[counts > 0])[::-1]
    ax = _axes(ax)
    ax.loglog(np.arange(1, len(ranked) + 1), ranked)
    ax.set(xlabel="rank of the class", ylabel="examples")
    return ax


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "recalltree.plots draws with matplotlib, which is not installed: "
            'pip install "recalltree[plots]"'
        ) from error
    return plt


def _axes(ax: Any, size: tuple[float, float] = (8, 4.5)) -> Any:
    return _pyplot().subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def _nodes(clf: Any) -> NodeTable:
    nodes = node_table(clf)
    if nodes is None:
        raise ValueError(
            f"{type(clf).__name__} has no tree to show; RecallTreeClassifier and LOMTreeClassifier "
            "have one."
        )
    return nodes


def _spans(nodes: NodeTable) -> tuple[Any, Any]:
    """Return where each node begins and ends, as shares of the root's width."""
    start, stop = np.zeros(len(nodes)), np.zeros(len(nodes))
    stop[nodes.root] = 1.0
    for level in nodes.by_depth():
        children = np.stack([nodes.left[level], nodes.right[level]])
        totals = np.where(children >= 0, nodes.total[children], 0.0)
        whole = np.maximum(np.maximum(nodes.total[level], totals.sum(axis=0)), 1e-300)
        at = start[level].copy()
        for child, total in zip(children, totals, strict=True):
            width = (stop[level] - start[level]) * total / whole
            found = child >= 0
            start[child[found]] = at[found]
            stop[child[found]] = (at + width)[found]
            at += width
    return start, stop


def _write_labels(
    ax: Any, nodes: NodeTable, shown: Any, start: Any, stop: Any, classes: Any, n_labels: int
) -> None:
    for node in shown:
        width = stop[node] - start[node]
        names = [str(classes[i]) for i in nodes.candidates(int(node))[0][:n_labels]]
        text = ", ".join(names)
        if not text or width < 0.012 * min(len(text), 12):
            continue
        room = int(width / 0.009)
        ax.text(
            (start[node] + stop[node]) / 2,
            nodes.depth[node] + 0.5,
            text if len(text) <= room else text[: room - 1] + "…",
            color="black" if nodes.quality[node] > 0.6 else "white",
            ha="center",
            va="center",
            fontsize=7,
            parse_math=False,
        )
