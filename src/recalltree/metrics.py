"""Error and recall at k, and progressive validation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length, gen_batches

from recalltree.labels import as_labels
from recalltree.validation import check_weights


def error_at_k(y_true: Any, y_topk: Any, k: int | None = None, sample_weight: Any = None) -> float:
    """Return the share of examples whose label is not among the first `k` predicted.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The labels.
    y_topk : array-like of shape (n, m)
        Predicted labels, the best first, as ``predict_topk`` returns them.
    k : int, default=None
        How many of the m columns to look at; None is all.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import error_at_k
    >>> y_topk = [["a", "b"], ["b", "c"], ["a", "c"]]
    >>> error_at_k(["a", "c", "b"], y_topk, k=1), error_at_k(["a", "c", "b"], y_topk)
    (0.666..., 0.333...)
    """
    return 1.0 - recall_at_k(y_true, y_topk, k, sample_weight)


def recall_at_k(y_true: Any, y_topk: Any, k: int | None = None, sample_weight: Any = None) -> float:
    """Return the share of examples whose label is among the first `k` predicted.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        The labels.
    y_topk : array-like of shape (n, m)
        Predicted labels, the best first, as ``predict_topk`` returns them.
    k : int, default=None
        How many of the m columns to look at; None is all.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import recall_at_k
    >>> recall_at_k([3, 1], [[3, 2], [2, 1]], k=1)
    0.5
    """
    labels = as_labels(y_true, "y_true")
    predicted = np.asarray(y_topk)
    if predicted.ndim != 2:
        raise ValueError(
            f"y_topk has shape {predicted.shape}; it must have two dimensions: one row per "
            "example, its labels from best to worst."
        )
    check_consistent_length(labels, predicted)
    n_columns = predicted.shape[1]
    if k is None:
        k = n_columns
    if not 1 <= k <= n_columns:
        raise ValueError(f"k={k}: y_topk has {n_columns} columns, so k is from 1 to {n_columns}.")
    hits = (predicted[:, :k] == labels[:, None]).any(axis=1)
    return float(np.average(hits, weights=check_weights(sample_weight, len(labels))))


def progressive_errors(
    estimator: Any, X: Any, y: Any, *, batch_size: int = 1, sample_weight: Any = None
) -> NDArray[np.bool_]:
    """Predict each batch of rows, then learn it; return which predictions were wrong.

    Works with any classifier that has ``partial_fit``. The estimators of this package also measure
    it themselves, row by row, while they learn: ``progressive_error_``.

    Parameters
    ----------
    estimator : classifier
        Is changed: it learns the rows. The first batch counts as wrong if nothing was learned
        before.
    X : array or CSR matrix of shape (n, n_features)
    y : array-like of shape (n,)
    batch_size : int, default=1
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    ndarray of shape (n,), bool
        Its mean is the progressive error.

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.metrics import progressive_errors
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> wrong = progressive_errors(OneAgainstAllClassifier(), X, y, batch_size=100)
    >>> bool(wrong[:100].all()), bool(wrong[-100:].mean() < 0.2)
    (True, True)
    """
    labels = as_labels(y)
    weights = check_weights(sample_weight, len(labels))
    classes = np.unique(labels)
    wrong = np.ones(len(labels), dtype=bool)
    for batch in gen_batches(len(labels), batch_size):
        if hasattr(estimator, "classes_"):
            wrong[batch] = estimator.predict(X[batch]) != labels[batch]
        options = {} if weights is None else {"sample_weight": weights[batch]}
        estimator.partial_fit(X[batch], labels[batch], classes=classes, **options)
    return wrong
