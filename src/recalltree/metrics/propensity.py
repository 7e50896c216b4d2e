"""Propensity-scored metrics: answers that are rare among the training rows count more.

Jain, Prabhu and Varma, "Extreme multi-label loss functions for recommendation, tagging, ranking and
other missing label applications", KDD 2016.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.label_lists import are_label_lists, as_label_lists
from recalltree.labels import as_labels
from recalltree.metrics.ranking import Compared, compare


@dataclass(frozen=True)
class InversePropensity:
    """The inverse propensity of every label: how much a right answer is worth.

    Attributes
    ----------
    values : dict
        By label.
    unseen : float
        Of a label that no training row has.
    """

    values: dict[Any, float]
    unseen: float

    @classmethod
    def from_counts(
        cls, labels: Any, counts: Any, n_rows: int, a: float = 0.55, b: float = 1.5
    ) -> InversePropensity:
        """Return the inverse propensities of labels that this many of `n_rows` rows have.

        Parameters
        ----------
        labels : array-like of shape (n_labels,)
        counts : array-like of shape (n_labels,)
        n_rows : int
        a, b : float
            As of :func:`inverse_propensity`.

        Returns
        -------
        InversePropensity

        Examples
        --------
        >>> from recalltree.metrics import InversePropensity
        >>> InversePropensity.from_counts(["a", "b"], [90, 10], n_rows=100).of(["b", "a"])
        array([2.5..., 1.4...])
        """
        if n_rows < 1:
            raise ValueError(f"n_rows={n_rows}: propensities need at least one training row.")
        # Fewer than e rows would give a negative constant, and rare labels the smallest values.
        scale = max(np.log(n_rows) - 1.0, 0.0) * (b + 1.0) ** a
        inverse = 1.0 + scale * (np.asarray(counts, dtype=np.float64) + b) ** -a
        names = np.asarray(labels).tolist()
        return cls(dict(zip(names, inverse.tolist(), strict=True)), float(1.0 + scale * b**-a))

    def of(self, labels: Any) -> NDArray[np.float64]:
        """Return the inverse propensities of labels."""
        names = np.asarray(labels).tolist()
        return np.array([self.values.get(label, self.unseen) for label in names])


def inverse_propensity(y_train: Any, a: float = 0.55, b: float = 1.5) -> InversePropensity:
    """Return the inverse propensities of labels, from those of the training rows.

    A label that ``n`` of N rows have is worth ``1 + C (n + b)^-a``, with
    ``C = (ln N - 1) (b + 1)^a``.

    Parameters
    ----------
    y_train : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
        The labels of the training rows.
    a, b : float
        The parameters A and B of Jain et al. (2016): 0.5 and 0.4 for the sets of Wikipedia, 0.6 and
        2.6 for those of Amazon, 0.55 and 1.5 for all others.

    Returns
    -------
    InversePropensity

    Examples
    --------
    >>> from recalltree.metrics import inverse_propensity
    >>> y_train = [["a"], ["a"], ["a", "b"]] * 10
    >>> inverse_propensity(y_train).of(["a", "b", "never seen"])
    array([1.59..., 2.03..., 4.18...])
    """
    lists = are_label_lists(y_train)
    values = as_label_lists(y_train, "y_train").values if lists else as_labels(y_train, "y_train")
    n_rows = y_train.shape[0] if hasattr(y_train, "shape") else len(y_train)
    labels, counts = np.unique(values, return_counts=True)
    return InversePropensity.from_counts(labels, counts, n_rows, a, b)


def ps_precision_at_k(
    y_true: Any,
    y_topk: Any,
    inverse_propensity: Any,
    k: int | None = None,
    sample_weight: Any = None,
    *,
    normalize: bool = True,
) -> float:
    """Return the propensity-scored precision of the first `k` predicted (PSP@k).

    Parameters
    ----------
    y_true : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
    y_topk : array-like of shape (n, m), or n lists of labels
        Predicted labels, the best first.
    inverse_propensity : InversePropensity, mapping or array
        What a right answer is worth, by label; an array has it for labels 0, 1, 2 and so on.
    k : int, default=None
        How many of the m predictions to look at; None is all.
    sample_weight : array-like of shape (n,), default=None
    normalize : bool, default=True
        Divide by the best possible, so that the result is between 0 and 1, as it is published.

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import ps_precision_at_k
    >>> worth = {"a": 1.0, "b": 3.0}
    >>> ps_precision_at_k([["a", "b"], ["a"]], [["a"], ["a"]], worth, k=1)
    0.5
    """
    compared = compare(y_true, y_topk, k, sample_weight)
    return _propensity_scored(compared, inverse_propensity, normalize, discounted=False)


def ps_ndcg_at_k(
    y_true: Any,
    y_topk: Any,
    inverse_propensity: Any,
    k: int | None = None,
    sample_weight: Any = None,
    *,
    normalize: bool = True,
) -> float:
    """Return the propensity-scored nDCG of the first `k` predicted (PSnDCG@k).

    Parameters
    ----------
    y_true, y_topk, inverse_propensity, k, sample_weight, normalize
        As of :func:`ps_precision_at_k`.

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import ps_ndcg_at_k
    >>> ps_ndcg_at_k([[0, 1]], [[0, 1]], [1.0, 3.0], k=2)
    0.796...
    """
    compared = compare(y_true, y_topk, k, sample_weight)
    return _propensity_scored(compared, inverse_propensity, normalize, discounted=True)


def _propensity_scored(
    compared: Compared, inverse: Any, normalize: bool, *, discounted: bool
) -> float:
    worth = _by_id(inverse, compared.labels)
    got, best = compared.ranking.propensity_scored(compared.k, worth, discounted=discounted)
    if not normalize:
        return compared.mean(got)
    most = compared.mean(best)
    return compared.mean(got) / most if most > 0 else 0.0


def _by_id(inverse: Any, labels: NDArray[Any]) -> NDArray[np.float64]:
    if isinstance(inverse, InversePropensity):
        return inverse.of(labels)
    if isinstance(inverse, Mapping):
        missing = [label for label in labels.tolist() if label not in inverse]
        if missing:
            raise ValueError(f"inverse_propensity has no value for the label {missing[0]!r}.")
        return np.array([inverse[label] for label in labels.tolist()], dtype=np.float64)
    values = np.asarray(inverse, dtype=np.float64)
    if values.ndim != 1 or labels.dtype.kind not in "iu":
        raise ValueError(
            f"inverse_propensity is an array of shape {values.shape}, which suits labels 0, 1, 2 "
            "and so on; for others give what recalltree.metrics.inverse_propensity returns."
        )
    if len(labels) and not (labels.min() >= 0 and labels.max() < len(values)):
        raise ValueError(
            f"inverse_propensity has {len(values)} values, and the labels go from {labels.min()} "
            f"to {labels.max()}."
        )
    return values[labels]
