"""Scores of candidates -> probabilities over the candidates.

The candidates of many rows lie one after the other: those of row i at ``indptr[i]:indptr[i + 1]``,
at least one per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def log_sigmoid(scores: NDArray[Any], scale: float) -> Floats:
    """Return log(1 / (1 + exp(-scale · score))), exact for scores of any size.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import log_sigmoid
    >>> np.exp(log_sigmoid(np.array([0.0, -1000.0]), scale=1.0))
    array([0.5, 0. ])
    """
    return -np.logaddexp(0.0, -scale * scores.astype(np.float64))


def log_sums(indptr: NDArray[Any], log_values: Floats) -> Floats:
    """Return, for every row, the logarithm of the sum of its values, given as logarithms.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import log_sums
    >>> np.exp(log_sums(np.array([0, 2, 3]), np.log([0.25, 0.5, 0.125])))
    array([0.75 , 0.125])
    """
    starts = indptr[:-1]
    largest = np.maximum.reduceat(log_values, starts)
    shifted = np.exp(log_values - np.repeat(largest, np.diff(indptr)))
    return largest + np.log(np.add.reduceat(shifted, starts))


def normalise(indptr: NDArray[Any], log_values: Floats, scores: NDArray[Any]) -> Floats:
    """Return values, given as logarithms, divided by their sum in each row.

    Rounding may make the largest values of a row equal. The first of the best scores, which is the
    one that is predicted, is then made larger by the smallest possible amount: the largest
    probability of a row is always that of the predicted class.

    Parameters
    ----------
    indptr : ndarray of shape (n + 1,)
    log_values : ndarray of shape (nnz,)
    scores : ndarray of shape (nnz,)
        Rising with `log_values`.

    Returns
    -------
    ndarray of shape (nnz,)
        Sums to 1 in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import normalise
    >>> values = np.array([0.25, 0.75, 0.2])
    >>> normalise(np.array([0, 2, 3]), np.log(values), values).round(6)
    array([0.25, 0.75, 1.  ])
    """
    lengths = np.diff(indptr)
    result = np.exp(log_values - np.repeat(log_sums(indptr, log_values), lengths))
    is_best = scores == np.repeat(np.maximum.reduceat(scores, indptr[:-1]), lengths)
    positions = np.where(is_best, np.arange(len(scores)), len(scores))
    best = np.minimum.reduceat(positions, indptr[:-1])
    is_rival = result >= np.repeat(result[best], lengths)
    rivalled = np.add.reduceat(is_rival.astype(np.int64), indptr[:-1]) > 1
    largest = np.maximum.reduceat(result, indptr[:-1])
    result[best[rivalled]] = np.nextafter(largest[rivalled], 2.0)
    return result


def fill_up(class_ids: NDArray[np.int32], by_frequency: NDArray[Any]) -> NDArray[np.int32]:
    """Replace each -1 in rows of distinct class ids by the most frequent class not in the row.

    Parameters
    ----------
    class_ids : ndarray of shape (n, k)
        The -1 of a row stand at its end.
    by_frequency : ndarray of shape (at least k,)
        Class ids, the most frequent first.

    Returns
    -------
    ndarray of shape (n, k)

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import fill_up
    >>> fill_up(np.array([[4, 2, 0], [2, -1, -1]], dtype=np.int32), np.array([1, 2, 0, 3]))
    array([[4, 2, 0],
           [2, 1, 0]], dtype=int32)
    """
    short = np.flatnonzero(class_ids[:, -1] < 0)
    if len(short) == 0:
        return class_ids
    n_columns = class_ids.shape[1]
    # Of the k most frequent classes, a row that holds j lacks at least k - j.
    frequent = by_frequency[:n_columns].astype(np.int32)
    filled = class_ids.copy()
    for rows in np.array_split(short, 1 + len(short) * n_columns**2 // 2**24):
        held = filled[rows]
        spare = ~(frequent[None, :, None] == held[:, None, :]).any(axis=2)
        rank = np.cumsum(spare, axis=1)
        missing = held < 0
        n_missing = missing.sum(axis=1)
        chosen = spare & (rank <= n_missing[:, None])
        held[missing] = np.broadcast_to(frequent, chosen.shape)[chosen]
        filled[rows] = held
    return filled
