"""Estimators with cells, and rows for them: dense ones, and words with a dense block at the end."""

import numpy as np
from scipy import sparse
from sklearn.base import clone

from recalltree import OneAgainstSomeClassifier

CELLS = {
    "cells": OneAgainstSomeClassifier(keys="cells", random_state=0),
    "cells+trees": OneAgainstSomeClassifier(
        keys="cells+trees", n_trees=2, max_candidates=8, count_decay=500, random_state=0
    ),
    "block": OneAgainstSomeClassifier(n_dense_features=16, l2=1e-3, random_state=0),
    "block+trees": OneAgainstSomeClassifier(
        keys="cells+trees", n_dense_features=16, n_trees=2, max_candidates=8, random_state=0
    ),
}


def mixture(n, n_classes=300, n_features=24, seed=0, noise=0.6):
    """Return rows around the centres of their classes, and the classes."""
    centres = np.random.default_rng(99).normal(size=(n_classes, n_features))
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return (centres[y] + noise * rng.normal(size=(n, n_features))).astype(np.float32), y


def rows_for(clf, X):
    """Return rows as a classifier takes them: sparse ones, if they are to end with a block."""
    n = clf.n_dense_features
    if n == 0:
        return X
    words = np.where(X[:, :-n] > 0.5, X[:, :-n], 0.0)
    return sparse.csr_array(np.concatenate([words, X[:, -n:]], axis=1))


def fitted(name, n=1200, **options):
    """Return a classifier that has learned a mixture, more rows for it, and their classes."""
    X, y = mixture(n, **options)
    clf = clone(CELLS[name])
    return clf.fit(rows_for(clf, X), y), rows_for(clf, X), y
