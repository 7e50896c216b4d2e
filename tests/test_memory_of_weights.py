"""Sparse weights take memory for what has learned, not for what was only compared."""

import numpy as np
import scipy.sparse as sp

from recalltree import LOMTreeClassifier, RecallTreeClassifier


def stream(n_rows=3000, n_features=5000, features_per_row=8):
    """Return rows of a few features, some of them frequent, and labels of the same kind."""
    random = np.random.default_rng(0)
    n = n_rows * features_per_row
    features = random.zipf(1.3, n).clip(max=n_features) - 1
    rows = np.arange(0, n + 1, features_per_row)
    X = sp.csr_array((np.ones(n, np.float32), features, rows), shape=(n_rows, n_features))
    X.sum_duplicates()
    return X, random.zipf(1.5, n_rows).clip(max=400)


def test_candidates_that_do_not_learn_take_no_memory():
    # With the hinge loss most of the candidates are right by a margin and learn nothing.
    X, y = stream()
    taken = {
        loss: RecallTreeClassifier(loss=loss, max_candidates=150, min_gradient=0, random_state=0)
        .fit(X, y)
        .memory_by_part_["predictors"]
        for loss in ("hinge", "logistic")
    }
    assert taken["hinge"] < taken["logistic"] / 2


def test_candidates_that_are_sure_take_no_memory():
    X, y = stream()
    taken = [
        RecallTreeClassifier(max_candidates=150, random_state=0, min_gradient=least)
        .fit(X, y)
        .memory_by_part_["predictors"]
        for least in (0.0, 0.1, 0.3)
    ]
    assert taken == sorted(taken, reverse=True)
    assert taken[2] < taken[0] / 2


def test_routers_that_were_swapped_leave_no_memory_behind():
    # Every swap gives a router a new row; the rows of those before are used again.
    X, y = stream(n_rows=1000, n_features=40)
    tree = LOMTreeClassifier(max_nodes=6, swap_resistance=0.001, random_state=0)
    rng = np.random.default_rng(1)
    taken = []
    for _ in range(60):
        # Classes keep changing places, so that what was learned is wrong again and again.
        tree.partial_fit(X, rng.permutation(500)[y])
        taken.append(tree.memory_by_part_["routers"])
    assert max(taken[30:]) <= 1.5 * max(taken[:30])
