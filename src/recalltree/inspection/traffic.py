"""Routes through a Recall Tree and where they stop, by the tree's counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recalltree.inspection.nodes import NodeTable


@dataclass(frozen=True)
class Traffic:
    """Shares of the examples, one entry per node.

    An estimate: it takes new examples to part at each node as the examples learned so far did.

    Attributes
    ----------
    arriving : ndarray
        Share of the examples whose route has the node.
    stopping : ndarray
        Share of the examples whose route ends there; sums to 1.
    """

    arriving: NDArray[np.float64]
    stopping: NDArray[np.float64]


def traffic(nodes: NodeTable, max_depth: int) -> Traffic:
    """Return where examples stop: a route ends where the next node's recall bound is lower.

    Parameters
    ----------
    nodes : NodeTable
    max_depth : int
        Nodes at this depth send nothing on.

    Returns
    -------
    Traffic

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection.nodes import node_table
    >>> from recalltree.inspection.traffic import traffic
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(max_candidates=3, random_state=0).fit(X, y)
    >>> stopping = traffic(node_table(clf), max_depth=3).stopping
    >>> round(float(stopping.sum()), 9), bool(stopping[0] < 0.5)
    (1.0, True)
    """
    arriving = np.zeros(len(nodes))
    stopping = np.zeros(len(nodes))
    arriving[nodes.root] = 1.0
    for level in nodes.by_depth():
        passed_on = np.zeros(len(level))
        children = np.stack([nodes.left[level], nodes.right[level]])
        weights = np.where(children >= 0, nodes.total[children], 0.0)
        shares = weights / np.maximum(weights.sum(axis=0), np.finfo(float).tiny)
        for child, share in zip(children, shares, strict=True):
            goes = (child >= 0) & (nodes.depth[level] < max_depth)
            if nodes.recall_bound is not None:
                goes &= nodes.recall_bound[child] >= nodes.recall_bound[level]
            moved = np.where(goes, arriving[level] * share, 0.0)
            arriving[child[goes]] = moved[goes]
            passed_on += moved
        stopping[level] = arriving[level] - passed_on
    return Traffic(arriving, np.maximum(stopping, 0.0))
