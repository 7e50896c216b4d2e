"""Evaluation of a model on rows with several labels: metrics at k, F1, recall, time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from recalltree.inspection.evaluation import Evaluation
from recalltree.inspection.tally import Tally
from recalltree.label_lists import LabelLists, as_label_lists
from recalltree.metrics.f1 import DecisionCounts
from recalltree.metrics.ranking import Ranking
from recalltree.validation import Matrix, check_weights, slice_rows

#: Rows with the worst results that are kept.
MAX_WORST = 100


def evaluation_for(
    clf: Any, has_lists: bool, k: int = 5, threshold: float = 0.5
) -> Evaluation | ListEvaluation:
    """Return the evaluation, still without rows, for rows with lists of labels or without."""
    return ListEvaluation(clf, k, threshold) if has_lists else Evaluation(clf, k)


class ListEvaluation(Tally):
    """Metrics of a model on rows with lists of labels, which come in batches. Nothing is learned.

    Parameters
    ----------
    clf : fitted estimator
    k : int, default=5
        The largest k of precision, recall and nDCG at k. No more than there are classes.
    threshold : float, default=0.5
        The labels whose probability is at least this large are those that F1 is measured of.

    Attributes
    ----------
    n_rows : int
    rows_by_size : Counter
        Number of rows by number of labels.
    confusions : Counter
        How often (class id of the label, class id of the answer) occurred in rows of which one
        label alone is missing: of m labels, no more than k, the first m answers hold all but one,
        and the answer is the one that is wrong. Where more are missing, it cannot be said which
        answer stands for which. Only labels that the model knows.
    stops : ndarray of shape (depths, 3)
        By the depth at which rows stopped: their weight, that of their share of labels among the
        candidates, and the weight of those with labels. Empty for a model without a tree.

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
        super().__init__(clf, k, n_columns=3)
        self.threshold = threshold
        self.rows_by_size: Counter[int] = Counter()
        # Labels that the model does not know get ids after those it knows.
        self._n_known = len(clf.classes_)
        self._decisions = DecisionCounts(self._n_known)
        self._n_unknown = 0
        self._sums: dict[str, float] = {}  # of metrics of rows, by weight
        self._weight = self._labelled_weight = 0.0
        # Weights of: all labels, among the first k answers, among the candidates, known.
        self._labels = dict.fromkeys(("all", "right", "recalled", "known"), 0.0)
        self._worst: list[_Row] = []

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
                # A class that was learned since is still unknown here.
                answers = np.where(answers < self._n_known, answers, -1).astype(np.int64)
                shares = self._add(truth[part], answers, probabilities, weights[part])
                labelled = weights[part] * (truth[part].sizes > 0)
                self._add_stops(fitted.core, rows, [weights[part], shares * labelled, labelled])
        return self

    def _add(
        self,
        truth: LabelLists,
        answers: NDArray[np.int64],
        probabilities: Any,
        weights: NDArray[np.float32],
    ) -> NDArray[np.float64]:
        """Add a block of rows; return the share of each row's labels among its candidates."""
        ranking = Ranking(truth, answers)
        found = {f"precision@{k}": ranking.precision(k) for k in self.ks}
        found[f"recall@{self.k}"] = ranking.recall(self.k)
        found[f"nDCG@{self.k}"] = ranking.ndcg(self.k)
        compared = LabelLists(
            probabilities.indices.astype(np.int64), probabilities.indptr.astype(np.int64)
        )
        is_known = compared.values < self._n_known
        recalled = self._among(truth, _where(compared, is_known))
        hits = np.bincount(truth.rows[recalled], minlength=len(truth))
        shares = hits / np.maximum(truth.sizes, 1)
        found["candidate_recall"] = shares
        for name, values in found.items():
            self._sums[name] = self._sums.get(name, 0.0) + float(values @ weights)
        self._add_worst(truth, answers, found[f"nDCG@{self.k}"])
        self.n_rows += len(truth)
        self.rows_by_size.update(truth.sizes.tolist())
        self._weight += float(weights.sum(dtype=np.float64))
        self._labelled_weight += float(weights[truth.sizes > 0].sum(dtype=np.float64))
        known = truth.values < self._n_known
        self._n_unknown += int((~known).sum())
        self._decisions.update(
            _where(truth, known),
            _where(compared, is_known & (probabilities.data >= self.threshold)),
        )
        of_labels = weights[truth.rows]
        right = self._among(truth, _as_lists(answers))
        for name, mask in {"right": right, "recalled": recalled, "known": known}.items():
            self._labels[name] += float(of_labels[mask].sum(dtype=np.float64))
        self._labels["all"] += float(of_labels.sum(dtype=np.float64))
        self._add_to_classes(truth.values[known], right[known], of_labels[known])
        self._add_replaced(ranking)
        return shares

    def _among(self, truth: LabelLists, answers: LabelLists) -> NDArray[np.bool_]:
        """Return whether each label is among the answers to its row."""
        n = len(self._ids)
        found = np.isin(truth.rows * n + truth.values, answers.rows * n + answers.values)
        return np.asarray(found)

    def _add_replaced(self, ranking: Ranking) -> None:
        """Count the answers that stand in place of the only label that is missing."""
        truth, k = ranking.true, ranking.k
        first = np.arange(k) < truth.sizes[:, None]
        hits = ranking.hits & first
        wrong = first & ~hits & (ranking.answers >= 0)
        one = (truth.sizes <= k) & (hits.sum(axis=1) == truth.sizes - 1) & wrong.any(axis=1)
        missing = ~self._among(truth, _as_lists(np.where(first, ranking.answers, -1)))
        labels = truth.values[missing & one[truth.rows]]
        known = labels < self._n_known
        self._add_confusions(labels[known], ranking.answers[wrong & one[:, None]][known])

    def _add_worst(
        self, truth: LabelLists, answers: NDArray[np.int64], results: NDArray[np.float64]
    ) -> None:
        labelled = np.flatnonzero(truth.sizes)
        order = np.lexsort((-truth.sizes[labelled], results[labelled]))[:MAX_WORST]
        self._worst += [
            _Row(float(results[i]), self.n_rows + i, truth[i].copy(), answers[i][answers[i] >= 0])
            for i in labelled[order].tolist()
        ]
        self._worst = sorted(self._worst, key=_Row.order)[:MAX_WORST]

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
        n_labels = sum(size * n for size, n in self.rows_by_size.items())
        return {
            "n_rows": self.n_rows,
            "labels_per_row": _ratio(n_labels, self.n_rows),
            "rows_without_labels": self.rows_by_size[0],
            **{name: _ratio(value, self._weight) for name, value in of_rows.items()},
            "threshold": self.threshold,
            "micro_f1": _ratio(right, decided + self._n_unknown),
            "macro_f1": self._decisions.macro_f1(n_seen) if n_seen else np.nan,
            "candidate_recall": _ratio(recalled, self._labelled_weight),
            "unknown_labels": _ratio(self._n_unknown, n_labels),
            "microseconds_per_row": _ratio(1e6 * self._seconds, self.n_rows),
        }

    def label_results(self) -> dict[str, float]:
        """Return where labels are found or lost, as shares of all labels, which add up to 1.

        Returns
        -------
        dict
            ``right``: among the first k answers; ``lost_among_candidates``: compared, but not among
            them; ``lost_in_routing``: not compared; ``unknown_labels``: never learned.
        """
        share = {name: _ratio(value, self._labels["all"]) for name, value in self._labels.items()}
        return {
            "right": share["right"],
            "lost_among_candidates": share["recalled"] - share["right"],
            "lost_in_routing": share["known"] - share["recalled"],
            "unknown_labels": 1.0 - share["known"],
        }

    def worst_rows(self, n: int = 20) -> list[dict[str, Any]]:
        """Return the rows with the lowest nDCG@k, of equal ones those with the most labels first.

        Rows without labels are none of them. No more than ``MAX_WORST`` rows are kept.

        Returns
        -------
        list of dict
            ``row``, its number among all rows, from 0; ``labels``; ``answers``, the best first;
            ``nDCG@k``.
        """
        labels = list(self._ids)
        return [
            {
                "row": row.number,
                "labels": [labels[i] for i in row.labels.tolist()],
                "answers": [labels[i] for i in row.answers.tolist()],
                f"nDCG@{self.k}": row.result,
            }
            for row in self._worst[:n]
        ]


def _ratio(value: float, total: float) -> float:
    return value / total if total else np.nan


def _where(lists: LabelLists, kept: NDArray[np.bool_]) -> LabelLists:
    """Return the lists with those of their labels that are kept."""
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    return LabelLists(lists.values[kept], before[lists.offsets])


def _as_lists(answers: NDArray[np.int64]) -> LabelLists:
    """Return ranked answers as lists; -1 is none."""
    given = answers >= 0
    return LabelLists(answers[given], np.concatenate([[0], np.cumsum(given.sum(axis=1))]))


@dataclass(frozen=True)
class _Row:
    result: float
    number: int
    labels: NDArray[np.int64]
    answers: NDArray[np.int64]

    def order(self) -> tuple[float, int, int]:
        return self.result, -len(self.labels), self.number
