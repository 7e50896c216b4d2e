"""Attributes of a fitted estimator: what it has learned so far, and what that took."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from numpy.typing import NDArray

from recalltree.estimators.fitted import Fitted
from recalltree.estimators.passes import progressive_error


class Figures:
    """Attributes that are read from the core whenever they are asked for."""

    @abstractmethod
    def _check_fitted(self) -> Fitted: ...

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels; the position of a label is its class id and its column everywhere."""
        return self._check_fitted().labels.classes

    @property
    def n_examples_(self) -> int:
        """Number of examples learned so far; in every pass each counts again."""
        return self._check_fitted().core.n_examples

    @property
    def n_classes_seen_(self) -> int:
        """Number of classes learned so far (``classes=`` may have named more)."""
        return self._check_fitted().core.n_classes_seen

    @property
    def progressive_error_(self) -> float:
        """The error of predicting each example of the first pass just before learning it."""
        return progressive_error(self._check_fitted().core)

    @property
    def progressive_curve_(self) -> NDArray[Any]:
        """Course of ``progressive_error_``: at up to 256 moments, the error so far and recently.

        An array with the fields "examples" (learned by then), "error" (so far) and "recent_error"
        (since the moment before).
        """
        fitted = self._check_fitted()
        with fitted.core.reading():
            return fitted.curve.as_array(fitted.core)

    @property
    def memory_by_part_(self) -> dict[str, int]:
        """Bytes that the model takes, by part; the table of labels is not counted."""
        return self._check_fitted().core.memory_bytes()

    @property
    def memory_bytes_(self) -> int:
        """Bytes that the model takes; the table of labels is not counted."""
        return sum(self.memory_by_part_.values())

    @property
    def work_(self) -> dict[str, int]:
        """Counts of the work done so far: linear evaluations, histogram touches, examples.

        "pair_lookups" counts how often a class was asked what it knows of a feature, "pairs_found"
        how often it had met it, "pairs_changed" how often that was changed:
        `OneAgainstSomeClassifier` alone keeps such pairs.
        """
        return self._check_fitted().core.work
