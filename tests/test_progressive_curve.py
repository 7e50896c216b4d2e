"""The record of the progressive error: bounded, and the same however the rows came."""

import copy
import pickle

import numpy as np
import pytest
from classifiers import VARIANTS, digits
from sklearn.base import clone

from recalltree import OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.estimators.progressive_curve import FIRST_STEP, MAX_POINTS


def learned_in_batches(clf, X, y, sizes):
    clf = clone(clf)
    start = 0
    for size in sizes:
        clf.partial_fit(X[start : start + size], y[start : start + size])
        start += size
    assert start == len(y)
    return clf


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_does_not_depend_on_the_batches(variant):
    X, y = digits(400)
    whole = learned_in_batches(variant, X, y, [400]).progressive_curve_
    pieces = learned_in_batches(variant, X, y, [1, 14, 2, 83, 99, 201]).progressive_curve_
    np.testing.assert_array_equal(whole, pieces)
    assert whole["examples"][-1] == 400


def test_ends_with_the_progressive_error_and_its_windows_add_up():
    X, y = digits(400)
    clf = RecallTreeClassifier(random_state=0).fit(X, y)
    curve = clf.progressive_curve_
    assert curve["error"][-1] == clf.progressive_error_
    sizes = np.diff(curve["examples"], prepend=0)
    assert np.average(curve["recent_error"], weights=sizes) == pytest.approx(curve["error"][-1])


def test_says_when_the_errors_were_made():
    # Two rows that tell the classes apart at once: everything after the first step is right.
    X, y = np.tile(np.eye(2), (200, 1)), np.tile(["a", "b"], 200)
    curve = OneAgainstAllClassifier(shuffle=False).fit(X, y).progressive_curve_
    assert curve["recent_error"][0] > 0
    assert not curve["recent_error"][1:].any()


def test_is_bounded_and_even():
    n = 3 * FIRST_STEP * MAX_POINTS
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, 3)).astype(np.float32), rng.integers(5, size=n)
    curve = RecallTreeClassifier(random_state=0).fit(X, y).progressive_curve_
    assert MAX_POINTS / 2 <= len(curve) <= MAX_POINTS
    assert set(np.diff(curve["examples"])) == {4 * FIRST_STEP}


def test_later_passes_add_nothing_and_partial_fit_goes_on():
    X, y = digits(160)
    clf = RecallTreeClassifier(n_passes=3, random_state=0).fit(X, y)
    assert clf.progressive_curve_["examples"].tolist() == list(range(16, 161, 16))
    clf.partial_fit(X, y)
    assert clf.progressive_curve_["examples"][-1] == 4 * 160


def test_a_sampled_progressive_error_makes_points_where_there_is_something_new():
    X, y = digits(400)
    clf = OneAgainstAllClassifier(negative_samples=2, random_state=0).fit(X, y)
    assert np.isfinite(clf.progressive_curve_["recent_error"]).all()


@pytest.mark.parametrize("duplicate", [copy.copy, lambda clf: pickle.loads(pickle.dumps(clf))])
def test_a_copy_goes_on_by_itself(duplicate):
    X, y = digits(200)
    clf = RecallTreeClassifier(random_state=0).partial_fit(X[:100], y[:100])
    before = clf.progressive_curve_
    other = duplicate(clf).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(clf.progressive_curve_, before)
    np.testing.assert_array_equal(
        other.progressive_curve_, clf.partial_fit(X[100:], y[100:]).progressive_curve_
    )
