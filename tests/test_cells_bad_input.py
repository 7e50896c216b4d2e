"""Whatever dense rows hold, cells answer with finite scores, and what they keep is finite."""

import numpy as np
import pytest
from cells import CELLS, mixture, rows_for
from sklearn.base import clone

from recalltree import OneAgainstSomeClassifier

LARGEST = np.finfo(np.float32).max


def constant(X):
    X[:, ::2] = 3.0
    return X


def all_constant(X):
    X[:] = 7.5
    return X


def nearly_constant(X):
    X[:, ::2] = 1e6 + 1e-3 * X[:, ::2]
    return X


def duplicated(X):
    X[:] = X[:3].repeat(-(-len(X) // 3), axis=0)[: len(X)]
    return X


def zero_rows(X):
    X[::3] = 0
    return X


def zeros(X):
    X[:] = 0
    return X


def scaled(factor):
    def change(X):
        return np.clip(X * factor, -LARGEST, LARGEST)

    change.__name__ = f"times {factor:g}"
    return change


def mixed_scales(X):
    return np.clip(X * np.geomspace(1e-38, 1e37, X.shape[1]), -LARGEST, LARGEST)


def one_far_row(X):
    X[len(X) // 2] = LARGEST
    return X


KINDS = [
    constant,
    all_constant,
    nearly_constant,
    duplicated,
    zero_rows,
    zeros,
    mixed_scales,
    one_far_row,
    *map(scaled, (1e-45, 1e-38, 1e-20, 1e-4, 1e4, 1e18, 1e38)),
]


def is_finite_everywhere(clf, X):
    """Check answers to rows, and everything that is kept."""
    probabilities = clf.predict_proba(X)
    assert np.isfinite(probabilities).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-5)
    assert np.isfinite(clf.candidates(X).data).all()
    for name, array in clf._core.state().items():
        assert array.dtype.kind != "f" or np.isfinite(array).all(), name


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", CELLS)
def test_answers_are_finite(name, kind):
    X, y = mixture(400, n_classes=20)
    clf = clone(CELLS[name]).set_params(n_passes=2)
    strange, usual = rows_for(clf, kind(X.astype(np.float64)).astype(np.float32)), rows_for(clf, X)
    clf.fit(strange, y)
    is_finite_everywhere(clf, strange)
    is_finite_everywhere(clf, usual)
    # Later rows may be of another kind.
    clf.partial_fit(usual, y)
    is_finite_everywhere(clf, strange)
    other = clone(clf).fit(usual, y).partial_fit(strange, y)
    is_finite_everywhere(other, usual)
    assert np.isfinite(other.explain(strange[:1]).candidates[0].score)


@pytest.mark.parametrize("n_rows", [1, 2, 7, 8, 9])
@pytest.mark.parametrize("n_features", [1, 2, 17, 200])
def test_few_rows_of_any_width(n_rows, n_features):
    X = np.random.default_rng(n_rows).normal(size=(n_rows, n_features))
    y = np.arange(n_rows) // 2
    clf = OneAgainstSomeClassifier(keys="cells").partial_fit(X, y, classes=[0, 1, 2, 3, 4])
    is_finite_everywhere(clf, X)
    if n_features > 2:
        assert (clf.predict(X) == y).mean() >= 0.5


def test_one_class():
    X, _ = mixture(300)
    clf = OneAgainstSomeClassifier(keys="cells").fit(X, np.zeros(300, dtype=int))
    is_finite_everywhere(clf, X)
    assert (clf.predict_proba(X) == 1).all()


def test_fewer_rows_than_features():
    X, y = mixture(120, n_classes=10, n_features=700)
    clf = OneAgainstSomeClassifier(keys="cells").fit(X, y)
    is_finite_everywhere(clf, X)
    assert (clf.predict(X) == y).all()


@pytest.mark.parametrize("n_features", [1024, 1025, 4000, 16_384])
def test_wide_rows(n_features):
    """Above 1,024 features the whitening works by blocks."""
    X, y = mixture(200, n_classes=10, n_features=n_features)
    clf = OneAgainstSomeClassifier(keys="cells").fit(X, y)
    is_finite_everywhere(clf, X)
    more, labels = mixture(50, n_classes=10, n_features=n_features, seed=1)
    assert (clf.predict(more) == labels).all()


@pytest.mark.parametrize("weight", [1e-30, 1e-3, 1e3, 1e30])
def test_weights_of_rows(weight):
    X, y = mixture(400, n_classes=20)
    clf = OneAgainstSomeClassifier(keys="cells", n_passes=2)
    clf.fit(X, y, sample_weight=np.full(400, weight))
    is_finite_everywhere(clf, X)


def test_counts_that_fade_for_a_long_time():
    """Units of counts are changed many times, also while the first rows are still kept."""
    X, y = mixture(3000, n_classes=20)
    clf = OneAgainstSomeClassifier(keys="cells", count_decay=2.0).fit(X, y)
    is_finite_everywhere(clf, X)
    assert clf.score(X[-100:], y[-100:]) > 0.9
