"""Weights of votes: A, S and B, and u for each feature."""

from __future__ import annotations

import numpy as np

from .adaptive import Adaptive

AFFINITY_SCALE, SHARE_SCALE, NODE_SCALE = 15.0, 10.0, 1.25
VOTE_RATES, KEY_RATE = np.array([1.8, 1.8, 0.045]), 0.11  # of A, S and B; of u
VOTE_OFFSET = 0.1
# A, S, B and u learn from so many examples that they have to settle: the power of their steps.
VOTE_POWER = 0.75


class VoteWeights:
    """A, S, B and u, which learn from the examples whose class the keys have found.

    Parameters
    ----------
    n_features : int
        Number of features that may be keys.

    Examples
    --------
    >>> VoteWeights(n_features=2).scales.values.tolist()
    [15.0, 10.0, 1.25]
    """

    def __init__(self, n_features):
        self.keys = Adaptive(np.ones(n_features), VOTE_OFFSET, VOTE_POWER)  # u
        scales = np.array([AFFINITY_SCALE, SHARE_SCALE, NODE_SCALE])  # A, S and B
        self.scales = Adaptive(scales, VOTE_OFFSET, VOTE_POWER)

    def gradients(self, scored, gradients, lessons):
        """Return the gradients of A, S and B, and of the weights u of the example's features.

        `lessons` names the classes that learn, `gradients` are those of the candidates.
        """
        affinities = [scored.affinity(label) for label in scored.candidates]
        node_votes = [scored.node_votes.get(label, 0.0) for label in scored.candidates]
        of_votes = dict(zip(scored.candidates, gradients, strict=True))
        lessons = {label: of_votes[label] for label in lessons}
        by_shares, by_keys = self.gradients_by_feature(scored, lessons)
        return np.array([gradients @ affinities, by_shares, gradients @ node_votes]), by_keys

    def learn(self, by_scales, by_keys, weight, rate):
        """Step on A, S and B, and on u."""
        self.keys.step(by_keys, weight, rate * KEY_RATE, where=by_keys != 0)
        self.keys.values = np.maximum(0.0, self.keys.values)
        self.scales.step(by_scales, weight, rate * VOTE_RATES)
        self.scales.values = np.maximum(0.0, self.scales.values)

    def gradients_by_feature(self, scored, lessons):
        """Return the gradients of S and u, by the classes that learn.

        The classes that have too much share what the others are short of.
        """
        too_much = sum(gradient for gradient in lessons.values() if gradient > 0)
        too_little = -sum(gradient for gradient in lessons.values() if gradient < 0)
        by_shares, by_keys = 0.0, np.zeros(len(self.keys.values))
        if too_much == 0.0 or too_little == 0.0:
            return by_shares, by_keys
        read = scored.read
        for label, gradient in lessons.items():
            lesson = gradient if gradient < 0 else gradient * too_little / too_much
            roots, inverse_norm = scored.roots(label)
            by_shares += lesson * (read.pulls @ (read.rarity * roots))
            affinities = self.scales.values[0] * inverse_norm + self.scales.values[1] * read.rarity
            by_keys += lesson * np.abs(read.values) * roots * affinities
        return by_shares, by_keys * scored.model.features_vote
