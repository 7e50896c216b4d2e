"""The paper's theory as code."""

import math

import numpy as np
import pytest
from experiment_runs import ROOT  # noqa: F401  (makes `experiments` importable)
from experiments.theory import boosting, planes
from experiments.theory.proposition import (
    answers_of_one_against_all,
    path_matrix,
    path_weights,
)

from recalltree import RecallTreeClassifier


def halves(X, y):
    """Split at the middle of the first column that has two values."""
    column = 0 if len(np.unique(X[:, 0])) > 1 else 1
    return X[:, column] > 0.5


SQUARE = np.array([[0, 0], [0, 1], [1, 0], [1, 1.0]])


def test_the_theorem_as_stated_has_a_counterexample():
    """Four labels, parted perfectly by three splits: each split gains one bit."""
    last = boosting.grow(SQUARE, np.arange(4), 3, halves)[-1]
    assert (last.t, last.error, last.gamma) == (3, 0.0, pytest.approx(math.log(2)))
    assert last.bound_paper / math.log(2) == pytest.approx(2 - (1 + math.log(3)))
    assert last.error > last.bound_paper  # a negative bound of an error
    assert last.error <= last.bound_harmonic <= last.bound_safe


@pytest.fixture(scope="module")
def grown():
    random = np.random.default_rng(0)
    y = np.minimum(random.integers(40, size=600), random.integers(40, size=600))  # skewed
    X = random.normal(size=(40, 5))[y] + 0.5 * random.normal(size=(600, 5))
    return X, y, boosting.grow(X, y, 40, boosting.linear_splitter(seed=0))


def test_what_the_proof_adds_up_holds(grown):
    _, y, history = grown
    assert len(history) >= 20
    before = boosting.label_entropy(y)
    for split in history:
        assert split.error <= split.weighted_entropy + 1e-12
        assert split.weighted_entropy <= split.bound_harmonic + 1e-12
        assert split.bound_harmonic <= split.bound_safe
        assert split.share >= 1 / split.t - 1e-12  # the largest of t leaves
        assert before - split.weighted_entropy == pytest.approx(split.share * split.advantage)
        before = split.weighted_entropy


def test_weighted_entropy_and_error_are_those_of_the_leaves():
    y = np.array([0, 0, 1, 2])
    X = np.array([[0, 0], [0, 0], [0, 1], [1, 1.0]])
    (first,) = boosting.grow(X, y, 1, halves)
    two_of_three = -(2 / 3 * math.log(2 / 3) + 1 / 3 * math.log(1 / 3))
    assert first.weighted_entropy == pytest.approx(3 / 4 * two_of_three)
    assert first.error == 0.25


def test_growth_ends_with_a_leaf_of_one_label():
    history = boosting.grow(SQUARE, np.arange(4), 10, halves)
    assert len(history) == 3


def test_linear_splits_gain_more_than_random_ones(grown):
    X, y, history = grown
    random = np.random.default_rng(1)
    gains = []
    for _ in range(20):
        right = X @ random.normal(size=5) > 0
        parts = y[right], y[~right]
        after = sum(len(p) / len(y) * boosting.label_entropy(p) for p in parts)
        gains.append(boosting.label_entropy(y) - after)
    assert history[0].advantage > max(gains)


@pytest.mark.parametrize("bound_lambda", [0.0, 1.0])
def test_one_against_all_on_path_features_is_the_tree(bound_lambda):
    """The proposition: the weights of its proof give the tree's answers, row by row."""
    random = np.random.default_rng(0)
    y = random.integers(20, size=3000)
    X = random.normal(size=(20, 6))[y] + 0.4 * random.normal(size=(3000, 6))
    tree = RecallTreeClassifier(
        max_candidates=1, path_features="none", max_depth=6, bound_lambda=bound_lambda
    ).fit(X, y)
    labels, weights = path_weights(tree)
    answers = tree.predict(X)
    assert len(np.unique(answers)) > 5
    np.testing.assert_array_equal(answers_of_one_against_all(tree, X), answers)
    # The weights are linear in path(x), one predictor per label, as the proposition has it.
    scores = path_matrix(tree, X).toarray() @ weights
    np.testing.assert_array_equal(labels[scores.argmax(axis=1)], answers)
    paths = path_matrix(tree, X)
    assert (paths.toarray()[:, 0] == 1).all()  # the root
    stops_inside = ~tree.tree_.is_leaf[paths.indices[paths.indptr[1:] - 1]]
    assert stops_inside.any()  # where the weights of the proof, 1 each, would not do


@pytest.mark.parametrize("distribution", planes.DISTRIBUTIONS)
def test_planes_have_all_classes_and_maps_keep_them(distribution):
    points = planes.grid()
    labels = planes.label(distribution, points)
    assert set(labels) == set(range(planes.N_CLASSES))
    rows = planes.as_map(labels)
    np.testing.assert_array_equal(planes.from_map(rows).ravel(), labels)


def test_cells_are_rectangles():
    labels = planes.from_map(planes.as_map(planes.label("axis-parallel", planes.grid())))
    for value in range(planes.N_CLASSES):
        rows, columns = np.nonzero(labels == value)
        area = (np.ptp(rows) + 1) * (np.ptp(columns) + 1)
        assert area == len(rows)
