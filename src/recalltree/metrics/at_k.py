"""Metrics of the first k answers: error, precision, recall and nDCG."""

from __future__ import annotations

from typing import Any

from recalltree.metrics.ranking import compare


def error_at_k(y_true: Any, y_topk: Any, k: int | None = None, sample_weight: Any = None) -> float:
    """Return the share of examples whose label is not among the first `k` predicted.

    With several labels per row, the share of a row's labels that are not among them, averaged over
    rows.

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


def recall_at_k(
    y_true: Any,
    y_topk: Any,
    k: int | None = None,
    sample_weight: Any = None,
    *,
    zero_division: float = 0.0,
) -> float:
    """Return the share of a row's labels that are among the first `k` predicted (R@k).

    Parameters
    ----------
    y_true : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
        The labels; one per row, or several as ``recalltree.label_lists.as_label_lists`` takes them.
        Labels of an indicator are the numbers of its columns.
    y_topk : array-like of shape (n, m), or n lists of labels
        Predicted labels, the best first, as ``predict_topk`` returns them.
    k : int, default=None
        How many of the m predictions to look at; None is all.
    sample_weight : array-like of shape (n,), default=None
    zero_division : float, default=0.0
        What a row without labels counts as.

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import recall_at_k
    >>> recall_at_k([3, 1], [[3, 2], [2, 1]], k=1)
    0.5
    >>> recall_at_k([["a", "b"], ["c"]], [["a", "c"], ["b", "c"]], k=2)
    0.75
    """
    compared = compare(y_true, y_topk, k, sample_weight)
    return compared.mean(compared.ranking.recall(compared.k, zero_division))


def precision_at_k(
    y_true: Any, y_topk: Any, k: int | None = None, sample_weight: Any = None
) -> float:
    """Return the share of the first `k` predicted that are labels of their row (P@k).

    Parameters
    ----------
    y_true : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
        As of :func:`recall_at_k`.
    y_topk : array-like of shape (n, m), or n lists of labels
        Predicted labels, the best first. A prediction that is missing is wrong.
    k : int, default=None
        How many of the m predictions to look at; None is all.
    sample_weight : array-like of shape (n,), default=None

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import precision_at_k
    >>> precision_at_k([["a", "b"], ["c"]], [["a", "b"], ["b", "c"]], k=2)
    0.75
    """
    compared = compare(y_true, y_topk, k, sample_weight)
    return compared.mean(compared.ranking.precision(compared.k))


def ndcg_at_k(
    y_true: Any,
    y_topk: Any,
    k: int | None = None,
    sample_weight: Any = None,
    *,
    zero_division: float = 0.0,
) -> float:
    """Return the normalised discounted cumulative gain of the first `k` predicted (nDCG@k).

    A label at place j gains ``1 / log2(1 + j)``; a row's gain is divided by the best that it could
    have.

    Parameters
    ----------
    y_true : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
        As of :func:`recall_at_k`.
    y_topk : array-like of shape (n, m), or n lists of labels
        Predicted labels, the best first.
    k : int, default=None
        How many of the m predictions to look at; None is all.
    sample_weight : array-like of shape (n,), default=None
    zero_division : float, default=0.0
        What a row without labels counts as.

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import ndcg_at_k
    >>> ndcg_at_k([["a"], ["a"]], [["a", "b"], ["b", "a"]], k=2)
    0.815...
    """
    compared = compare(y_true, y_topk, k, sample_weight)
    return compared.mean(compared.ranking.ndcg(compared.k, zero_division))
