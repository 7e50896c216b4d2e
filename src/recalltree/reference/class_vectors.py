"""Class vectors: what is known of each class from dense features, and its score."""

from __future__ import annotations

import numpy as np

from .adaptive import Memory
from .whitening import unit

MEAN_SCALE = 20.0  # A
# AdaGrad's steps at a rate of 1, and what keeps the first of them finite.
WEIGHT_RATE, BIAS_RATE, OFFSET = 2.5, 0.15, 0.03
# Classes with many rows know more than their mean: steps on weights grow with 1 plus the rows over
# this number, up to twice as long.
FEW_ROWS, LONGEST_STEP = 32.0, 2.0
# A mean is nothing if leaving a row out leaves less than this share of its square.
ROUNDING = 1e-6


class ClassVector:
    """A class: score(x') = A cos(x', c) + w · x' + b.

    c is the sum of the class's whitened rows; w and b are learned. The mean answers for a class
    after one row, the weights correct it where classes are confused.

    Examples
    --------
    >>> known = ClassVector(2)
    >>> known.count(np.array([1.0, 0.0]), weight=1.0)
    >>> known.score(np.array([0.6, 0.8]))
    12.0
    >>> step = known.learn(np.array([0.6, 0.8]), gradient=0.5, weight=1.0, rate=1.0)
    >>> known.score(np.array([0.6, 0.8])) < 12.0
    True
    """

    def __init__(self, n_features):
        self.sum = np.zeros(n_features)  # c
        self.weights = np.zeros(n_features)  # w
        self.bias = 0.0  # b
        self.squares = 0.0  # of the gradients
        self.rows = 0

    def score(self, x, own=0.0):
        """Return the score of a whitened row, which was counted with weight `own`."""
        return self.match(x, own) + float(self.bias)

    def match(self, x, own=0.0):
        """Return the score without the bias."""
        rest = self.sum - own * x
        if rest @ rest <= ROUNDING * (self.sum @ self.sum):
            rest = 0.0 * rest
        return float(MEAN_SCALE * (unit(rest) @ x) + self.weights @ x)

    def count(self, x, weight):
        """Add a row of the class."""
        self.sum = self.sum + weight * x
        self.rows += 1

    def learn(self, x, gradient, weight, rate, l2=0.0, memory=Memory()):  # noqa: B008
        """Step against a gradient.

        Return the step on the weights, as a multiple of the row, and the share of them that stayed.
        """
        self.squares = memory.accumulators * self.squares + weight * gradient**2
        pace = rate * weight / np.sqrt(self.squares + OFFSET)
        self.bias -= BIAS_RATE * pace * gradient
        longer = min(LONGEST_STEP, np.sqrt(1.0 + self.rows / FEW_ROWS))
        step = -WEIGHT_RATE * longer * pace * gradient
        kept = memory.values * max(0.0, 1.0 - pace * l2)
        self.weights = kept * self.weights + step * x
        return step, kept

    @property
    def combined(self):
        """The vector whose product with a row is the score without the bias."""
        return MEAN_SCALE * unit(self.sum) + self.weights
