"""Numbers that learn by AdaGrad, and the softmax whose gradients they follow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Memory(NamedTuple):
    """The share that is kept when something is learned."""

    values: float = 1.0
    accumulators: float = 1.0


class Adaptive:
    """Numbers that learn by AdaGrad: steps of rate · g / (offset + sum of g²)^power.

    A larger power than 1/2 lets them settle where there is much noise and no end of examples.

    Examples
    --------
    >>> number = Adaptive(np.zeros(1), offset=0.0)
    >>> number.step(np.array([4.0]), weight=1.0, rate=0.5)
    >>> number.values
    array([-0.5])
    """

    def __init__(self, values, offset, power=0.5):
        self.values = values
        self.accumulators = np.zeros_like(values)
        self.offset = offset
        self.power = power

    def step(self, gradient, weight, rate, l2=0.0, where=True, memory=Memory()):  # noqa: B008
        """Follow the gradient of an example of some weight, where told to."""
        where = np.broadcast_to(where, self.values.shape)
        accumulators = memory.accumulators * self.accumulators + weight * gradient**2
        self.accumulators = np.where(where, accumulators, self.accumulators)
        pace = rate * weight / (self.accumulators + self.offset) ** self.power
        self.move(gradient, pace, l2, where, memory.values)

    def move(self, gradient, pace, l2=0.0, where=True, kept=1.0):
        """Follow the gradient at a pace that is given, where told to, from what is kept."""
        kept = kept * np.maximum(0.0, 1.0 - pace * l2)
        self.values = np.where(where, self.values * kept - pace * gradient, self.values)


def softmax(scores):
    """Return the probabilities of the scores.

    Examples
    --------
    >>> softmax(np.array([0.0, np.log(3.0)])).round(2)
    array([0.25, 0.75])
    """
    powers = np.exp(scores - scores.max())
    return powers / powers.sum()
