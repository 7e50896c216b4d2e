"""How well a model does on rows with several labels: metrics at k, F1, recall, time."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from recalltree.label_lists import LabelLists, as_label_lists
from recalltree.metrics.f1 import DecisionCounts
from recalltree.metrics.ranking import Ranking
from recalltree.validation import Matrix, check_weights, slice_rows


class ListEvaluation:
    """Metrics of a model on rows with lists of labels, which come in batches. Nothing is learned.

    Parameters
    ----------
    clf : fitted estimator
    k : int, default=5
        The largest k of precision, recall and nDCG at k. No more than there are classes.
    threshold : float, default=0.5
        The labels whose probability is at least so large are those that F1 is measured of.

    Attributes
    ----------
    n_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree import OneAgainstSomeClassifier
    >>> from recalltree.inspection import ListEvaluation
    >>> X = np.repeat(np.eye(3), 20, axis=0)
    >>> clf = OneAgainstSomeClassifier(random_state=0).fit(X, np.repeat(["a", "b", "c"], 20))
    >>> found = ListEvaluation(clf, k=3).update(np.eye(3), [["a", "b"], ["b"], []]).as_dict()
    >>> found["n_rows"], found["precision@1"], found["recall@3"]
    (3, 0.666..., 0.666...)
    """

    def __init__(self, clf: Any, k: int = 5, threshold: float = 0.5) -> None:
        if k < 1:
            raise ValueError(f"k={k}: it must be 1 or more.")
        self.clf = clf
        self.k = min(k, len(clf.classes_))
        self.threshold = threshold
        self.n_rows = 0
        # Labels that the model does not know have ids after those it knows.
        self._n_known = len(clf.classes_)
        self._ids = {label: i for i, label in enumerate(clf.classes_.tolist())}
        self._decisions = DecisionCounts(self._n_known)
        self._n_unknown = 0
        self._sums: dict[str, float] = {}  # of metrics of rows, by weight
        self._weight = self._labelled_weight = 0.0
        self._n_labels = self._n_without = 0
        self._seconds = 0.0

    @property
    def ks(self) -> list[int]:
        """The k at which precision is measured."""
        return [k for k in (1, 3) if k < self.k] + [self.k]

    def update(self, X: Any, y: Any, sample_weight: Any = None) -> ListEvaluation:
        """Predict a batch of rows and compare with their labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        y : LabelLists, indicator of shape (n, n_labels), or n lists of labels
            Labels that the model does not know count as missed.
        sample_weight : array-like of shape (n,), default=None
            F1 counts rows without their weights.

        Returns
        -------
        self
        """
        labels = as_label_lists(y)
        weights = check_weights(sample_weight, len(labels))
        if weights is None:
            weights = np.ones(len(labels), dtype=np.float32)
        ids = [self._ids.setdefault(label, len(self._ids)) for label in labels.values.tolist()]
        truth = LabelLists(np.array(ids, dtype=np.int64), labels.offsets)
        with self.clf._reading() as twin:
            fitted, matrix, n_threads = twin._check_new(X)
            check_consistent_length(matrix, labels)
            for start, stop in twin._blocks(fitted, matrix):
                rows, part = slice_rows(matrix, start, stop), slice(start, stop)
                shape = (stop - start, len(fitted.labels))
                began = perf_counter()
                answers = fitted.core.predict_topk(rows, self.k, n_threads)[0]
                self._seconds += perf_counter() - began
                block = Matrix(matrix.values[part], rows)
                probabilities = twin._sparse_probabilities(fitted, block, n_threads, shape)
                self._add(truth[part], answers.astype(np.int64), probabilities, weights[part])
        return self

    def _add(
        self,
        truth: LabelLists,
        answers: NDArray[np.int64],
        probabilities: Any,
        weights: NDArray[np.float32],
    ) -> None:
        ranking = Ranking(truth, answers)
        found = {f"precision@{k}": ranking.precision(k) for k in self.ks}
        found[f"recall@{self.k}"] = ranking.recall(self.k)
        found[f"nDCG@{self.k}"] = ranking.ndcg(self.k)
        candidates = LabelLists(
            probabilities.indices.astype(np.int64), probabilities.indptr.astype(np.int64)
        )
        found["candidate_recall"] = _share_found(truth, candidates, len(self._ids))
        for name, values in found.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(values @ weights)
        self.n_rows += len(truth)
        self._weight += float(weights.sum(dtype=np.float64))
        self._labelled_weight += float(weights[truth.sizes > 0].sum(dtype=np.float64))
        self._n_labels += len(truth.values)
        self._n_without += int((truth.sizes == 0).sum())
        self._n_unknown += int((truth.values >= self._n_known).sum())
        self._decisions.update(
            _where(truth, truth.values < self._n_known),
            _where(candidates, probabilities.data >= self.threshold),
        )

    def as_dict(self) -> dict[str, Any]:
        """Return the results.

        Returns
        -------
        dict
            ``n_rows``; ``labels_per_row``; ``rows_without_labels``; ``precision@k`` for k of 1, 3
            and the largest, ``recall@k`` and ``nDCG@k`` for the largest, as
            ``recalltree.metrics`` has them; ``micro_f1`` and ``macro_f1`` at ``threshold``;
            ``candidate_recall``, the share of a row's labels that were among those compared,
            averaged over rows with labels; ``unknown_labels``, the share of labels that the model
            never learned; ``microseconds_per_row`` of prediction. NaN where there were no rows.
        """
        of_rows = dict(self._sums)
        recalled = of_rows.pop("candidate_recall", 0.0)
        right = 2.0 * float(self._decisions.right.sum())
        decided = int(self._decisions.true.sum() + self._decisions.predicted.sum())
        n_seen = int((self._decisions.true + self._decisions.predicted > 0).sum())
        n_seen += len(self._ids) - self._n_known
        return {
            "n_rows": self.n_rows,
            "labels_per_row": _ratio(self._n_labels, self.n_rows),
            "rows_without_labels": self._n_without,
            **{name: _ratio(value, self._weight) for name, value in of_rows.items()},
            "threshold": self.threshold,
            "micro_f1": _ratio(right, decided + self._n_unknown),
            "macro_f1": self._decisions.macro_f1(n_seen) if n_seen else np.nan,
            "candidate_recall": _ratio(recalled, self._labelled_weight),
            "unknown_labels": _ratio(self._n_unknown, self._n_labels),
            "microseconds_per_row": _ratio(1e6 * self._seconds, self.n_rows),
        }


def _ratio(value: float, total: float) -> float:
    return value / total if total else np.nan


def _where(lists: LabelLists, kept: NDArray[np.bool_]) -> LabelLists:
    """Return the lists with those of their labels that are kept."""
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return LabelLists(lists.values[kept], before[lists.offsets])


def _share_found(truth: LabelLists, answers: LabelLists, n: int) -> NDArray[np.float64]:
    """Return the share of each row's labels that are answers; 0 for a row without labels."""
    found = np.isin(truth.rows * n + truth.values, answers.rows * n + answers.values)
    hits = np.bincount(truth.rows[found], minlength=len(truth))
    return hits / np.maximum(truth.sizes, 1)
