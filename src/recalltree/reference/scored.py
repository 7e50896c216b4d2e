"""Parts of the scores of one-against-some: votes, linear predictors, biases."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Read(NamedTuple):
    """An example as keys and predictors see it, by feature."""

    shares: np.ndarray  # what it adds to counts
    z: np.ndarray  # what predictors and routers see, with a bias
    values: np.ndarray  # v
    pulls: np.ndarray  # u |v|
    rarity: np.ndarray  # 1 / sqrt(n_k)


class Scored:
    """Candidates, and what their scores are made of."""

    def __init__(self, model, read, routes, node_keys, own_labels, own):
        self.model = model
        self.read = read
        self.routes = routes
        self.node_keys = node_keys
        self.whitened = None  # the dense block as cells see it
        self.node_votes = model.forest.votes(node_keys)
        self.n_node_entries = sum(len(model.forest.labels(node)) for node, _ in node_keys)
        self.candidates: list[int] = []
        self.n_voted = 0
        self._own = own_labels, own
        self._roots: dict[int, tuple[np.ndarray, float]] = {}
        self._by_feature: dict[int, np.ndarray] = {}

    def own(self, label):
        """Return how much of the example a class has counted."""
        labels, own = self._own
        return own if label in labels else 0.0

    def roots(self, label):
        """Return sqrt(c(y, k)) for all features, and 1 / sqrt(n_y)."""
        if label not in self._roots:
            self._roots[label] = self.model.roots(label, self.read.shares, self.own(label))
        return self._roots[label]

    def affinity(self, label):
        """Return what A multiplies in the score of a class."""
        roots, inverse_norm = self.roots(label)
        return inverse_norm * (self.read.pulls @ roots)

    def by_feature(self, label):
        """Return what each feature adds to the score of a class, dense predictors aside."""
        if label not in self._by_feature:
            by_affinity, by_share, _ = self.model.scales.values
            roots, inverse_norm = self.roots(label)
            by_root = by_affinity * inverse_norm + by_share * self.read.rarity
            found = self.read.pulls * roots * by_root
            if not self.model.has_dense_predictors:
                found += self.model.classes[label].weights * self.read.z[:-1]
            self._by_feature[label] = found
        return self._by_feature[label]

    def scores(self):
        """Return vote + w · v + b for every candidate."""
        return np.array([self.score(label) for label in self.candidates])

    def score(self, label):
        """Return vote + w · v + b."""
        score = self.by_feature(label).sum() + self.model.bias(label)
        if self.model.has_dense_predictors:
            score += self.model.classes[label].weights @ self.read.z[:-1]
        if self.model.cells is not None:
            score += self.model.cells.match(label, self.whitened, self.own(label))
        return score + self.model.scales.values[2] * self.node_votes.get(label, 0.0)
