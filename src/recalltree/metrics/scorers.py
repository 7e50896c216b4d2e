"""Scorers for scikit-learn's model selection, by the first k answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from recalltree.metrics.at_k import ndcg_at_k, precision_at_k, recall_at_k

Scorer = Callable[..., float]


def precision_at_k_scorer(k: int) -> Scorer:
    """Return a scorer of P@k, for ``scoring=`` of scikit-learn's model selection.

    Parameters
    ----------
    k : int
        At most the number of labels.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``. The estimator has ``predict_topk``; it may
        also be the last step of a pipeline or the best estimator of a search.

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.metrics import precision_at_k_scorer
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneAgainstAllClassifier(random_state=0)
    >>> scores = cross_val_score(clf, X, y, scoring=precision_at_k_scorer(1), cv=3)
    >>> bool(scores.min() > 0.8)
    True
    """
    return partial(_score, metric=precision_at_k, k=k)


def recall_at_k_scorer(k: int) -> Scorer:
    """Return a scorer of R@k; see :func:`precision_at_k_scorer`.

    Parameters
    ----------
    k : int

    Returns
    -------
    callable

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.metrics import recall_at_k_scorer
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneAgainstAllClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(recall_at_k_scorer(3)(clf, X[1000:], y[1000:]) > 0.95)
    True
    """
    return partial(_score, metric=recall_at_k, k=k)


def ndcg_at_k_scorer(k: int) -> Scorer:
    """Return a scorer of nDCG@k; see :func:`precision_at_k_scorer`.

    Parameters
    ----------
    k : int

    Returns
    -------
    callable

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from recalltree.metrics import ndcg_at_k_scorer
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneAgainstAllClassifier(random_state=0).fit(X[:1000], y[:1000])
    >>> bool(ndcg_at_k_scorer(3)(clf, X[1000:], y[1000:]) > 0.9)
    True
    """
    return partial(_score, metric=ndcg_at_k, k=k)


def _score(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    metric: Callable[..., float],
    k: int,
) -> float:
    return metric(y, _predict_topk(estimator, X, k), k, sample_weight)


def _predict_topk(estimator: Any, X: Any, k: int) -> Any:
    """Return the first k labels, looking through searches and pipelines."""
    estimator = getattr(estimator, "best_estimator_", estimator)
    if hasattr(estimator, "predict_topk"):
        return estimator.predict_topk(X, k)[0]
    if hasattr(estimator, "steps"):
        return _predict_topk(estimator[-1], estimator[:-1].transform(X), k)
    raise TypeError(
        f"{type(estimator).__name__} has no method predict_topk, which scorers of the first k "
        "labels need; the estimators of recalltree have it."
    )
