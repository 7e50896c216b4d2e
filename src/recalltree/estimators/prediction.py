"""Prediction: from scores of candidates to labels, top-k, probabilities."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recalltree.estimators.fitted import Fitted
from recalltree.estimators.probabilities import (
    fill_up,
    normalise,
    row_max,
    row_sum,
    sigmoid,
)
from recalltree.losses import LOSSES
from recalltree.validation import (
    Matrix,
    check_matrix,
    count_threads,
    slice_rows,
)

#: ``predict_proba`` refuses to make a dense result of more bytes than this.
DENSE_LIMIT_BYTES = 2**30

#: About how many scores go through a link at a time: they stay in the cache of a core.
_LINKED_SCORES = 2**15

#: About how many scores are held at a time: 16 MiB as float64. Every call of a core prepares its
#: prediction again (a Recall Tree packs its nodes), which many rows must share.
_BLOCK_SCORES = 2**21


class Predictions(metaclass=ABCMeta):
    """The methods that predict. None of them changes the model."""

    n_jobs: int | None
    _fitted: Fitted

    @abstractmethod
    def _check_fitted(self) -> Fitted:
        """Return the model, or raise NotFittedError if it has learned nothing."""

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Give a twin of this estimator that stays at one moment of its model.

        Nothing is learned meanwhile, and a ``fit`` in another thread makes another model.
        """
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        if not hasattr(twin, "_fitted"):
            twin._check_fitted()
        fitted = twin._fitted
        with fitted.core.reading():
            twin._fitted = replace(fitted, labels=fitted.labels.frozen())
            yield twin

    def _check_new(self, X: Any) -> tuple[Fitted, Matrix, int]:
        """Return the model, the checked X and the number of threads; change nothing."""
        fitted = self._check_fitted()
        matrix = check_matrix(X, estimator=self, is_first=False)
        return fitted, matrix, count_threads(self.n_jobs)

    def predict(self, X: Any, threshold: float | None = None) -> Any:
        """Return the best label for each row, or the probable ones if rows have lists of labels.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        threshold : float, default=None
            The smallest marginal probability of a label that is predicted; None is 0.5. Of models
            that learned lists of labels.

        Returns
        -------
        ndarray of shape (n,), or csr_array of shape (n, n_classes)
            With lists of labels, 1 where a row has the label, columns in the order of ``classes_``:
            a dense array if y was one.
        """
        fitted, matrix, n_threads = self._check_new(X)
        if fitted.has_lists:
            return self._label_sets(fitted, matrix, n_threads, threshold)
        if threshold is not None:
            raise ValueError(
                f"threshold={threshold!r}: this model learned one label for each row and answers "
                "with one. Learn from lists of labels, or an indicator, to be answered with those "
                "above a threshold."
            )
        class_ids = fitted.core.predict(matrix.rows, n_threads)
        return fitted.labels.classes[class_ids]

    def predict_topk(self, X: Any, k: int = 5) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Return the `k` best labels for each row, the best first, and their probabilities.

        Only candidates are scored. Where there are fewer than `k`, the most frequent of the other
        classes follow with probability 0.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        k : int, default=5
            From 1 to the number of classes.

        Returns
        -------
        labels : ndarray of shape (n, k)
        probabilities : ndarray of shape (n, k)
            As ``predict_proba`` gives them: over all candidates, not only over these `k`. With
            lists of labels each is a marginal one, that the row has this label whatever others.
        """
        fitted, matrix, n_threads = self._check_new(X)
        n_classes = len(fitted.labels)
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n_classes:
            raise ValueError(
                f"k={k!r}: k must be an integer from 1 to the number of classes, {n_classes}."
            )
        class_ids, probabilities = self._best_classes(fitted, matrix, int(k), n_threads)
        return fitted.labels.classes[class_ids], probabilities

    def _best_classes(
        self, fitted: Fitted, matrix: Matrix, k: int, n_threads: int
    ) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
        """Return the ids of the `k` best classes for each row, and their probabilities."""
        class_ids = np.empty((matrix.shape[0], k), dtype=np.int32)
        probabilities = np.zeros((matrix.shape[0], k))
        with fitted.core.reading():
            for start, stop in self._blocks(fitted, matrix):
                rows = slice_rows(matrix, start, stop)
                ids, top_scores, indptr, scores = fitted.core.predict_topk(rows, k, n_threads)
                sums = self._sums_of_links(fitted, indptr, scores)
                best = np.broadcast_to(top_scores[:, :1], top_scores.shape)
                found = ids >= 0
                values = self._link(fitted, top_scores[found], best[found])
                shares = values / np.repeat(sums, found.sum(axis=1))
                values = self._by_itself(fitted, top_scores[found], shares)
                probabilities[start:stop][found] = values
                class_ids[start:stop] = ids
            if (class_ids[:, -1] < 0).any():
                class_ids = fill_up(class_ids, self._classes_by_frequency(fitted))
        return class_ids, probabilities

    def predict_proba(self, X: Any, sparse: bool = False) -> Any:
        """Return the probability of each class for each row.

        The score of each candidate goes through the link of the loss, and the results are divided
        by their sum; classes that are no candidates have probability 0. The largest probability of
        a row is that of the label that ``predict`` returns. With lists of labels, probabilities are
        marginal ones, each between 0 and 1: see ``docs/algorithm.md``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        sparse : bool, default=False
            Return a CSR array, which holds the candidates only.

        Returns
        -------
        ndarray or csr_array of shape (n, n_classes)
            Columns in the order of ``classes_``; each row sums to 1, marginal ones aside.

        Raises
        ------
        ValueError
            If a dense result would take more than ``DENSE_LIMIT_BYTES`` (1 GiB)
            of ``recalltree.estimators.prediction``.
        """
        fitted, matrix, n_threads = self._check_new(X)
        with fitted.core.reading():
            shape = (matrix.shape[0], len(fitted.labels))
            if sparse:
                return self._sparse_probabilities(fitted, matrix, n_threads, shape)
            return self._dense_probabilities(fitted, matrix, n_threads, shape)

    def _sparse_probabilities(
        self, fitted: Fitted, matrix: Matrix, n_threads: int, shape: tuple[int, int]
    ) -> Any:
        indptr, class_ids, scores = fitted.core.candidates(matrix.rows, n_threads)
        values = self._probabilities_of(fitted, indptr, scores)
        result = _csr(indptr, class_ids, values, shape)
        result.sort_indices()
        return result

    def _dense_probabilities(
        self, fitted: Fitted, matrix: Matrix, n_threads: int, shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        if 8 * shape[0] * shape[1] > DENSE_LIMIT_BYTES:
            raise ValueError(
                f"predict_proba would make a dense array of shape {shape}, "
                f"{8 * shape[0] * shape[1] / 2**30:.1f} GiB, and the limit is "
                f"{DENSE_LIMIT_BYTES / 2**30:.1f} GiB. Use predict_topk(X, k) for the best "
                "labels, predict_proba(X, sparse=True) for a CSR array, or fewer rows at a time."
            )
        dense = np.zeros(shape)
        for start, stop in self._blocks(fitted, matrix):
            rows = slice_rows(matrix, start, stop)
            indptr, class_ids, scores = fitted.core.candidates(rows, n_threads)
            row_ids = np.repeat(np.arange(start, stop), np.diff(indptr))
            dense[row_ids, class_ids] = self._probabilities_of(fitted, indptr, scores)
        return dense

    def _probabilities_of(
        self, fitted: Fitted, indptr: NDArray[np.int64], scores: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        shares = normalise(indptr, self._link_of_rows(fitted, indptr, scores), scores)
        return self._by_itself(fitted, scores, shares)

    def _label_sets(
        self, fitted: Fitted, matrix: Matrix, n_threads: int, threshold: float | None
    ) -> Any:
        least = 0.5 if threshold is None else threshold
        if isinstance(least, bool) or not isinstance(least, Real) or not 0 <= least <= 1:
            raise ValueError(f"threshold={threshold!r}: it must be a number from 0 to 1.")
        with fitted.core.reading():
            shape = (matrix.shape[0], len(fitted.labels))
            found = self._sparse_probabilities(fitted, matrix, n_threads, shape)
        found.data = (found.data >= float(least)).astype(np.int64)
        found.eliminate_zeros()
        return found.toarray() if getattr(self, "dense_labels_", False) else found

    def candidates(self, X: Any) -> Any:
        """Return the classes that are scored for each row, with their scores.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)

        Returns
        -------
        csr_array of shape (n, n_classes)
            Columns in the order of ``classes_``. What is stored for a row are its candidates, in
            their order: the most frequent first. The values are raw scores, larger is better, and
            a stored 0 is a score like any other; ``predict_proba(X, sparse=True)`` has the
            probabilities.
        """
        fitted, matrix, n_threads = self._check_new(X)
        indptr, class_ids, scores = fitted.core.candidates(matrix.rows, n_threads)
        return _csr(indptr, class_ids, scores, (matrix.shape[0], len(fitted.labels)))

    def _link(
        self, fitted: Fitted, scores: NDArray[np.float32], best: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return what becomes the probabilities when divided by the sum of its row.

        `best` is, for each score, the largest score of its row.
        """
        return sigmoid(scores, best, LOSSES[fitted.config["loss"]].link_scale)

    def _by_itself(
        self, fitted: Fitted, scores: NDArray[np.float32], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return marginal probabilities if rows have lists of labels, otherwise the shares."""
        return self._marginals(fitted, scores, shares) if fitted.has_lists else shares

    def _marginals(
        self, fitted: Fitted, scores: NDArray[np.float32], shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the probability of each label by itself: independent binary models know it."""
        return sigmoid(scores, np.zeros(1), LOSSES[fitted.config["loss"]].link_scale)

    def _link_of_rows(
        self, fitted: Fitted, indptr: NDArray[np.int64], scores: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        return self._link(fitted, scores, np.repeat(row_max(indptr, scores), np.diff(indptr)))

    def _sums_of_links(
        self, fitted: Fitted, indptr: NDArray[np.int64], scores: NDArray[np.float32]
    ) -> NDArray[np.float64]:
        """Return the sum of ``_link`` over the scores of each row."""
        n_rows = len(indptr) - 1
        sums = np.empty(n_rows)
        step = max(1, n_rows * _LINKED_SCORES // max(1, len(scores)))
        for start in range(0, n_rows, step):
            ends = indptr[start : start + step + 1]
            links = self._link_of_rows(fitted, ends - ends[0], scores[ends[0] : ends[-1]])
            sums[start : start + step] = row_sum(ends - ends[0], links)
        return sums

    def _scores_per_row(self, core: Any) -> int:
        """Return about how many candidates a row has."""
        return core.n_classes_seen

    def _classes_by_frequency(self, fitted: Fitted) -> NDArray[np.int64]:
        """Return all class ids, the most frequent first as far as that is known."""
        return np.arange(len(fitted.labels))

    def _blocks(self, fitted: Fitted, matrix: Matrix) -> Iterator[tuple[int, int]]:
        size = self._rows_of_block(fitted)
        for start in range(0, matrix.shape[0], size):
            yield start, min(start + size, matrix.shape[0])

    def _rows_of_block(self, fitted: Fitted) -> int:
        return max(1, _BLOCK_SCORES // self._scores_per_row(fitted.core))


def rows_at_once(model: Predictions) -> int:
    """Return how many rows a model gains from having at a time.

    Parameters
    ----------
    model : estimator, or mapped model

    Returns
    -------
    int

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.estimators.prediction import rows_at_once
    >>> rows_at_once(OneAgainstAllClassifier().fit([[0], [1]], ["no", "yes"]))
    1048576
    """
    return model._rows_of_block(model._check_fitted())


def _csr(
    indptr: NDArray[Any], class_ids: NDArray[Any], values: NDArray[Any], shape: tuple[int, int]
) -> Any:
    return csr_array((values, class_ids, indptr), shape=shape)
