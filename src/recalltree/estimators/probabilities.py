"""Scores of candidates -> probabilities over the candidates.

The candidates of many rows lie one after the other: those of row i at ``indptr[i]:indptr[i + 1]``,
at least one per row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sigmoid(scores: NDArray[Any], best: NDArray[Any], scale: float) -> Floats:
    """Return 1 / (1 + exp(-scale · score)) up to a factor that is the same for all of a row.

    The factor keeps the best of a row from vanishing: the values can be divided by their sum
    however small they are.

    Parameters
    ----------
    scores : ndarray
    best : ndarray
        For each score, the largest score of its row.
    scale : float

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import sigmoid
    >>> sigmoid(np.array([0.0, -1000.0]), np.array([0.0, 0.0]), scale=1.0)
    array([0.5, 0. ])
    >>> sigmoid(np.array([-1000.0, -1001.0]), np.array([-1000.0, -1000.0]), scale=1.0).round(3)
    array([1.   , 0.368])
    """
    scaled = scale * scores.astype(np.float64)
    factor = np.minimum(scale * best.astype(np.float64), 0.0)
    return np.exp(np.minimum(scaled, 0.0) - factor) / (1.0 + np.exp(-np.abs(scaled)))


def row_max(indptr: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return the largest value of each row."""
    return np.maximum.reduceat(values, indptr[:-1])


def row_sum(indptr: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return the sum of the values of each row."""
    return np.add.reduceat(values, indptr[:-1])


def normalise(indptr: NDArray[Any], values: Floats, scores: NDArray[Any]) -> Floats:
    """Return `values` divided by their sum in each row.

    Rounding may make the largest values of a row equal. The first of the best scores, which is the
    one that is predicted, is then made larger by the smallest possible amount: the largest
    probability of a row is always that of the predicted class.

    Parameters
    ----------
    indptr : ndarray of shape (n + 1,)
    values : ndarray of shape (nnz,)
        Not negative, and not all 0 in any row.
    scores : ndarray of shape (nnz,)
        In the order of `values`, up to rounding.

    Returns
    -------
    ndarray of shape (nnz,)
        Sums to 1 in each row.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import normalise
    >>> values = np.array([1.0, 3.0, 0.2])
    >>> normalise(np.array([0, 2, 3]), values, scores=values)
    array([0.25, 0.75, 1.  ])
    """
    lengths = np.diff(indptr)
    result = values / np.repeat(row_sum(indptr, values), lengths)
    is_best = scores == np.repeat(row_max(indptr, scores), lengths)
    positions = np.where(is_best, np.arange(len(scores)), len(scores))
    best = np.minimum.reduceat(positions, indptr[:-1])
    is_rival = result >= np.repeat(result[best], lengths)
    rivalled = row_sum(indptr, is_rival.astype(np.int64)) > 1
    largest = row_max(indptr, result)
    result[best[rivalled]] = np.nextafter(largest[rivalled], 2.0)
    return result


def marginal(numbers: tuple[float, float], shares: Floats) -> Floats:
    """Return 1 / (1 + exp(-a log p - b)): the probability of each label by itself.

    Parameters
    ----------
    numbers : tuple of float
        a and b, which the core has learned.
    shares : ndarray
        p: how a row's labels share 1.

    Returns
    -------
    ndarray

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.probabilities import marginal
    >>> marginal((1.0, 1.0), np.array([0.4, 0.4, 0.0])).round(2)
    array([0.52, 0.52, 0.  ])
    """
    slope, offset = numbers
    logs = np.log(np.maximum(shares, np.exp(-20.0)))
    result: Floats = 1.0 / (1.0 + np.exp(-slope * logs - offset))
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
    # A row that holds j of the k most frequent classes lacks at least k - j.
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
