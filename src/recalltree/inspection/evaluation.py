"""Evaluation of a model on rows: errors, recall, confusions, time."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from recalltree.inspection.tally import Tally
from recalltree.label_lists import are_label_lists
from recalltree.labels import as_labels
from recalltree.validation import check_weights, slice_rows


class Evaluation(Tally):
    """Errors of a model on rows that come in batches. Nothing is learned.

    Parameters
    ----------
    clf : fitted estimator
    k : int, default=5
        The other k of error@k, beside 1. No more than there are classes.

    Attributes
    ----------
    n_rows : int
    confusions : Counter
        How often (class id of the label, class id of the answer), of different classes, occurred.
        Only labels that the model knows. Beyond ``MAX_PAIRS`` different pairs, those seen once are
        forgotten.
    stops : ndarray of shape (depths, 2)
        By the depth at which rows stopped: their weight, and the weight of those with their label
        among the candidates. Empty for a model without a tree.

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import Evaluation
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(max_candidates=4, random_state=0).fit(X[:1500], y[:1500])
    >>> found = Evaluation(clf, k=3).update(X[1500:], y[1500:]).as_dict()
    >>> found["n_rows"], bool(found["error@3"] < found["error@1"] < 0.5)
    (297, True)
    >>> bool(1 - found["candidate_recall"] <= found["error@3"])
    True
    """

    def __init__(self, clf: Any, k: int = 5) -> None:
        super().__init__(clf, k, n_columns=2)
        # Weights of: all rows, right at 1, right at k, label among the candidates, label known.
        self._sums = dict.fromkeys(("all", "right", "right_at_k", "recalled", "known"), 0.0)

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> Evaluation:
        """Predict a batch of rows and compare with their labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        y : array-like of shape (n,)
            Labels; one that the model does not know counts as an error.
        sample_weight : array-like of shape (n,), default=None

        Returns
        -------
        self
        """
        if are_label_lists(y):
            raise ValueError("y has lists of labels, which ListEvaluation compares with answers.")
        with self.clf._reading() as twin:
            self._update(twin, X, y, sample_weight)
        return self

    def _update(self, clf: Any, X: Any, y: Any, sample_weight: Any) -> None:
        fitted, matrix, n_threads = clf._check_new(X)
        labels = as_labels(y)
        check_consistent_length(matrix, labels)
        weights = check_weights(sample_weight, len(labels))
        if weights is None:
            weights = np.ones(len(labels), dtype=np.float32)
        truth = np.array([self._ids.get(label, -1) for label in labels.tolist()], dtype=np.int64)
        self.n_rows += len(labels)
        for start, stop in clf._blocks(fitted, matrix):
            rows = slice_rows(matrix, start, stop)
            self._add_block(fitted.core, rows, truth[start:stop], weights[start:stop], n_threads)

    def _add_block(
        self,
        core: Any,
        rows: Any,
        truth: NDArray[np.int64],
        weights: NDArray[np.float32],
        n_threads: int,
    ) -> None:
        began = perf_counter()
        answers = core.predict(rows, n_threads)
        self._seconds += perf_counter() - began
        rank = _rank(core.candidates(rows, n_threads), truth)
        recalled = rank >= 0
        right = answers == truth
        known = truth >= 0
        found = {
            "all": np.ones(len(truth), dtype=bool),
            "right": right,
            "right_at_k": recalled & (rank < self.k),
            "recalled": recalled,
            "known": known,
        }
        for name, mask in found.items():
            self._sums[name] += float(weights[mask].sum(dtype=np.float64))
        self._add_to_classes(truth[known], right[known], weights[known])
        wrong = known & ~right
        self._add_confusions(truth[wrong], answers[wrong])
        self._add_stops(core, rows, [weights, weights * recalled])

    def as_dict(self) -> dict[str, Any]:
        """Return the results.

        Returns
        -------
        dict
            ``n_rows``; ``error@1`` and ``error@k``; ``candidate_recall``, the share of rows whose
            label was among those compared; ``unknown_labels``, the share of rows whose label the
            model never learned; ``microseconds_per_row`` of prediction; ``lost_in_routing`` and
            ``lost_among_candidates``, which together with ``unknown_labels`` make ``error@1``. NaN
            where there were no rows.
        """
        total = self._sums["all"]
        share = {name: value / total if total else np.nan for name, value in self._sums.items()}
        errors = {"error@1": 1.0 - share["right"]}
        if self.k > 1:
            errors[f"error@{self.k}"] = 1.0 - share["right_at_k"]
        return {
            "n_rows": self.n_rows,
            **errors,
            "candidate_recall": share["recalled"],
            "unknown_labels": 1.0 - share["known"],
            "lost_in_routing": share["known"] - share["recalled"],
            "lost_among_candidates": share["recalled"] - share["right"],
            "microseconds_per_row": 1e6 * self._seconds / self.n_rows if self.n_rows else np.nan,
        }


def _rank(candidates: Any, truth: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many candidates of each row come before the true class; -1 if it is none."""
    indptr, class_ids, scores = candidates
    sizes = np.diff(indptr)
    row = np.repeat(np.arange(len(truth)), sizes)
    is_true = class_ids == truth[row]
    place = np.full(len(truth), -1, dtype=np.int64)
    place[row[is_true]] = np.flatnonzero(is_true)
    found = place >= 0
    # As in prediction: the larger score first, of equal ones the earlier candidate.
    true_score = np.where(found, scores[place], np.nan)[row]
    before = (scores > true_score) | ((scores == true_score) & (np.arange(len(row)) < place[row]))
    rank = np.bincount(row[before], minlength=len(truth))
    return np.where(found, rank, -1)
