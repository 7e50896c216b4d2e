"""Marginal probabilities of labels, from those of a softmax, which sum to 1."""

from __future__ import annotations

import numpy as np

from .adaptive import Adaptive

MARGINAL_RATE, MARGINAL_OFFSET = 0.3, 0.1
SMALLEST_LOG = -20.0


class Marginals:
    """Platt's scaling of log p, learned from predictions that were made before learning.

    Where rows have several labels, p is how they share 1. What belongs to the row with a
    probability of its own is

        P(y | x) = 1 / (1 + exp(-a log p_y - b))

    Examples
    --------
    >>> marginals = Marginals()
    >>> scores, is_label = np.array([2.0, 2.0, 0.0]), np.array([True, True, False])
    >>> for _ in range(200):
    ...     marginals.learn(marginals.gradient(scores, is_label), weight=1.0)
    >>> marginals(scores).round(1)
    array([0.9, 0.9, 0. ])
    """

    def __init__(self):
        self.numbers = Adaptive(np.array([1.0, 0.0]), MARGINAL_OFFSET)  # a and b

    def __call__(self, scores):
        """Return the marginal probabilities of the candidates of a row by their scores."""
        a, b = self.numbers.values
        return 1.0 / (1.0 + np.exp(-a * log_softmax(scores) - b))

    def gradient(self, scores, is_label):
        """Return the gradient of the logistic losses of all candidates."""
        wrong = self(scores) - is_label
        return np.array([wrong @ log_softmax(scores), wrong.sum()])

    def learn(self, gradient, weight):
        """Follow the gradient of an example."""
        self.numbers.step(gradient, weight, MARGINAL_RATE)
        self.numbers.values[0] = max(0.0, self.numbers.values[0])


def log_softmax(scores):
    """Return the logarithms of the probabilities, none of them smaller than SMALLEST_LOG."""
    if len(scores) == 0:
        return np.zeros(0)
    shifted = scores - scores.max()
    return np.maximum(SMALLEST_LOG, shifted - np.log(np.exp(shifted).sum()))
