"""The label histogram of the reference: what the core's fast one is held to in the parity tests."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalltree.reference import LabelHistogram, entropy, recall_lower_bound

LABELS = st.integers(0, 12)
WEIGHTS = st.integers(1, 40).map(lambda eighths: eighths / 8)
ARRIVALS = st.lists(st.tuples(LABELS, WEIGHTS), max_size=60)
MAX_CANDIDATES = st.integers(1, 15)


def histogram_of(arrivals):
    histogram = LabelHistogram()
    for label, weight in arrivals:
        histogram.add(label, weight)
    return histogram


@given(ARRIVALS)
def test_counts_add_up(arrivals):
    histogram = histogram_of(arrivals)
    assert histogram.total == sum(weight for _, weight in arrivals)
    assert sum(histogram.counts.values()) == histogram.total
    assert set(histogram.counts) == {label for label, _ in arrivals}


@given(ARRIVALS, MAX_CANDIDATES)
def test_candidates_have_the_largest_counts_and_ties_keep_the_order_of_arrival(arrivals, F):
    histogram = histogram_of(arrivals)
    labels = [label for label, _ in arrivals]

    def rank(label):
        count = sum(weight for other, weight in arrivals if other == label)
        return -count, labels.index(label)

    assert histogram.candidates(F) == sorted(set(labels), key=rank)[:F]


@given(ARRIVALS.filter(bool), MAX_CANDIDATES)
def test_empirical_recall_is_the_share_of_the_candidates(arrivals, F):
    histogram = histogram_of(arrivals)
    candidates = histogram.candidates(F)
    hits = sum(weight for label, weight in arrivals if label in candidates)
    assert histogram.empirical_recall(F) == hits / histogram.total
    assert (histogram.empirical_recall(F) == 1.0) == (len(histogram.counts) <= F)
    assert histogram.empirical_recall(F) <= histogram.empirical_recall(F + 1)


@given(ARRIVALS, st.sets(LABELS, max_size=4), WEIGHTS)
def test_entropy_with_more_labels_is_the_entropy_after_adding_them(arrivals, labels, weight):
    histogram = histogram_of(arrivals)
    before = dict(histogram.counts)
    expected = histogram.entropy_with(labels, weight)
    assert histogram.counts == before
    for label in labels:
        histogram.add(label, weight)
    assert histogram.entropy() == pytest.approx(expected, abs=1e-12)


@given(ARRIVALS)
def test_entropy_lies_between_certainty_and_the_uniform_distribution(arrivals):
    histogram = histogram_of(arrivals)
    assert 0.0 <= histogram.entropy() <= math.log(max(1, len(histogram.counts))) + 1e-12
    if len(histogram.counts) <= 1:
        assert histogram.entropy() == 0.0


@given(st.integers(1, 200))
def test_entropy_of_equal_counts_is_the_logarithm_of_their_number(n):
    assert entropy([2.5] * n) == pytest.approx(math.log(n), abs=1e-12)


@given(ARRIVALS.filter(bool), MAX_CANDIDATES, st.floats(0.01, 1.0))
def test_fading_changes_the_total_and_neither_shares_nor_candidates(arrivals, F, factor):
    histogram, faded = histogram_of(arrivals), histogram_of(arrivals)
    faded.fade(factor)
    assert faded.total == pytest.approx(factor * histogram.total)
    assert faded.candidates(F) == histogram.candidates(F)
    assert faded.empirical_recall(F) == pytest.approx(histogram.empirical_recall(F))
    assert faded.entropy() == pytest.approx(histogram.entropy(), abs=1e-12)


@given(st.floats(0, 1), st.floats(0.125, 1e6), st.floats(0, 10))
def test_recall_bound_is_below_the_empirical_recall_and_tightens_with_more_examples(r, m, lam):
    bound = recall_lower_bound(r, m, lam)
    assert 0.0 <= bound <= r
    assert bound <= recall_lower_bound(r, 2 * m, lam)
    assert recall_lower_bound(r, m, 0.0) == r
    assert recall_lower_bound(r, 1e15, lam) == pytest.approx(r, abs=1e-6)


def test_a_node_without_examples_has_no_recall():
    assert recall_lower_bound(1.0, 0.0, 1.0) == 0.0


def test_recall_bound_is_equation_1():
    # r - sqrt(λ r (1 - r) / m) - λ / m with r = 0.8, m = 100, λ = 2
    assert recall_lower_bound(0.8, 100.0, 2.0) == pytest.approx(0.8 - math.sqrt(0.0032) - 0.02)
