"""Pairs of classes with thousands of keys are found again, and nothing else is."""

import numpy as np
import pytest
import scipy.sparse as sp

import recalltree
from recalltree import OneAgainstSomeClassifier

N_CLASSES, N_KEYS, N_FEATURES = 3, 2_000, 1 << 19


def rows_of(keys, rng, n_rows):
    """Return rows with 40 of the keys each, as word counts."""
    columns = np.stack([np.sort(rng.choice(keys, 40, replace=False)) for _ in range(n_rows)])
    counts = rng.integers(1, 4, columns.size).astype(np.float32)
    indptr = np.arange(0, columns.size + 1, columns.shape[1])
    return sp.csr_array((counts, columns.ravel(), indptr), shape=(n_rows, N_FEATURES))


@pytest.mark.parametrize("stride", [None, 1, 256])
def test_large_tables_say_what_a_search_in_the_file_says(stride, tmp_path):
    """Features at random places fill some groups of a table and spill over into the next."""
    rng = np.random.default_rng(0)
    keys = np.sort(rng.choice(N_FEATURES, N_KEYS, replace=False))
    if stride is not None:  # have much of their hashes in common
        keys = stride * np.arange(N_KEYS)
    y = np.arange(600) % N_CLASSES
    # Each class meets two of three keys, so that it is asked for many that it has not met.
    of_class = [keys[np.arange(N_KEYS) % N_CLASSES != c] for c in range(N_CLASSES)]
    X = sp.vstack([rows_of(of_class[c], rng, 1) for c in y], format="csr")
    # Two entries of histograms tell next to nothing: the classes themselves are asked.
    clf = OneAgainstSomeClassifier(max_labels=N_CLASSES, max_entries=2, random_state=0).fit(X, y)
    for c in range(N_CLASSES):
        known = clf._core.predictor(c)["counts"]
        np.testing.assert_array_equal(np.flatnonzero(known), np.unique(X[y == c].indices))

    clf.save(tmp_path / "model.rt")
    test = rows_of(keys, rng, 200)
    before = clf.work_["pairs_found"]
    scores = clf.predict_proba(test)
    assert clf.work_["pairs_found"] - before > 200 * 40  # each is known to two classes of three
    np.testing.assert_array_equal(
        recalltree.load(tmp_path / "model.rt").predict_proba(test), scores
    )
