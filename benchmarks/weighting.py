"""Feature weightings that are applied to all rows before a program sees them, in batch.

The test rows are weighted by what the training rows say.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

#: Where ``OneAgainstSomeClassifier`` cuts dense features, in standard deviations.
CUT = 2.0
#: Directions with a smaller share of the largest variance are rounding.
FLAT = 1e-6

Weighting: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]


def plain(train: Any, test: Any) -> tuple[Any, Any]:
    """Return the rows as they are."""
    return train, test


def tfidf(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return counts times smoothed idf, at length one: tf-idf as scikit-learn has it."""
    transformer = TfidfTransformer().fit(train)
    return _floats(transformer.transform(train)), _floats(transformer.transform(test))


def root_idf(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return log(1 + count) times the root of 1 + log((n + 1) / (n_k + 1)), at length one.

    It is what ``OneAgainstSomeClassifier`` computes online, here with the counts of all rows.
    """
    return _weigh(train, test, np.sqrt(1.0 + _log_rarity(train)))


def damped(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return log(1 + count) times log((n + 1) / (n_k + 1)) to the power 0.85, at length one."""
    return _weigh(train, test, _log_rarity(train) ** 0.85)


def standardised(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return features less their mean, in standard deviations, cut at two of them.

    It is what ``OneAgainstSomeClassifier`` computes online for trees, here with the means of all
    rows.
    """
    mean, deviation = train.mean(axis=0), train.std(axis=0)
    deviation[deviation == 0] = 1.0

    def standardise(rows: np.ndarray) -> np.ndarray:
        return np.clip((rows - mean) / deviation, -CUT, CUT).astype(np.float32)

    return standardise(train), standardise(test)


def whitened(train: np.ndarray, test: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standardised rows in their principal directions, over variance^1/4, at length one.

    It is what ``OneAgainstSomeClassifier`` computes online for cells, here with the directions of
    all rows.
    """
    train, test = standardised(train, test)
    variances, directions = np.linalg.eigh(np.cov(train, rowvar=False).astype(np.float64))
    some = variances > FLAT * variances[-1]
    matrix = (directions[:, some] * variances[some] ** -0.25).astype(np.float32)
    return normalize(train @ matrix), normalize(test @ matrix)


def _log_rarity(train: sp.csr_array) -> np.ndarray:
    had = np.bincount(train.indices, minlength=train.shape[1])
    return np.log((1 + train.shape[0]) / (1 + had))


def _weigh(
    train: sp.csr_array, test: sp.csr_array, idf: np.ndarray
) -> tuple[sp.csr_array, sp.csr_array]:
    def weigh(rows: sp.csr_array) -> sp.csr_array:
        values = np.log1p(rows.data) * idf[rows.indices]
        weighted = sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        return _floats(normalize(weighted, copy=False))

    return weigh(train), weigh(test)


def _floats(rows: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(rows, dtype=np.float32)


OF_COUNTS: dict[str, Weighting] = {"tfidf": tfidf, "root-idf": root_idf, "damped": damped}
OF_DENSE: dict[str, Weighting] = {
    "plain": plain,
    "standardised": standardised,
    "whitened": whitened,
}
WEIGHTINGS: dict[str, Weighting] = {**OF_DENSE, **OF_COUNTS}
