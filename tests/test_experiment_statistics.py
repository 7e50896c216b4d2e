"""Statistics of the experiments, against known values."""

import numpy as np
import pytest
import scipy.stats
from experiment_runs import ROOT  # noqa: F401  (makes `experiments` importable)
from experiments.statistics import (
    fit_power_law,
    format_p,
    mean_and_error,
    n_minus_1_chi_squared,
)


@pytest.mark.parametrize(
    ("a", "n_a", "b", "n_b"),
    [(8, 10, 4, 15), (50, 1000, 80, 1200), (733_000, 10**6, 746_000, 10**6)],
)
def test_chi_squared_is_that_of_pearson_times_n_minus_1_over_n(a, n_a, b, n_b):
    pearson = scipy.stats.chi2_contingency([[a, n_a - a], [b, n_b - b]], correction=False)
    n = n_a + n_b
    found = n_minus_1_chi_squared(a, n_a, b, n_b)
    assert found.statistic == pytest.approx(pearson.statistic * (n - 1) / n)
    assert found.p_value == pytest.approx(scipy.stats.chi2.sf(found.statistic, 1))


def test_chi_squared_by_hand():
    # 2 of 4 against 0 of 4: (2*4 - 0*2)^2 * 7 / (4 * 4 * 2 * 6)
    assert n_minus_1_chi_squared(2, 4, 0, 4).statistic == pytest.approx(64 * 7 / 192)


def test_chi_squared_does_not_care_which_comes_first():
    assert n_minus_1_chi_squared(3, 10, 7, 12) == n_minus_1_chi_squared(7, 12, 3, 10)


@pytest.mark.parametrize("wrong", [0, 10])
def test_no_difference_where_all_are_alike(wrong):
    assert n_minus_1_chi_squared(wrong, 10, wrong, 10).p_value == 1.0


@pytest.mark.parametrize("counts", [(11, 10, 0, 10), (-1, 10, 0, 10), (0, 0, 0, 10)])
def test_impossible_counts_are_refused(counts):
    with pytest.raises(ValueError, match="no such counts"):
        n_minus_1_chi_squared(*counts)


def test_power_law_is_recovered_from_noise():
    x = np.logspace(2, 5, 20)
    noise = np.exp(np.random.default_rng(0).normal(0, 0.05, size=20))
    law = fit_power_law(x, 3 * x**0.7 * noise)
    assert law.exponent == pytest.approx(0.7, abs=3 * law.exponent_error)
    assert 0 < law.exponent_error < 0.05
    assert law(1000) == pytest.approx(3 * 1000**0.7, rel=0.1)


@pytest.mark.parametrize(("x", "y"), [([1], [1]), ([2, 2], [1, 2]), ([1, 2], [0, 1])])
def test_power_law_needs_two_positive_points(x, y):
    with pytest.raises(ValueError, match="a power law is fitted to"):
        fit_power_law(x, y)


def test_mean_and_error():
    values = [0.1, 0.2, 0.4, 0.1]
    mean, error = mean_and_error(values)
    assert mean == pytest.approx(np.mean(values))
    assert error == pytest.approx(scipy.stats.sem(values))


def test_p_values_are_written_as_the_paper_does():
    assert format_p(9e-5) == "P < 0.0001"
    assert format_p(0.034) == "P = 0.034"
