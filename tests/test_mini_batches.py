"""Several threads learn the same model, to the bit, however many they are."""

import numpy as np
import pytest
import scipy.sparse as sp

from recalltree import OneAgainstSomeClassifier

N_ROWS, N_CLASSES = 1500, 120


def rows(kind):
    """Rows of skewed classes: words, or numbers around the centre of a class."""
    random = np.random.default_rng(0)
    y = np.minimum(random.zipf(1.4, N_ROWS), N_CLASSES)
    if kind == "dense":
        centres = random.normal(size=(N_CLASSES + 1, 110))
        return (centres[y] + random.normal(size=(N_ROWS, 110))).astype(np.float32), y
    words = random.integers(300, size=(N_CLASSES + 1, 12))
    chosen = words[y[:, None], random.integers(12, size=(N_ROWS, 6))]
    noise = random.integers(300, size=(N_ROWS, 5))
    columns = np.hstack([chosen, noise]).ravel()
    values = np.ones(columns.size, dtype=np.float32)
    return sp.csr_array((values, (np.repeat(np.arange(N_ROWS), 11), columns)), (N_ROWS, 300)), y


CASES = {
    "words": ("sparse", {}),
    "words in two passes": ("sparse", {"n_passes": 2, "feature_dropout": 0.2}),
    "words that fade": ("sparse", {"count_decay": 200}),
    "words in little memory": ("sparse", {"memory_budget": 200_000}),
    "words and trees": ("sparse", {"keys": "both"}),
    "trees": ("dense", {"keys": "trees", "n_passes": 2}),
    "path": ("dense", {"keys": "path"}),
    "cells": ("dense", {"keys": "cells"}),
    "cells and trees": ("dense", {"n_passes": 2}),
}


def saved_bytes(classifier, path):
    classifier.set_params(n_jobs=None).save(path)
    return path.read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_saved_models_are_equal_for_every_number_of_threads(case, tmp_path):
    kind, parameters = CASES[case]
    X, y = rows(kind)
    models = [
        OneAgainstSomeClassifier(random_state=0, n_jobs=n_jobs, **parameters).fit(X, y)
        for n_jobs in (2, 3, 4, 8, 16)
    ]
    files = [saved_bytes(model, tmp_path / f"{i}.rt") for i, model in enumerate(models)]
    assert all(file == files[0] for file in files)
    assert models[0].score(X, y) > 0.5


def test_lists_of_labels_are_learned_alike(tmp_path):
    X, y = rows("sparse")
    lists = [[int(label)] + [int(label) % 7] * (i % 3 == 0) for i, label in enumerate(y)]
    lists = [sorted(set(labels)) if i % 11 else [] for i, labels in enumerate(lists)]
    files = [
        saved_bytes(
            OneAgainstSomeClassifier(random_state=0, n_jobs=n_jobs).fit(X, lists),
            tmp_path / f"{n_jobs}.rt",
        )
        for n_jobs in (2, 3, 16)
    ]
    assert files[0] == files[1] == files[2]


def test_calls_that_end_where_mini_batches_do_change_nothing(tmp_path):
    X, y = rows("sparse")
    whole = OneAgainstSomeClassifier(random_state=0, n_jobs=2).partial_fit(X, y)
    parts = OneAgainstSomeClassifier(random_state=0, n_jobs=3)
    for begin in range(0, N_ROWS, 512):
        parts.partial_fit(X[begin : begin + 512], y[begin : begin + 512])
    assert np.array_equal(whole.predict(X), parts.predict(X))
    assert whole.progressive_error_ == parts.progressive_error_


def test_one_row_at_a_time_is_learned_as_one_thread_learns_it(tmp_path):
    X, y = rows("sparse")
    one, two = (OneAgainstSomeClassifier(random_state=0, n_jobs=n) for n in (1, 2))
    for i in range(100):
        one.partial_fit(X[i : i + 1], y[i : i + 1])
        two.partial_fit(X[i : i + 1], y[i : i + 1])
    assert saved_bytes(one, tmp_path / "one.rt") == saved_bytes(two, tmp_path / "two.rt")
