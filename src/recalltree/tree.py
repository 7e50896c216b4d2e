"""The tree of a fitted model, to be looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.labels import LabelTable


class TreeView:
    """A view of the tree of a model: always as the model is now, never changing it.

    Nodes are numbered. Arrays have one entry per node.

    Parameters
    ----------
    core : RecallTree or LOMTree
        The core that owns the tree.
    labels : LabelTable
        The labels of its class ids.
    """

    def __init__(self, core: Any, labels: LabelTable) -> None:
        self._core = core
        self._labels = labels
        self._read_at = -1
        self._arrays: dict[str, NDArray[Any]] = {}

    def _array(self, name: str) -> NDArray[Any]:
        with self._core.reading():
            if self._read_at != self._core.n_examples:
                self._arrays = self._core.tree()
                self._read_at = self._core.n_examples
            return self._arrays[name]

    def __len__(self) -> int:
        return len(self._array("parent"))

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self)

    @property
    def root(self) -> int:
        """The number of the root."""
        return int(np.argmax(self.parent < 0))

    @property
    def max_depth(self) -> int:
        """The depth of the deepest node; the root has depth 0."""
        return int(self.depth.max())

    @property
    def left(self) -> NDArray[Any]:
        """The left child of each node, -1 for none."""
        return self._array("left")

    @property
    def right(self) -> NDArray[Any]:
        """The right child of each node, -1 for none."""
        return self._array("right")

    @property
    def parent(self) -> NDArray[Any]:
        """The parent of each node, -1 for the root."""
        return self._array("parent")

    @property
    def depth(self) -> NDArray[Any]:
        """The depth of each node; the root has depth 0."""
        level = parent = self.parent
        depth = np.zeros(len(parent), dtype=np.int32)
        while (level >= 0).any():
            depth += level >= 0
            level = np.where(level >= 0, parent[level], -1)
        return depth

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """True for nodes without children."""
        with self._core.reading():
            return (self.left < 0) & (self.right < 0)

    def children(self, node: int) -> tuple[int, ...]:
        """Return the children of a node: left, right, those that exist."""
        node = self._check(node)
        with self._core.reading():
            pair = (int(self.left[node]), int(self.right[node]))
        return tuple(child for child in pair if child >= 0)

    def histogram(self, node: int) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the labels that a node has seen and their counts, the largest count first.

        Parameters
        ----------
        node : int

        Returns
        -------
        labels : ndarray of shape (n_labels[node],)
        counts : ndarray of shape (n_labels[node],)
        """
        class_ids, counts = self._core.histogram(self._check(node))
        return self._labels.classes[class_ids], counts

    def _check(self, node: int) -> int:
        if not 0 <= node < len(self):
            raise ValueError(f"node={node}: nodes are numbered from 0 to {len(self) - 1}.")
        return int(node)

    def __repr__(self) -> str:
        with self._core.reading():
            n_leaves, depth = int(self.is_leaf.sum()), self.max_depth
            return (
                f"<{type(self).__name__}: {len(self)} nodes, {n_leaves} of them leaves, "
                f"depth {depth}>"
            )


class RecallTreeView(TreeView):
    """A view of a Recall Tree. Node 0 is the root.

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> tree = RecallTreeClassifier(max_candidates=2, random_state=0).fit(X, y).tree_
    >>> bool(tree.max_depth <= 4), float(tree.total[0])
    (True, 1797.0)
    >>> len(tree.candidates(0)), len(tree.histogram(0)[0])
    (2, 10)
    """

    @property
    def total(self) -> NDArray[Any]:
        """The weight of the examples that were added to each node."""
        return self._array("total")

    @property
    def n_labels(self) -> NDArray[Any]:
        """Number of labels that each node has seen."""
        return self._array("n_labels")

    @property
    def recall_bound(self) -> NDArray[Any]:
        """The lower bound of each node's recall, the paper's equation 1."""
        return self._array("recall_bound")

    def candidates(self, node: int) -> NDArray[Any]:
        """Return the labels that are scored at a node, the most frequent first.

        Parameters
        ----------
        node : int

        Returns
        -------
        ndarray
        """
        with self._core.reading():
            labels, _ = self.histogram(node)
            return labels[: self._core.max_candidates_now]


class LOMTreeView(TreeView):
    """A view of a LOMTree. Its root may move; only leaves have a histogram.

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> tree = LOMTreeClassifier(shuffle=False).fit([[0.0], [1.0], [1.0]], ["a", "b", "b"]).tree_
    >>> tree
    <LOMTreeView: 3 nodes, 2 of them leaves, depth 1>
    >>> tree.children(tree.root)
    (1, 2)
    """

    @property
    def majority(self) -> NDArray[Any]:
        """The label that each node answers with, or hands down to its children."""
        return self._labels.classes[self._array("majority")]
