"""Rankings compared with labels: which of the first k answers of a row are right."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from recalltree.label_lists import LabelLists, are_label_lists, as_label_lists
from recalltree.labels import LabelTable, as_labels
from recalltree.validation import check_weights

_NO_LABEL = -1


@dataclass(frozen=True)
class Ranking:
    """The labels of n rows and their first k answers, as ids.

    Attributes
    ----------
    true : LabelLists
        Its values are ids. A label that is never an answer may have any unused id.
    answers : ndarray of shape (n, k), int64
        The best first; -1 where a row has fewer than k.
    """

    true: LabelLists
    answers: NDArray[np.int64]

    @property
    def k(self) -> int:
        """Number of answers that each row may have."""
        return int(self.answers.shape[1])

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """True for each answer that is a label of its row; a repeated answer is not."""
        answers, true = self.answers, self.true
        width = 1 + max(answers.max(initial=0), true.values.max(initial=0))
        known = np.sort(true.rows * width + true.values)
        wanted = np.arange(len(true))[:, None] * width + answers
        at = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
        hits = (known[at] == wanted) & (answers >= 0) if len(known) else answers < _NO_LABEL
        for j in range(1, self.k):
            hits[:, j] &= ~(answers[:, :j] == answers[:, j : j + 1]).any(axis=1)
        return hits

    def precision(self, k: int) -> NDArray[np.float64]:
        """Return, for each row, the share of the first k answers that are right."""
        return self.hits[:, :k].sum(axis=1) / k

    def recall(self, k: int, zero_division: float = 0.0) -> NDArray[np.float64]:
        """Return, for each row, the share of its labels that are among the first k answers."""
        return _share(self.hits[:, :k].sum(axis=1), self.true.sizes, zero_division)

    def ndcg(self, k: int, zero_division: float = 0.0) -> NDArray[np.float64]:
        """Return, for each row, its discounted gain relative to the best possible."""
        gain = (self.hits[:, :k] * discounts(k)).sum(axis=1)
        return _share(gain, self._ideal(k), zero_division)

    def propensity_scored(
        self, k: int, inverse: NDArray[np.float64], *, discounted: bool
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return, for each row, the gain of the first k answers and the best possible gain.

        Parameters
        ----------
        k : int
        inverse : ndarray
            The inverse propensity of each id.
        discounted : bool
            Whether later answers gain less, as in PSnDCG, or all gain alike, as in PSP.
        """
        n_rows = len(self.true)
        weights = discounts(k) if discounted else np.ones(k)
        scale = self._ideal(k) if discounted else np.full(n_rows, float(k))
        gains = np.where(self.hits[:, :k], inverse[self.answers[:, :k]], 0.0)
        best = np.zeros((n_rows, k))
        of_labels = inverse[self.true.values]
        order = np.lexsort((-of_labels, self.true.rows))
        place = np.arange(len(order)) - self.true.offsets[self.true.rows]
        first = place < k
        best[self.true.rows[first], place[first]] = of_labels[order][first]
        return (
            _share((gains * weights).sum(axis=1), scale, 0.0),
            _share((best * weights).sum(axis=1), scale, 0.0),
        )

    def _ideal(self, k: int) -> NDArray[np.float64]:
        """Return the discounted gain of each row when all its labels come first."""
        sums = np.concatenate([[0.0], np.cumsum(discounts(k))])
        return sums[np.minimum(self.true.sizes, k)]


def discounts(k: int) -> NDArray[np.float64]:
    """Return the weight of each of the first k answers: ``1 / log2(1 + place)``."""
    return 1.0 / np.log2(np.arange(2, k + 2))


@dataclass(frozen=True)
class Compared:
    """Labels and answers as a user gave them, checked and numbered."""

    ranking: Ranking
    labels: NDArray[Any]  # the label of each id
    k: int
    weights: NDArray[np.float32] | None

    def mean(self, values: NDArray[np.float64]) -> float:
        """Return the mean over rows, by weight."""
        return float(np.average(values, weights=self.weights)) if len(values) else float("nan")


def compare(y_true: Any, y_topk: Any, k: int | None, sample_weight: Any) -> Compared:
    """Check labels and ranked answers and give both ids of one table.

    Parameters
    ----------
    y_true : array-like of shape (n,), or anything that ``as_label_lists`` takes
    y_topk : array-like of shape (n, m), or n lists
    k : int or None
        None is m, or the length of the longest list.
    sample_weight : array-like of shape (n,) or None
    """
    true = _true_labels(y_true)
    answers, sizes, n_columns = _answers(y_topk)
    check_consistent_length(true, sizes)
    if k is None:
        k = n_columns or max(int(sizes.max(initial=1)), 1)
    most = n_columns or np.inf
    if not 1 <= k <= most:
        columns = f"y_topk has {n_columns} columns, so k is from 1 to {n_columns}."
        raise ValueError(f"k={k}: " + (columns if n_columns else "k must be 1 or more."))
    weights = check_weights(sample_weight, len(true))
    growth = LabelTable().grow()
    true_ids = growth.encode(true.values, name="y_true").astype(np.int64)
    flat = growth.encode(answers, name="y_topk").astype(np.int64)
    growth.commit()
    ids = np.full((len(true), k), _NO_LABEL, dtype=np.int64)
    rows = np.repeat(np.arange(len(sizes)), sizes)
    place = np.arange(len(flat)) - (np.cumsum(sizes) - sizes)[rows]
    first = place < k
    ids[rows[first], place[first]] = flat[first]
    numbered = LabelLists(true_ids, true.offsets, true.n_columns)
    return Compared(Ranking(numbered, ids), growth.table.classes, k, weights)


def _true_labels(y_true: Any) -> LabelLists:
    if are_label_lists(y_true):
        return as_label_lists(y_true, "y_true")
    labels = as_labels(y_true, "y_true")
    return LabelLists(labels, np.arange(len(labels) + 1))


def _answers(y_topk: Any) -> tuple[NDArray[Any], NDArray[np.int64], int | None]:
    """Return the answers of all rows, how many each row has, and the columns of an array."""
    if not isinstance(y_topk, np.ndarray) and are_label_lists(y_topk):
        lists = as_label_lists(y_topk, "y_topk")
        sizes = lists.sizes
        same = len(sizes) > 0 and bool((sizes == sizes[0]).all()) and sizes[0] > 0
        return lists.values, sizes, int(sizes[0]) if same else None
    predicted = np.asarray(y_topk)
    if predicted.ndim != 2:
        raise ValueError(
            f"y_topk has shape {predicted.shape}; it must have two dimensions: one row per "
            "example, its labels from best to worst."
        )
    n_rows, n_columns = predicted.shape
    return as_labels(predicted.ravel(), "y_topk"), np.full(n_rows, n_columns), n_columns


def _share(part: NDArray[Any], whole: NDArray[Any], zero_division: float) -> NDArray[np.float64]:
    shares = np.full(len(whole), zero_division, dtype=np.float64)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares
