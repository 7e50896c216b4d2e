import numpy as np
import pytest
from classifiers import VARIANTS, core_state, digits
from scipy import sparse
from sklearn.base import clone

from recalltree import OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.estimators import base
from recalltree.estimators.passes import HeldOut, hold_out

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)


def noisy(n=400):
    X, y = digits(n)
    rng = np.random.default_rng(0)
    flipped = rng.random(n) < 0.3
    return X, np.where(flipped, rng.integers(0, 10, size=n), y)


@variants
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_best_model_is_kept(variant, make, monkeypatch):
    states = []

    class Recorded(HeldOut):
        def measure(self, core):
            states.append(core.state())
            return super().measure(core)

    monkeypatch.setattr(base, "HeldOut", Recorded)
    X, y = noisy()
    clf = clone(variant).set_params(early_stopping=True, n_passes=12, validation_fraction=0.3)
    clf.fit(make(X), y)
    errors = clf.validation_errors_
    assert clf.n_iter_ == len(errors) == len(states) <= 12
    best = int(np.argmin(errors))
    assert clf.n_iter_ == 12 or len(errors) - 1 - best == 2
    for name, array in clf._core.state().items():
        np.testing.assert_array_equal(array, states[best][name], err_msg=name)


def test_errors_are_those_of_the_held_out_rows():
    X, y = noisy()
    weight = np.linspace(0, 2, 400)
    clf = RecallTreeClassifier(early_stopping=True, n_passes=3, random_state=0)
    clf.fit(X, y, sample_weight=weight)
    best = clf.validation_errors_.min()

    generator = np.random.RandomState(0)
    generator.randint(np.iinfo(np.int32).max)
    learned, aside = hold_out(np.flatnonzero(weight), 0.1, generator)
    assert len(aside) == 40
    assert sorted([*learned, *aside]) == list(range(1, 400))
    wrong = clf.predict(X[aside]) != y[aside]
    assert best == pytest.approx(np.average(wrong, weights=weight[aside]))


def test_held_out_rows_are_not_learned():
    X, _ = digits(200)
    clf = OneAgainstAllClassifier(early_stopping=True, validation_fraction=0.25, random_state=0)
    clf.fit(X, np.arange(200))
    assert clf._core.n_examples == 150
    assert clf.n_classes_seen_ == 150
    assert len(clf.classes_) == 200


def test_attribute_is_that_of_the_last_fit():
    X, y = digits(100)
    clf = RecallTreeClassifier(early_stopping=True).fit(X, y)
    assert len(clf.validation_errors_) == 1
    clf.set_params(early_stopping=False).fit(X, y)
    assert not hasattr(clf, "validation_errors_")


def test_too_few_rows():
    clf = RecallTreeClassifier(early_stopping=True)
    with pytest.raises(ValueError, match="n_samples=1, and leaves none to learn from"):
        clf.fit([[1.0]], ["a"])
    assert clf.fit([[1.0], [2.0]], ["a", "a"])._core.n_examples == 1


def test_reproducible():
    X, y = noisy()
    clf = RecallTreeClassifier(early_stopping=True, n_passes=5, random_state=3)
    assert core_state(clone(clf).fit(X, y)) == core_state(clone(clf).fit(X, y))
