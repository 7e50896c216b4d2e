"""The nodes of a tree, with what each of them has seen: one table for all trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.moment import at_one_moment


@dataclass(frozen=True)
class NodeTable:
    """The nodes of a tree. Arrays have one entry per node; -1 stands for no node.

    Attributes
    ----------
    root : int
    left, right, parent, depth : ndarray of int
    total : ndarray of float
        Weight of the examples that came to a node, those that only passed through it included. Of
        a LOMTree, those that the leaves below have counted: a leaf that is split forgets its own.
    n_labels : ndarray of int
        How many labels these examples had.
    recall : ndarray of float
        Share of them whose label is among the candidates of the node (of a LOMTree: is its answer).
    recall_bound : ndarray of float or None
        The lower bound of recall, by which the Recall Tree decides where to stop.
    indptr, class_ids, counts : ndarray
        Candidates: those of node n are ``class_ids[indptr[n]:indptr[n + 1]]``, the most frequent
        first. Of a LOMTree, the labels of a leaf.
    """

    root: int
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    parent: NDArray[np.int64]
    depth: NDArray[np.int64]
    total: NDArray[np.float64]
    n_labels: NDArray[np.int64]
    recall: NDArray[np.float64]
    recall_bound: NDArray[np.float64] | None
    indptr: NDArray[np.int64]
    class_ids: NDArray[np.int64]
    counts: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.parent)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """True for nodes without children."""
        return (self.left < 0) & (self.right < 0)

    @property
    def quality(self) -> NDArray[np.float64]:
        """The figure that colours nodes: the recall bound where there is one, else the recall."""
        return self.recall if self.recall_bound is None else self.recall_bound

    def candidates(self, node: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the candidates of a node and their counts."""
        part = slice(self.indptr[node], self.indptr[node + 1])
        return self.class_ids[part], self.counts[part]

    def holders(self, class_id: int) -> NDArray[np.int64]:
        """Return the nodes that have a class among their candidates, the most examples first."""
        places = np.flatnonzero(self.class_ids == class_id)
        nodes = np.searchsorted(self.indptr, places, side="right") - 1
        return nodes[np.argsort(-self.counts[places], kind="stable")]

    def by_depth(self) -> list[NDArray[np.int64]]:
        """Return the nodes of each depth."""
        order = np.argsort(self.depth, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depth))[:-1])


@at_one_moment
def node_table(clf: Any) -> NodeTable | None:
    """Return the nodes of an estimator's tree, or None if it has none.

    Parameters
    ----------
    clf : fitted estimator

    Returns
    -------
    NodeTable or None

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection.nodes import node_table
    >>> clf = RecallTreeClassifier(shuffle=False).fit([[0.0], [1.0], [1.0]], ["a", "b", "b"])
    >>> nodes = node_table(clf)
    >>> len(nodes), float(nodes.total[nodes.root]), nodes.candidates(nodes.root)
    (3, 3.0, (array([1, 0]), array([2., 1.])))
    """
    core = clf._check_fitted().core
    tree = getattr(clf, "tree_", None)
    if tree is None:
        return None
    shape = {
        name: np.asarray(getattr(tree, name), dtype=np.int64)
        for name in ("left", "right", "parent", "depth")
    }
    if hasattr(tree, "recall_bound"):
        return _of_recall_tree(core, tree, shape)
    return _of_lom_tree(core, tree, shape)


def _of_recall_tree(core: Any, tree: Any, shape: dict[str, NDArray[np.int64]]) -> NodeTable:
    total = np.asarray(tree.total, dtype=np.float64)
    limit = core.max_candidates_now
    held = [_head(core.histogram(node), limit) for node in range(len(tree))]
    indptr, class_ids, counts = _joined(held)
    mass = np.array([part.sum() for _, part in held])
    # A node that holds no more labels than candidates loses none of them, to the last bit.
    n_labels = np.asarray(tree.n_labels, dtype=np.int64)
    recall = np.where(n_labels <= limit, 1.0, mass / np.maximum(total, np.finfo(float).tiny))
    return NodeTable(
        root=int(tree.root),
        **shape,
        total=total,
        n_labels=n_labels,
        recall=recall,
        recall_bound=np.asarray(tree.recall_bound, dtype=np.float64),
        indptr=indptr,
        class_ids=class_ids,
        counts=counts,
    )


def _of_lom_tree(core: Any, tree: Any, shape: dict[str, NDArray[np.int64]]) -> NodeTable:
    # Only leaves count labels; what came to a router is what is now in the leaves below it.
    is_leaf = np.asarray(tree.is_leaf)
    held = [
        core.histogram(node) if leaf else (np.empty(0, dtype=np.int64), np.empty(0))
        for node, leaf in enumerate(is_leaf)
    ]
    indptr, class_ids, counts = _joined(held)
    total = np.array([part.sum() for _, part in held])
    right = np.array([part[0] if len(part) else 0.0 for _, part in held])
    for node in np.argsort(-shape["depth"], kind="stable"):
        up = shape["parent"][node]
        if up >= 0:
            total[up] += total[node]
            right[up] += right[node]
    return NodeTable(
        root=int(tree.root),
        **shape,
        total=total,
        n_labels=_labels_below(shape["parent"], indptr, class_ids),
        recall=right / np.maximum(total, np.finfo(float).tiny),
        recall_bound=None,
        indptr=indptr,
        class_ids=class_ids,
        counts=counts,
    )


def _labels_below(
    parent: NDArray[np.int64], indptr: NDArray[np.int64], class_ids: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how many different labels the leaves below each node hold."""
    n_classes = int(class_ids.max(initial=0)) + 1
    nodes = np.repeat(np.arange(len(parent)), np.diff(indptr))
    levels = []  # pairs of node and class, as one number
    while len(nodes):
        pairs = np.unique(nodes * n_classes + class_ids)
        levels.append(pairs)
        nodes, class_ids = parent[pairs // n_classes], pairs % n_classes
        nodes, class_ids = nodes[nodes >= 0], class_ids[nodes >= 0]
    return np.bincount(np.unique(np.concatenate(levels)) // n_classes, minlength=len(parent))


def _head(histogram: Any, limit: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
    class_ids, counts = histogram
    # Copies: a slice would keep the whole histogram of every node alive.
    return class_ids[:limit].copy(), counts[:limit].copy()


def _joined(
    held: list[tuple[NDArray[Any], NDArray[np.float64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    sizes = [len(class_ids) for class_ids, _ in held]
    indptr = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)
    class_ids = np.concatenate([ids for ids, _ in held]).astype(np.int64)
    return indptr, class_ids, np.concatenate([counts for _, counts in held])
