"""Probabilities and the best k: over the candidates, consistent with each other."""

import numpy as np
import pytest
from classifiers import CLASSIFIERS, VARIANTS, digits
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.special import expit
from sklearn.base import clone

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.estimators import prediction
from recalltree.estimators.probabilities import fill_up, normalise, sigmoid

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)
containers = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])


@pytest.fixture
def fitted(variant, make):
    X, y = digits(400)
    names = np.array([f"digit {i}" for i in range(10)])[y]
    return clone(variant).fit(make(X[:300]), names[:300]), make(X)


@variants
@containers
def test_everything_agrees(fitted):
    clf, X = fitted
    predicted, candidates = clf.predict(X), clf.candidates(X)
    dense, in_csr = clf.predict_proba(X), clf.predict_proba(X, sparse=True)
    assert dense.shape == (400, 10)
    np.testing.assert_allclose(dense.sum(axis=1), 1, rtol=1e-12)
    assert (dense >= 0).all()
    np.testing.assert_array_equal(clf.classes_[dense.argmax(axis=1)], predicted)

    assert isinstance(in_csr, sparse.csr_array)
    assert in_csr.has_canonical_format
    np.testing.assert_array_equal(in_csr.toarray(), dense)

    assert candidates.shape == (400, 10)
    assert (np.diff(candidates.indptr) >= 1).all()
    np.testing.assert_array_equal(np.diff(candidates.indptr), np.diff(in_csr.indptr))
    for row in range(0, 400, 13):
        stored = slice(candidates.indptr[row], candidates.indptr[row + 1])
        columns, scores = candidates.indices[stored], candidates.data[stored]
        assert len(set(columns)) == len(columns)
        np.testing.assert_allclose(dense[row, columns], link(clf, scores), rtol=1e-5)

    for k in (1, 3, 10):
        labels, probabilities = clf.predict_topk(X, k=k)
        assert labels.shape == probabilities.shape == (400, k)
        np.testing.assert_array_equal(labels[:, 0], predicted)
        columns = np.searchsorted(clf.classes_, labels)
        np.testing.assert_allclose(
            probabilities, np.take_along_axis(dense, columns, axis=1), rtol=1e-5
        )
        assert (np.diff(probabilities, axis=1) <= 0).all()
        assert all(len(set(row)) == k for row in labels)


def link(clf, scores):
    """Return the probabilities of candidates as they are documented."""
    if isinstance(clf, LOMTreeClassifier):
        values = scores if scores.any() else np.ones_like(scores)
    elif isinstance(clf, OneAgainstSomeClassifier):
        values = np.exp(scores.astype(np.float64) - scores.max())
    else:
        values = expit((1 if clf.loss == "logistic" else 2) * scores.astype(np.float64))
    return values / values.sum()


def test_one_against_all_scores_every_class_seen():
    X, y = digits(100)
    clf = OneAgainstAllClassifier().partial_fit(X, y, classes=np.arange(12))
    candidates = clf.candidates(X)
    assert candidates.shape == (100, 12)
    assert (np.diff(candidates.indptr) == 10).all()
    assert candidates.indices.max() == 9


def test_recall_tree_scores_max_candidates():
    X, y = digits(300)
    clf = RecallTreeClassifier(max_candidates=3, random_state=0).fit(X, y)
    candidates = clf.candidates(X)
    assert np.diff(candidates.indptr).max() == 3
    # In candidate order: what the node counted most comes first.
    indptr, nodes = clf._core.route(recall_rows(X))
    for row in range(0, 300, 17):
        node = nodes[indptr[row + 1] - 1]
        expected = clf.tree_.candidates(node)
        found = candidates.indices[candidates.indptr[row] : candidates.indptr[row + 1]]
        assert clf.classes_[found].tolist() == expected.tolist()


def recall_rows(X):
    from recalltree._core import Rows

    return Rows.dense(X)


@pytest.mark.parametrize("classifier", [RecallTreeClassifier, LOMTreeClassifier])
def test_frequent_classes_fill_up(classifier):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = np.repeat(np.arange(6), [10, 20, 200, 40, 50, 80])
    rng.shuffle(y)
    options = {"max_candidates": 2} if classifier is RecallTreeClassifier else {}
    clf = classifier(random_state=0, **options)
    clf.partial_fit(X, y, classes=[7, 8])
    labels, probabilities = clf.predict_topk(X, k=8)
    assert all(sorted(row) == [0, 1, 2, 3, 4, 5, 7, 8] for row in labels.tolist())
    n_candidates = np.diff(clf.candidates(X).indptr)
    assert (n_candidates < 8).all()
    assert ((probabilities > 0).sum(axis=1) == n_candidates).all()
    if classifier is RecallTreeClassifier:
        by_frequency = [2, 5, 4, 3, 1, 0, 7, 8]
        for row, n in zip(labels.tolist(), n_candidates, strict=True):
            assert row[n:] == [label for label in by_frequency if label not in row[:n]]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_k_beyond_the_classes(classifier):
    X, y = digits(100)
    clf = classifier().fit(X, y)
    with pytest.raises(ValueError, match=r"k=11: .* from 1 to the number of classes, 10"):
        clf.predict_topk(X, k=11)
    with pytest.raises(ValueError, match="k=0: "):
        clf.predict_topk(X, k=0)
    assert clf.predict_topk(X)[0].shape == (100, 5)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_dense_probabilities_are_refused_when_too_large(classifier, monkeypatch):
    X, y = digits(100)
    clf = classifier().fit(X, y)
    expected = clf.predict_proba(X)
    monkeypatch.setattr(prediction, "DENSE_LIMIT_BYTES", 8 * 100 * 10)
    np.testing.assert_array_equal(clf.predict_proba(X), expected)
    monkeypatch.setattr(prediction, "DENSE_LIMIT_BYTES", 8 * 100 * 10 - 1)
    with pytest.raises(ValueError, match=r"shape \(100, 10\).*predict_topk.*sparse=True"):
        clf.predict_proba(X)
    np.testing.assert_array_equal(clf.predict_proba(X, sparse=True).toarray(), expected)
    assert clf.predict_proba(X[:99]).shape == (99, 10)


def test_limit_is_one_gibibyte():
    assert prediction.DENSE_LIMIT_BYTES == 2**30
    clf = OneAgainstAllClassifier().partial_fit([[1.0]], [0], classes=np.arange(2**20))
    assert clf.predict_proba([[1.0]]).shape == (1, 2**20)
    with pytest.raises(ValueError, match=r"shape \(129, 1048576\), 1.0 GiB"):
        clf.predict_proba(np.ones((129, 1)))
    assert clf.predict_proba(np.ones((129, 1)), sparse=True).shape == (129, 2**20)


@variants
@containers
def test_blocks_do_not_show(fitted, monkeypatch):
    clf, X = fitted
    expected = clf.predict_proba(X), *clf.predict_topk(X, k=4)
    monkeypatch.setattr(prediction, "_BLOCK_SCORES", 70)
    for a, b in zip(expected, (clf.predict_proba(X), *clf.predict_topk(X, k=4)), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_one_class(classifier):
    clf = classifier().fit([[1.0], [2.0]], ["only", "only"])
    assert clf.predict([[3.0]]).tolist() == ["only"]
    assert clf.predict_proba([[3.0]]).tolist() == [[1.0]]
    labels, probabilities = clf.predict_topk([[3.0]], k=1)
    assert (labels.tolist(), probabilities.tolist()) == ([["only"]], [[1.0]])


def test_sigmoid_of_any_size():
    scores = np.array([-1e4, -30, -1, 0, 1, 1e4])
    best = np.full(6, 1e4)
    np.testing.assert_allclose(sigmoid(scores, best, 2.0), expit(2.0 * scores), rtol=1e-12)
    for shift in (0, -100, -1e4):
        values = sigmoid(np.array([-2.0, -4.0]) + shift, np.array([-2.0, -2.0]) + shift, 1.0)
        expected = np.exp(-2) if shift else expit(-4) / expit(-2)
        assert values[1] / values[0] == pytest.approx(expected)


scores_of_rows = st.lists(
    hnp.arrays(
        np.float32,
        st.integers(1, 8),
        elements=st.floats(-1e4, 1e4, width=32) | st.sampled_from([0.0, 40.0, 50.0, -50.0]),
    ),
    min_size=1,
    max_size=10,
)


@given(scores_of_rows)
def test_normalised_rows(rows):
    lengths, best = [len(row) for row in rows], [row.max() for row in rows]
    indptr = np.cumsum([0, *lengths])
    scores = np.concatenate(rows)
    values = normalise(indptr, sigmoid(scores, np.repeat(best, lengths), 1.0), scores)
    for row, part in zip(rows, np.split(values, indptr[1:-1]), strict=True):
        assert part.sum() == pytest.approx(1, abs=1e-12)
        assert (part >= 0).all()
        # The first of the best scores has the largest probability, and alone.
        assert part.argmax() == row.argmax()
        assert (part == part.max()).sum() == 1


@given(st.data())
def test_filled_up_rows(data):
    n_classes = data.draw(st.integers(1, 7))
    k = data.draw(st.integers(1, n_classes))
    by_frequency = np.array(data.draw(st.permutations(range(n_classes))))
    rows = []
    for _ in range(data.draw(st.integers(1, 5))):
        held = data.draw(st.permutations(range(n_classes)))[: data.draw(st.integers(0, k))]
        rows.append(list(held) + [-1] * (k - len(held)))
    filled = fill_up(np.array(rows, dtype=np.int32), by_frequency)
    for row, result in zip(rows, filled.tolist(), strict=True):
        held = [label for label in row if label >= 0]
        others = [label for label in by_frequency.tolist() if label not in held]
        assert result == (held + others)[:k]


@pytest.mark.parametrize("make", [RecallTreeClassifier, OneAgainstAllClassifier])
def test_sparse_rows_score_the_same_to_the_bit_in_large_batches_and_alone(make):
    rng = np.random.default_rng(0)
    n_rows, n_features, n_classes = 8_000, 500, 200  # more than is added up at a time
    y = rng.integers(n_classes, size=n_rows)
    columns = (rng.zipf(1.3, size=(n_rows, 12)) + y[:, None] * (np.arange(12) % 3)) % n_features
    X = sparse.csr_array(
        (rng.normal(size=columns.size), (np.repeat(np.arange(n_rows), 12), columns.ravel())),
        shape=(n_rows, n_features),
    )
    clf = make(random_state=0).fit(X[:1000], y[:1000])
    together = clf.candidates(X)
    for row in range(0, n_rows, 97):
        alone = clf.candidates(X[[row]])
        scored = slice(together.indptr[row], together.indptr[row + 1])
        np.testing.assert_array_equal(alone.indices, together.indices[scored])
        np.testing.assert_array_equal(alone.data, together.data[scored])
