"""Progressive validation: predict, then learn."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from recalltree.labels import as_labels
from recalltree.validation import check_weights


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
