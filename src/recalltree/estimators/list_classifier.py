"""The base class of the estimators that learn rows with several labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.estimators.base import OnlineClassifier
from recalltree.estimators.examples import check_labels
from recalltree.estimators.fitted import Fitted
from recalltree.label_lists import LabelLists, are_label_lists
from recalltree.metrics.at_k import precision_at_k


class ListClassifier(OnlineClassifier):
    """Adds lists of labels; not to be used by itself.

    The first rows say whether a model has them. A single label is then a list of one.
    """

    rows_without_labels: str

    @property
    def _learns_rows_without_labels(self) -> bool:
        return self.rows_without_labels == "learn"

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        super()._fit(X, y, sample_weight)
        self._note_kind(y)

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first_pass: bool) -> None:
        is_first = not hasattr(self, "_fitted")
        super()._learn(X, y, classes, sample_weight, first_pass=first_pass)
        if is_first:
            self._note_kind(y)

    def _note_kind(self, y: Any) -> None:
        if isinstance(y, np.ndarray) and are_label_lists(y) and y.ndim == 2:
            self.dense_labels_ = True  # and so will predictions be

    def _check_labels(self, y: Any, fitted: Fitted | None) -> NDArray[Any] | LabelLists:
        labels = check_labels(y, learns_lists=True, name=type(self).__name__)
        if fitted is None or fitted.core.n_examples == 0:
            return labels
        if not fitted.has_lists and isinstance(labels, LabelLists):
            raise ValueError(
                "y has lists of labels, and this model learned one label for each row: give one, "
                "or call fit to start from scratch with lists."
            )
        if fitted.has_lists and not isinstance(labels, LabelLists):
            return LabelLists(labels, np.arange(len(labels) + 1))
        return labels

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy; of lists of labels, the precision of the best label (P@1).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        y : array-like of shape (n,), or lists of labels
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        float
        """
        if not self._check_fitted().has_lists:
            return float(super().score(X, y, sample_weight))
        return precision_at_k(y, self.predict_topk(X, k=1)[0], 1, sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
