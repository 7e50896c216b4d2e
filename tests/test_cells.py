"""Cells in the estimator: dense rows, and rows with a dense block."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer

import recalltree
from recalltree import OneAgainstSomeClassifier, hybrid

N_DENSE = 12
KINDS = {
    "cells": {"keys": "cells"},
    "cells+trees": {"keys": "cells+trees"},
    "hybrid": {"keys": "cells", "n_dense_features": N_DENSE},
    "hybrid+trees": {"keys": "cells+trees", "n_dense_features": N_DENSE},
}


def words_and_vectors(n, n_classes=40, seed=0):
    """Rows whose class shows in words and in a vector, in neither of them well."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99)
    likely = np.where(centres.random((n_classes, 60)) < 0.12, 0.5, 0.06)
    vectors = centres.normal(size=(n_classes, N_DENSE))
    y = random.integers(n_classes, size=n)
    words = sp.csr_array((random.random((n, 60)) < likely[y]).astype(np.float32))
    return words, (vectors[y] + random.normal(size=(n, N_DENSE))).astype(np.float32), y


def rows_of(kind, n=1500, seed=0):
    words, vectors, y = words_and_vectors(n, seed=seed)
    return (hybrid(words, vectors) if "hybrid" in kind else vectors), y


def make(kind, **parameters):
    return OneAgainstSomeClassifier(random_state=0, **(KINDS[kind] | parameters))


@pytest.mark.parametrize("kind", KINDS)
def test_learning_one_by_one_equals_a_batch(kind):
    X, y = rows_of(kind)
    together, single = make(kind).partial_fit(X, y), make(kind)
    for i in range(len(y)):
        single.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_array_equal(single.predict_proba(X), together.predict_proba(X))
    one_by_one = [together.predict(X[i : i + 1])[0] for i in range(100)]
    assert together.predict(X[:100]).tolist() == one_by_one
    assert single.progressive_error_ == together.progressive_error_


@pytest.mark.parametrize("idle_cells", [None, 3])
@pytest.mark.parametrize("keys", ["cells", "cells+trees"])
def test_rows_that_are_searched_together_find_what_each_finds_alone(keys, idle_cells, tmp_path):
    random = np.random.default_rng(8)
    centres = random.normal(size=(900, 20))
    y = np.tile(np.arange(900), 2)
    X = centres[y] + 0.5 * random.normal(size=(len(y), 20))
    clf = OneAgainstSomeClassifier(
        keys=keys, cells_read=8, idle_cells=idle_cells, random_state=0
    ).partial_fit(X, y)
    clf.save(tmp_path / "model.rt")
    some = X[::9]
    for model in (clf, recalltree.load(tmp_path / "model.rt", mmap=True), clf.compact("float16")):
        before = model.work_["vectors_compared"]
        labels, scores = model.predict_topk(some, k=5)
        compared = model.work_["vectors_compared"] - before
        alone = [model.predict_topk(x[None], k=5) for x in some]
        assert model.work_["vectors_compared"] - before == 2 * compared
        np.testing.assert_array_equal(labels, np.vstack([found for found, _ in alone]))
        np.testing.assert_array_equal(scores, np.vstack([score for _, score in alone]))
        assert model.predict(some).tolist() == labels[:, 0].tolist()


def test_older_files_read_on_as_long_as_they_did(tmp_path, monkeypatch):
    random = np.random.default_rng(9)
    X, y = random.normal(size=(1500, 20)), np.arange(1500)
    clf = OneAgainstSomeClassifier(
        keys="cells", cells_read=12, idle_cells=None, random_state=0
    ).partial_fit(X, y)
    model = clf._to_model()
    del model.config["idle_cells"], model.parameters["idle_cells"]
    monkeypatch.setattr(clf, "_to_model", lambda: model)
    clf.save(tmp_path / "older.rt")
    again = recalltree.load(tmp_path / "older.rt")
    assert again.idle_cells is None
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    sooner = OneAgainstSomeClassifier(
        keys="cells", cells_read=12, idle_cells=1, random_state=0
    ).partial_fit(X, y)
    sooner.predict(X), again.predict(X)
    assert sooner.work_["vectors_compared"] < again.work_["vectors_compared"]


@pytest.mark.parametrize("n", [5, 700, 2100])  # before, between and after renewals
@pytest.mark.parametrize("kind", KINDS)
def test_files_answer_and_go_on_bit_for_bit(kind, n, tmp_path):
    X, y = rows_of(kind, n)
    more, labels = rows_of(kind, 200, seed=1)
    clf = make(kind).partial_fit(X, y)
    clf.save(tmp_path / "model.rt")
    expected = clf.predict_proba(more)
    clf.partial_fit(more, labels)
    for mmap in (True, False):
        again = recalltree.load(tmp_path / "model.rt", mmap=mmap)
        np.testing.assert_array_equal(again.predict_proba(more), expected)
        again.partial_fit(more, labels)
        np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "parameters",
    [
        {"n_passes": 3},
        {"n_passes": 2, "feature_dropout": 0.3},
        {"count_decay": 200.0},
        {"l2": 1e-4},
        {"n_jobs": 2, "count_decay": 30.0, "n_passes": 2},
        {"memory_budget": 1_000_000},
        {"cells_read": 1, "max_candidates": 5},
    ],
    ids=str,
)
def test_what_other_keys_have_cells_have_too(kind, parameters):
    X, y = rows_of(kind)
    weights = np.random.default_rng(3).integers(1, 4, size=len(y)) / 2
    clf = make(kind, **parameters).fit(X, y, weights)
    assert clf.score(X, y) > 0.5
    if limit := parameters.get("memory_budget"):
        assert clf.memory_bytes_ <= limit


@pytest.mark.parametrize("kind", KINDS)
def test_a_budget_that_is_too_small_is_refused(kind):
    with pytest.raises(ValueError, match="memory_budget=20000 is too small"):
        make(kind, memory_budget=20_000).fit(*rows_of(kind))


def test_several_passes_leave_a_row_out_of_its_own_mean():
    X = np.eye(30, dtype=np.float32)
    clf = make("cells", n_passes=4, shuffle=False).fit(X, np.arange(30))
    # A class of one row would otherwise find itself right, and never learn.
    assert clf.score(X, np.arange(30)) == 1.0


def test_words_and_vectors_together_are_better_than_each():
    words, vectors, y = words_and_vectors(3000)
    both = hybrid(words, vectors)
    errors = [
        OneAgainstSomeClassifier(keys=keys, n_dense_features=n).partial_fit(X, y).progressive_error_
        for X, keys, n in [(words, "auto", 0), (vectors, "cells", 0), (both, "auto", N_DENSE)]
    ]
    assert errors[2] < 0.9 * min(errors[:2])


def test_hybrid_is_what_hstack_makes():
    words, vectors, _ = words_and_vectors(50)
    ours, theirs = hybrid(words, vectors), sp.hstack([words, sp.csr_array(vectors)], format="csr")
    np.testing.assert_array_equal(ours.toarray(), theirs.toarray())
    assert ours.has_canonical_format
    assert ours.dtype == np.float32
    with pytest.raises(ValueError, match="words has 50 rows and embedding 49"):
        hybrid(words, vectors[:49])
    with pytest.raises(ValueError, match="embedding has 1 dimensions"):
        hybrid(words, vectors[:, 0])


def test_a_column_transformer_makes_rows_with_both():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(
        {"text": ["red fox", "grey wolf", "red fox", "grey cat"] * 10, "a": 1.0, "b": range(40)}
    )
    columns = ColumnTransformer(
        [("words", CountVectorizer(), "text"), ("block", "passthrough", ["a", "b"])],
        sparse_threshold=1.0,
    )
    X, y = columns.fit_transform(frame), ["fox", "wolf", "fox", "cat"] * 10
    clf = OneAgainstSomeClassifier(n_dense_features=2, n_passes=2, random_state=0).fit(X, y)
    assert clf.score(X, y) > 0.8


@pytest.mark.parametrize(
    ("parameters", "is_sparse", "message"),
    [
        ({"keys": "cells"}, True, "keys='cells' needs dense features"),
        ({"keys": "cells+trees"}, True, "keys='cells\\+trees' needs dense features"),
        ({"n_dense_features": 3}, False, "n_dense_features=3 is for sparse X"),
        ({"n_dense_features": 3, "keys": "trees"}, True, "n_dense_features=3 needs cells"),
        ({"n_dense_features": 99}, True, "n_dense_features=99: X has only 60 features"),
    ],
)
def test_rows_without_a_dense_block_are_refused(parameters, is_sparse, message):
    words, vectors, y = words_and_vectors(20)
    with pytest.raises(ValueError, match=message):
        OneAgainstSomeClassifier(**parameters).fit(words if is_sparse else vectors, y)


def test_work_counts_what_was_compared():
    X, y = rows_of("cells")
    clf = make("cells", max_candidates=10).partial_fit(X, y)
    before = clf.work_
    clf.predict(X[:100])
    after = clf.work_
    # 40 classes stand in one cell.
    assert after["vectors_compared"] - before["vectors_compared"] == 100 * 40
    assert after["predictor_evaluations"] - before["predictor_evaluations"] == 100 * 10
    assert after["router_evaluations"] == 0


def test_classes_may_come_late():
    X, y = rows_of("cells", 3000)
    early = y < 20
    clf = make("cells").partial_fit(X[early], y[early]).partial_fit(X[~early], y[~early])
    assert clf.score(X[~early], y[~early]) > 0.6


@pytest.mark.parametrize(("n_features", "keys"), [(99, "trees"), (100, "cells+trees")])
def test_dense_rows_of_many_features_have_cells_by_default(n_features, keys):
    random = np.random.default_rng(5)
    X, y = random.normal(size=(300, n_features)), random.integers(9, size=300)
    default, explicit = (OneAgainstSomeClassifier(keys=k, random_state=0) for k in ("auto", keys))
    expected = explicit.fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(default.fit(X, y).predict_proba(X), expected)


def test_older_files_of_dense_rows_stay_trees(tmp_path, monkeypatch):
    random = np.random.default_rng(6)
    X, y = random.normal(size=(200, 120)), random.integers(9, size=200)
    clf = OneAgainstSomeClassifier(keys="trees", random_state=0).fit(X, y)
    model = clf._to_model()
    for name in ("cells_read", "n_dense_features"):  # which did not exist, and keys were "auto"
        model.config.pop(name)
        model.parameters.pop(name)
    model.config["keys"] = model.parameters["keys"] = "auto"
    monkeypatch.setattr(clf, "_to_model", lambda: model)
    clf.save(tmp_path / "older.rt")
    again = recalltree.load(tmp_path / "older.rt")
    assert again.keys == "trees"
    np.testing.assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    again.partial_fit(X, y)
    monkeypatch.undo()
    np.testing.assert_array_equal(again.predict_proba(X), clf.partial_fit(X, y).predict_proba(X))


def test_trees_end_where_there_are_many_classes():
    random = np.random.default_rng(7)
    X, y = random.normal(size=(5000, 6)).astype(np.float32), np.arange(5000)
    clf = OneAgainstSomeClassifier(keys="cells+trees").partial_fit(X[:4097], y[:4097])
    before = clf.work_
    clf.partial_fit(X[4097:], y[4097:]).predict(X[:50])
    assert clf.work_["router_evaluations"] == before["router_evaluations"] > 0
