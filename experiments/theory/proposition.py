"""The proposition of section 3.2: one-against-all on (x, path(x)) can be any tree.

For a tree that answers with one label per node, the proof gives the predictor of label y the weight
1 on each leaf that answers y. A Recall Tree also stops at inner nodes, which others pass: weights
that double with the depth let the last node outvote all before it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from recalltree.validation import slice_rows


def path_matrix(model: Any, X: Any) -> sp.csr_array:
    """Return path_T(x) of each row: 1 for the nodes that it passes, the root included."""
    fitted, matrix, _ = model._check_new(X)
    indptr, nodes = fitted.core.route(slice_rows(matrix, 0, matrix.shape[0]))
    ones = np.ones(len(nodes))
    return sp.csr_array((ones, nodes, indptr), shape=(matrix.shape[0], model.tree_.n_nodes))


def path_weights(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return labels and W, (nodes x labels): the weights of the path features that are the tree.

    The tree answers with the most frequent label of the node where a row stops: a Recall Tree with
    one candidate.
    """
    tree = model.tree_
    answers = np.array([tree.candidates(node)[0] for node in range(tree.n_nodes)])
    labels, columns = np.unique(answers, return_inverse=True)
    weights = np.zeros((tree.n_nodes, len(labels)))
    weights[np.arange(tree.n_nodes), columns] = 2.0**tree.depth
    return labels, weights


def answers_of_one_against_all(model: Any, X: Any) -> np.ndarray:
    """Return the argmax of the linear scores of (x, path(x)); x has weight 0."""
    labels, weights = path_weights(model)
    return labels[np.argmax(path_matrix(model, X) @ weights, axis=1)]
