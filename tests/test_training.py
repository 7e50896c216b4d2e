"""Learning from a reader is learning its rows, wherever it is interrupted."""

from itertools import islice

import numpy as np
import pytest
import scipy.sparse as sp
from batches import batches
from classifiers import VARIANTS, core_state, digits
from sklearn.base import clone

from recalltree import RecallTreeClassifier
from recalltree.training import TrainingPosition, learn_from


def run(clf, reader, **options):
    positions = list(learn_from(clf, reader, **options))
    return positions[-1]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_one_pass_is_partial_fit(variant, make):
    X, y = digits(400)
    weights = np.random.default_rng(0).integers(0, 3, size=400) / 2
    X = make(X)
    expected = clone(variant).partial_fit(X, y, sample_weight=weights)
    clf = clone(variant)
    assert run(clf, batches(X, y, weights=weights)) == TrainingPosition(0, 400)
    assert core_state(clf) == core_state(expected)
    np.testing.assert_array_equal(clf.progressive_curve_, expected.progressive_curve_)


def test_several_passes_are_those_of_fit():
    X, y = digits(400)
    y = np.sort(y)  # so that classes come in the order in which fit numbers them
    expected = RecallTreeClassifier(n_passes=3, shuffle=False, random_state=0).fit(X, y)
    clf = clone(expected)
    assert run(clf, batches(X, y)) == TrainingPosition(2, 400)
    assert core_state(clf) == core_state(expected)
    assert clf.n_iter_ == expected.n_iter_ == 3
    assert clf.progressive_error_ == expected.progressive_error_


@pytest.mark.parametrize("n_pieces", [1, 2, 4, 7])
def test_goes_on_from_any_position(n_pieces):
    X, y = digits(400)
    reader = batches(X, y)
    expected = RecallTreeClassifier(n_passes=2, random_state=0)
    run(expected, reader)
    clf = clone(expected)
    *_, position = islice(learn_from(clf, reader), n_pieces)
    run(clf, reader, start=position)
    assert core_state(clf) == core_state(expected)


def test_the_number_of_passes_can_be_given():
    X, y = digits(100)
    clf = RecallTreeClassifier(n_passes=5)
    assert run(clf, batches(X, y), n_passes=2).pass_number == 1
    assert clf._core.n_examples == 200


def test_a_start_after_the_end_learns_nothing():
    X, y = digits(100)
    clf = RecallTreeClassifier().partial_fit(X, y)
    assert list(learn_from(clf, batches(X, y), start=TrainingPosition(0, 100))) == []
    assert list(learn_from(clf, batches(X, y), start=TrainingPosition(1, 0))) == []
    assert clf._core.n_examples == 100
