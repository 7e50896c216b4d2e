"""Checks of online learning: order and batches, prediction without traces, no hold on the input."""

import itertools
import sys
import tracemalloc

import numpy as np
import pytest
from classifiers import CLASSIFIERS, VARIANTS, core_state, digits, snapshot
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from recalltree import OneAgainstAllClassifier

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)
containers = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])

METHODS = {
    "predict": lambda clf, X, y: clf.predict(X),
    "predict_topk": lambda clf, X, y: clf.predict_topk(X, k=3),
    "predict_proba": lambda clf, X, y: clf.predict_proba(X),
    "sparse predict_proba": lambda clf, X, y: clf.predict_proba(X, sparse=True),
    "candidates": lambda clf, X, y: clf.candidates(X),
    "score": lambda clf, X, y: clf.score(X, y),
}

ATTRIBUTES = [
    "classes_",
    "n_classes_seen_",
    "progressive_error_",
    "memory_bytes_",
    "memory_by_part_",
    "work_",
]


@variants
@containers
def test_one_by_one_equals_batch(variant, make):
    X, y = digits(200)
    weight = 1 + np.arange(200) % 3
    batch = clone(variant).partial_fit(make(X), y, sample_weight=weight)
    one_by_one = clone(variant)
    for i in range(200):
        one_by_one.partial_fit(make(X[i : i + 1]), y[i : i + 1], sample_weight=weight[i : i + 1])
    assert core_state(one_by_one) == core_state(batch)
    assert one_by_one.classes_.tolist() == batch.classes_.tolist()
    assert one_by_one.progressive_error_ == batch.progressive_error_


@given(st.lists(st.integers(0, 60), max_size=6), st.sampled_from(VARIANTS))
@settings(deadline=None, max_examples=30)
def test_any_batches_equal_one_batch(cuts, variant):
    X, y = digits(60)
    weight = np.arange(60) % 4  # some are 0
    batch = clone(variant).partial_fit(X, y, sample_weight=weight)
    pieces = clone(variant)
    bounds = [0, *sorted(set(cuts) - {0, 60}), 60]
    for a, b in itertools.pairwise(bounds):
        pieces.partial_fit(X[a:b], y[a:b], sample_weight=weight[a:b])
    assert core_state(pieces) == core_state(batch)


@variants
def test_fit_without_shuffling_equals_partial_fit(variant):
    X, y = digits(200)
    y = np.r_[np.arange(10), y[10:]]  # labels appear in sorted order
    fit = clone(variant).set_params(shuffle=False).fit(X, y)
    assert core_state(fit) == core_state(clone(variant).partial_fit(X, y))


@variants
def test_fit_forgets(variant):
    X, y = digits(200)
    expected = snapshot(clone(variant).fit(X[:100, :30], y[:100]))
    again = clone(variant).fit(sparse.csr_array(X), y.astype(str)).fit(X[:100, :30], y[:100])
    assert snapshot(again) == expected


@variants
def test_partial_fit_goes_on_after_fit(variant):
    X, y = digits(200)
    clf = clone(variant).fit(X[:100], y[:100])
    assert clf._core.n_examples == 100
    before = core_state(clf)
    clf.partial_fit(X[100:], y[100:])
    assert clf._core.n_examples == 200
    assert core_state(clf) != before


@variants
@containers
@pytest.mark.parametrize("method", METHODS)
def test_predicting_changes_nothing(variant, make, method):
    X, y = digits(200)
    clf = clone(variant).fit(make(X[:100]), y[:100])
    before = snapshot(clf)
    first = METHODS[method](clf, make(X), y)
    second = METHODS[method](clf, make(X), y)
    assert snapshot(clf) == before
    assert_same(first, second)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("method", METHODS)
def test_predicting_before_learning_is_an_error(classifier, method):
    X, y = digits(20)
    with pytest.raises(NotFittedError, match=r"has learned no example\. Call 'fit'"):
        METHODS[method](classifier(), X, y)
    nothing_learned = classifier().partial_fit(X, y, sample_weight=np.zeros(20))
    with pytest.raises(NotFittedError, match=r"has learned no example\. Call 'fit'"):
        METHODS[method](nothing_learned, X, y)
    assert nothing_learned.partial_fit(X, y).predict(X).shape == (20,)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_attributes_before_learning(classifier):
    names = ATTRIBUTES + (["tree_"] if hasattr(classifier, "tree_") else [])
    for name in names:
        assert not hasattr(classifier(), name)
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(classifier(), name)
        assert hasattr(classifier().fit(*digits(20)), name)


@variants
@containers
def test_input_is_neither_written_nor_kept(variant, make):
    X, y = digits(200)
    matrix, labels, weight = make(X.astype(np.float32)), y.copy(), np.ones(200)
    parts = [matrix.data, matrix.indices, matrix.indptr] if sparse.issparse(matrix) else [matrix]
    buffers = [*parts, labels, weight]
    originals = [array.copy() for array in buffers]
    holders = [sys.getrefcount(array) for array in buffers]

    clf = clone(variant).fit(matrix, labels, sample_weight=weight)
    clf.partial_fit(matrix, labels, sample_weight=weight)
    predicted, probabilities = clf.predict(matrix), clf.predict_proba(matrix)
    for array, original in zip(buffers, originals, strict=True):
        np.testing.assert_array_equal(array, original)
    del array
    assert [sys.getrefcount(array) for array in buffers] == holders

    before = snapshot(clf)
    for array in buffers:
        array[...] = 0
    assert snapshot(clf) == before
    np.testing.assert_array_equal(clf.predict(make(X)), predicted)
    np.testing.assert_array_equal(clf.predict_proba(make(X)), probabilities)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_results_are_the_users_own(classifier):
    X, y = digits(100)
    clf = classifier(random_state=0).fit(X, y)
    before = snapshot(clf)
    for method in METHODS.values():
        result = method(clf, X, y)
        for array in result if isinstance(result, tuple) else (result,):
            if isinstance(array, np.ndarray):
                array[...] = 0
    clf.memory_by_part_.clear()
    clf.work_.clear()
    with pytest.raises(ValueError, match="read-only"):
        clf.classes_[0] = 5
    assert snapshot(clf) == before


@variants
@containers
def test_memory_is_bounded_on_a_long_stream(variant, make):
    X, y = digits(300)
    clf = clone(variant)

    def stream(n_rounds):
        for _ in range(n_rounds):
            clf.partial_fit(make(X), y)
        return clf.memory_bytes_

    short = stream(3)
    tracemalloc.start()
    long = stream(27)
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert short > 0
    assert long < 2 * short  # what is known of 10 classes does not grow with the examples
    assert kept < 100_000


@variants
@containers
def test_progressive_error_is_predicting_before_learning(variant, make):
    if getattr(variant, "negative_samples", None):
        pytest.skip("measured on a sample of the examples")
    X, y = digits(200)
    weight = np.random.default_rng(0).integers(1, 4, size=200).astype(float)
    clf = clone(variant)
    wrong = np.ones(200)
    for i in range(200):
        row = make(X[i : i + 1])
        if i > 0:
            wrong[i] = clf.predict(row)[0] != y[i]
        clf.partial_fit(row, y[i : i + 1], sample_weight=weight[i : i + 1])
    assert 0.05 < wrong.mean() < 0.95
    assert clf.progressive_error_ == pytest.approx(np.average(wrong, weights=weight))
    batch = clone(variant).partial_fit(make(X), y, sample_weight=weight)
    assert batch.progressive_error_ == clf.progressive_error_


def test_progressive_error_of_negative_sampling_is_close():
    X, y = digits(1500)
    clf = OneAgainstAllClassifier(negative_samples=3, random_state=0)
    wrong = []
    for i in range(1500):
        wrong.append(i == 0 or clf.predict(X[[i]])[0] != y[i])
        clf.partial_fit(X[[i]], y[[i]])
    assert clf.progressive_error_ == pytest.approx(np.mean(wrong), abs=0.05)


@variants
def test_progressive_error_is_of_the_first_pass(variant):
    X, y = digits(200)
    one = clone(variant).fit(X, y)
    three = clone(variant).set_params(n_passes=3).fit(X, y)
    assert three.n_iter_ == 3
    assert three._core.n_examples == 600
    assert three.progressive_error_ == one.progressive_error_


def assert_same(first, second):
    if isinstance(first, tuple):
        for a, b in zip(first, second, strict=True):
            assert_same(a, b)
    elif sparse.issparse(first):
        for name in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    else:
        np.testing.assert_array_equal(first, second)
