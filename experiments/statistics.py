"""Statistics of the experiments: tests of differences, fits of growth, means with their errors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats


@dataclass(frozen=True)
class Significance:
    """A statistic and the probability of one at least as large if there were no difference."""

    statistic: float
    p_value: float


def n_minus_1_chi_squared(wrong_a: int, n_a: int, wrong_b: int, n_b: int) -> Significance:
    """Compare two error rates by the N-1 chi-squared test (E. Pearson; Campbell 2007).

    Pearson's statistic of the two-by-two table times (N - 1) / N, with one degree of freedom. The
    examples of the two are taken to be independent, as the paper takes them.

    >>> found = n_minus_1_chi_squared(8, 10, 4, 15)
    >>> round(found.statistic, 3), round(found.p_value, 4)
    (6.564, 0.0104)
    """
    for name, wrong, n in (("a", wrong_a, n_a), ("b", wrong_b, n_b)):
        if not 0 <= wrong <= n or n == 0:
            raise ValueError(f"{wrong} wrong of {n} examples in {name}: there are no such counts")
    right_a, right_b = n_a - wrong_a, n_b - wrong_b
    total, wrong = n_a + n_b, wrong_a + wrong_b
    margins = float(n_a) * n_b * wrong * (total - wrong)
    if margins == 0:  # all right or all wrong: no difference to be seen
        return Significance(0.0, 1.0)
    difference = float(wrong_a) * right_b - float(wrong_b) * right_a
    statistic = difference**2 * (total - 1) / margins
    return Significance(statistic, float(stats.chi2.sf(statistic, df=1)))


@dataclass(frozen=True)
class PowerLaw:
    """y = factor * x ** exponent; the error is the standard error of the exponent."""

    exponent: float
    factor: float
    exponent_error: float

    def __call__(self, x: float) -> float:
        return self.factor * x**self.exponent


def fit_power_law(x: Sequence[float], y: Sequence[float]) -> PowerLaw:
    """Fit a power law by least squares of the logarithms.

    >>> law = fit_power_law([1, 10, 100], [3, 30, 300])
    >>> round(law.exponent, 6), round(law.factor, 6)
    (1.0, 3.0)
    """
    if len(x) != len(y) or len(set(x)) < 2:
        raise ValueError("a power law is fitted to two or more different x, with a y for each")
    if min(*x, *y) <= 0:
        raise ValueError("a power law is fitted to positive numbers")
    fit = stats.linregress(np.log(x), np.log(y))
    error = float(fit.stderr) if len(x) > 2 else 0.0
    return PowerLaw(float(fit.slope), math.exp(fit.intercept), error)


def mean_and_error(values: Sequence[float]) -> tuple[float, float | None]:
    """Return the mean and its standard error, None of a single value.

    >>> mean_and_error([1.0, 2.0, 3.0])
    (2.0, 0.577...)
    >>> mean_and_error([5.0])
    (5.0, None)
    """
    mean = float(np.mean(values))
    if len(values) < 2:
        return mean, None
    return mean, float(np.std(values, ddof=1) / math.sqrt(len(values)))


def paired_difference(lost: int, won: int, n: int) -> tuple[float, float]:
    """Return a difference of two error rates on the same rows, and its standard error.

    ``lost`` rows are wrong with the first alone, ``won`` with the second alone.

    >>> difference, error = paired_difference(lost=30, won=10, n=1000)
    >>> round(difference, 4), round(error, 4)
    (0.02, 0.0063)
    """
    if min(lost, won) < 0 or lost + won > n or n == 0:
        raise ValueError(f"{lost} and {won} of {n} rows: there are no such counts")
    difference = (lost - won) / n
    return difference, math.sqrt(max(0.0, (lost + won) / n - difference**2) / n)


def format_p(p_value: float) -> str:
    """Return a p-value as it is written.

    >>> format_p(0.25), format_p(0.00001)
    ('P = 0.25', 'P < 0.0001')
    """
    return "P < 0.0001" if p_value < 1e-4 else f"P = {p_value:.2g}"
