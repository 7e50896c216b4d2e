"""Losses of several labels per row, over the candidates of one-against-some, in NumPy.

Each is the gradient of a row's loss with respect to its candidates' scores. The reference learns
with them; ``core_losses`` has the same for the core, which is compiled with it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from recalltree.reference.adaptive import Adaptive, softmax
from recalltree.reference.label_loss import gradients
from recalltree.reference.marginals import MARGINAL_OFFSET, MARGINAL_RATE
from recalltree.reference.one_against_some import OneAgainstSomeReference

Loss = Callable[[np.ndarray, np.ndarray], np.ndarray]


def pick_all(scores: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """Sum of -log p over the labels: |Y| p - [in Y].

    >>> pick_all(np.zeros(4), np.array([True, True, False, False]))
    array([-0.5, -0.5,  0.5,  0.5])
    """
    return is_label.sum() * softmax(scores) - is_label if is_label.any() else 0.0 * scores


def pick_all_normalised(scores: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """Mean of -log p over the labels: p - [in Y] / |Y|."""
    return pick_all(scores, is_label) / max(1, is_label.sum())


def find_one(scores: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """Return the gradient of -log of the sum of p over the labels: one of them has to be found."""
    if not is_label.any():
        return 0.0 * scores
    p = softmax(scores)
    return p - np.where(is_label, p, 0.0) / p[is_label].sum()


def logistic(scores: np.ndarray, is_label: np.ndarray) -> np.ndarray:
    """Return the gradients of independent logistic losses."""
    return expit(scores) - is_label


#: The losses by name. The third is that of the estimator.
LOSSES: dict[str, Loss] = {
    "pick all": pick_all,
    "pick all, normalised": pick_all_normalised,
    "shared by roots": gradients,
    "find one": find_one,
    "logistic": logistic,
}


#: How long the steps of a row with n labels are, where rows have m of them; the estimator's first.
STEPS = ("sqrt(n) / m", "1", "0.7", "0.5", "0.5, several labels 0.75", "1, several labels 0.5")


class WithLoss(OneAgainstSomeReference):
    """One-against-some with another loss; logistic losses have an offset for all classes."""

    def __init__(self, n_features: int, loss: str, **parameters):
        super().__init__(n_features, **parameters)
        self.label_loss = LOSSES[loss]
        self.is_logistic = loss == "logistic"
        self.offset = Adaptive(np.zeros(1), MARGINAL_OFFSET)

    def gradients(self, scored, labels):
        is_label = np.isin(scored.candidates, labels)
        voted = ~is_label | (np.arange(len(is_label)) < scored.n_voted)
        scores = scored.scores() + self.offset.values
        of_votes = np.zeros(len(scores))
        of_votes[voted] = self.label_loss(scores[voted], is_label[voted])
        found = self.label_loss(scores, is_label)
        if self.is_logistic:
            self.offset.step(found.sum(keepdims=True), 1.0, MARGINAL_RATE)
        return dict(zip(scored.candidates, found, strict=True)), of_votes

    def probabilities_by_themselves(self, scores: np.ndarray) -> np.ndarray:
        """Return marginal probabilities of candidates."""
        return expit(scores + self.offset.values) if self.is_logistic else self.marginals(scores)
