"""F1 of predicted sets of labels, averaged over labels or over all decisions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from recalltree.label_lists import LabelLists, as_label_lists
from recalltree.labels import LabelTable
from recalltree.validation import is_sparse

_AVERAGES = ("micro", "macro")


def f1_at_threshold(
    y_true: Any,
    y_pred: Any,
    scores: Any = None,
    *,
    threshold: float = 0.5,
    average: str = "micro",
) -> float:
    """Return the F1 of the labels that a threshold leaves.

    Parameters
    ----------
    y_true : indicator of shape (n, n_labels), or n lists of labels
    y_pred : indicator or scores of shape (n, n_labels), or n lists of labels
        Predicted labels, as ``predict(X, threshold=...)`` returns them; or labels with `scores`.
    scores : array-like of the shape of `y_pred`, default=None
        The probability of each predicted label, as ``predict_topk`` returns them; those below
        `threshold` are not predicted. None: all of `y_pred` are.
    threshold : float, default=0.5
    average : {"micro", "macro"}
        Over all pairs of row and label, or the mean of the F1 of each label: of every column of an
        indicator, or of every label that `y_true` or `y_pred` has. A label that is neither true
        nor predicted anywhere has an F1 of 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from recalltree.metrics import f1_at_threshold
    >>> y_true = [["a", "b"], ["c"]]
    >>> f1_at_threshold(y_true, [["a"], ["c", "a"]])
    0.666...
    >>> f1_at_threshold(y_true, [["a", "c"], ["c", "a"]], [[0.9, 0.2], [0.8, 0.6]], average="macro")
    0.555...
    """
    if average not in _AVERAGES:
        raise ValueError(f"average={average!r}: it must be one of {', '.join(_AVERAGES)}.")
    true = as_label_lists(y_true, "y_true")
    predicted = _predicted(y_pred, scores, threshold)
    check_consistent_length(true, predicted)
    table = LabelTable()
    growth = table.grow()
    lists = [
        LabelLists(growth.encode(y.values, name=name).astype(np.int64), y.offsets, y.n_columns)
        for y, name in ((true, "y_true"), (predicted, "y_pred"))
    ]
    growth.commit()
    widths = [y.n_columns for y in lists if y.n_columns is not None]
    counts = DecisionCounts(len(table))
    counts.update(*lists)
    return counts.micro_f1() if average == "micro" else counts.macro_f1(max(widths, default=None))


class DecisionCounts:
    """Right, wrong and missing decisions of each label, over rows that come in batches.

    Parameters
    ----------
    n_labels : int
        Labels are ids below it.
    """

    def __init__(self, n_labels: int) -> None:
        self.right = np.zeros(n_labels, dtype=np.int64)
        self.predicted = np.zeros(n_labels, dtype=np.int64)
        self.true = np.zeros(n_labels, dtype=np.int64)

    def update(self, true: LabelLists, predicted: LabelLists) -> None:
        """Count the decisions of some rows."""
        n = len(self.true)
        wanted, given = (y.rows * n + y.values for y in (true, predicted))
        both = np.intersect1d(wanted, given, assume_unique=True) % max(n, 1)
        self.right += np.bincount(both, minlength=n)
        self.true += np.bincount(true.values, minlength=n)
        self.predicted += np.bincount(predicted.values, minlength=n)

    def micro_f1(self) -> float:
        """Return the F1 of all decisions together."""
        decisions = int(self.true.sum() + self.predicted.sum())
        return float(2.0 * self.right.sum() / decisions) if decisions else 0.0

    def macro_f1(self, n_labels: int | None = None) -> float:
        """Return the mean F1 of labels; None: of those that are true or predicted somewhere."""
        decisions = self.true + self.predicted
        seen = decisions > 0
        f1 = 2.0 * self.right[seen] / decisions[seen]
        divisor = seen.sum() if n_labels is None else n_labels
        return float(f1.sum() / divisor) if divisor else 0.0


def _predicted(y_pred: Any, scores: Any, threshold: float) -> LabelLists:
    if scores is None:
        return as_label_lists(_at_least(y_pred, threshold), "y_pred")
    rows = y_pred.tolist() if hasattr(y_pred, "tolist") else list(y_pred)
    values = scores.tolist() if hasattr(scores, "tolist") else list(scores)
    check_consistent_length(rows, values)
    kept = []
    for i, (labels, numbers) in enumerate(zip(rows, values, strict=True)):
        if len(labels) != len(numbers):
            raise ValueError(
                f"y_pred[{i}] has {len(labels)} labels and scores[{i}] has {len(numbers)} scores."
            )
        kept.append([lb for lb, s in zip(labels, numbers, strict=True) if s >= threshold])
    return as_label_lists(kept, "y_pred")


def _at_least(y_pred: Any, threshold: float) -> Any:
    """Return scores of shape (n, n_labels) as an indicator; anything else as it is."""
    if is_sparse(y_pred):
        if threshold <= 0:
            raise ValueError(f"threshold={threshold}: scores that are not stored are 0.")
        csr = y_pred.tocsr().copy()
        csr.data = (csr.data >= threshold).astype(np.int8)
        return csr
    if isinstance(y_pred, np.ndarray) and y_pred.ndim == 2 and y_pred.dtype.kind == "f":
        indicator: NDArray[np.bool_] = y_pred >= threshold
        return indicator
    return y_pred
