"""Rules of each algorithm: how many scores a row has, and how they become probabilities.

They need no scikit-learn, so that a mapped model (``mapped.py``) predicts without importing it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.estimators.fitted import Fitted
from recalltree.estimators.prediction import Predictions
from recalltree.estimators.probabilities import marginal


class OneAgainstSomeRules(Predictions):
    """A softmax over the candidates; marginal probabilities are calibrated."""

    def _link(
        self, fitted: Fitted, scores: NDArray[np.float32], best: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        return np.exp(scores.astype(np.float64) - best.astype(np.float64))

    def _marginals(
        self, fitted: Fitted, scores: NDArray[np.float32], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        return marginal(fitted.core.marginals, shares)

    def _scores_per_row(self, core: Any) -> int:
        # Cells name as many as votes do.
        return min(2 * core.max_candidates_now, core.n_classes_seen)

    def _classes_by_frequency(self, fitted: Fitted) -> NDArray[np.int64]:
        examples = np.zeros(len(fitted.labels))
        learned = fitted.core.class_examples()
        examples[: len(learned)] = learned
        return np.argsort(-examples, kind="stable")


class RecallTreeRules(Predictions):
    """Candidates of one node, each with a binary model of its own."""

    def _scores_per_row(self, core: Any) -> int:
        return core.max_candidates_now

    def _classes_by_frequency(self, fitted: Fitted) -> NDArray[np.int64]:
        seen, _ = fitted.core.histogram(0)
        unseen = np.setdiff1d(np.arange(len(fitted.labels)), seen)
        return np.concatenate([seen.astype(np.int64), unseen])


class OneAgainstAllRules(Predictions):
    """Every class is scored, as without rules."""


class LOMTreeRules(Predictions):
    """The counts of a leaf are the scores."""

    def _link(
        self, fitted: Fitted, scores: NDArray[np.float32], best: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        return scores.astype(np.float64)

    def _scores_per_row(self, core: Any) -> int:
        return min(64, super()._scores_per_row(core))  # leaves hold few of the classes

    def _classes_by_frequency(self, fitted: Fitted) -> NDArray[np.int64]:
        # Counts are kept in leaves only: the answers of the fullest leaves come first.
        tree = fitted.core.tree()
        leaves = tree["left"] < 0
        weight = np.bincount(
            tree["majority"][leaves], tree["min_count"][leaves], minlength=len(fitted.labels)
        )
        return np.argsort(-weight, kind="stable")
