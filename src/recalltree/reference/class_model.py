"""A class of one-against-some."""

from __future__ import annotations

import numpy as np

from .adaptive import Adaptive, Memory

PREDICTOR_OFFSET = 0.03
PAIR_RATE, ROW_RATE, BIAS_RATE = 0.6, 0.1, 0.3
# A count with less than this share of the example left was all its own.
ROUNDING = 1e-3


class ClassModel:
    """Counts, linear predictor and bias of a class."""

    def __init__(self, n_features, has_dense_predictor, has_bias=True):
        self.has_dense_predictor = has_dense_predictor
        self.has_bias = has_bias
        self.examples = 0.0
        self.count = 0.0  # n_y
        self.counts = np.zeros(n_features)  # c(y, k)
        # The features it has weights for.
        self.met = np.full(n_features, has_dense_predictor)
        self.predictor = Adaptive(np.zeros(n_features), PREDICTOR_OFFSET)
        self.bias = Adaptive(np.zeros(1), PREDICTOR_OFFSET)

    @property
    def weights(self):
        """Weights of the linear predictor."""
        return self.predictor.values

    def roots(self, own):
        """Return sqrt(c(y, k)) for all features, and 1 / sqrt(n_y), less what an example added."""
        counts = self.counts - own
        counts = np.where(counts > ROUNDING * own, counts, 0.0)
        total = self.count - own.sum()
        if total <= ROUNDING * own.sum() or total <= 0:
            return np.zeros(len(counts)), 0.0
        return np.sqrt(counts), 1.0 / np.sqrt(total)

    def learn(self, values, gradient, weight, rate, l2, memory, met=None):
        """Step on the weights and the bias, and forget what `memory` does not keep.

        `met` are the features that have weights; by default those that do now.
        """
        where = (self.met if met is None else met) & (values != 0)
        if self.has_bias:
            kept = Memory(1.0, memory.accumulators)
            self.bias.step(gradient, weight, rate * BIAS_RATE, memory=kept)
        if self.has_dense_predictor:
            # Features of one spread share a rate: that of the bias.
            pace = rate * ROW_RATE * weight / np.sqrt(self.bias.accumulators + PREDICTOR_OFFSET)
            self.predictor.move(gradient * values, pace, l2, where, memory.values)
        else:
            self.predictor.step(gradient * values, weight, rate * PAIR_RATE, l2, where, memory)

    def add(self, shares, weight):
        """Count an example."""
        self.examples += weight
        self.count += weight * shares.sum()
        self.counts += weight * shares

    def fade(self, factor):
        """Let the counts lose what they lose per example."""
        self.examples *= factor
        self.count *= factor
        self.counts *= factor
