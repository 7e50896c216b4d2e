"""Feature weightings that are applied to all rows before a program sees them, in batch.

The test rows are weighted by what the training rows say.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.preprocessing import normalize

IDF_POWER = 0.85


def plain(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the rows as they are."""
    return train, test


def tfidf(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return counts times smoothed idf, at length one: tf-idf as scikit-learn has it."""
    transformer = TfidfTransformer().fit(train)
    return _floats(transformer.transform(train)), _floats(transformer.transform(test))


def damped(train: sp.csr_array, test: sp.csr_array) -> tuple[sp.csr_array, sp.csr_array]:
    """Return log(1 + count) times idf to the power 0.85, at length one.

    It is what ``OneAgainstSomeClassifier`` computes online, here with the idf of all training rows.
    """
    document_frequency = np.bincount(train.indices, minlength=train.shape[1])
    idf = np.log((1 + train.shape[0]) / (1 + document_frequency)) ** IDF_POWER

    def weigh(rows: sp.csr_array) -> sp.csr_array:
        values = np.log1p(rows.data) * idf[rows.indices]
        weighted = sp.csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
        return _floats(normalize(weighted, copy=False))

    return weigh(train), weigh(test)


def _floats(rows: sp.csr_array) -> sp.csr_array:
    return sp.csr_array(rows, dtype=np.float32)


WEIGHTINGS: dict[str, Callable[[sp.csr_array, sp.csr_array], tuple[sp.csr_array, sp.csr_array]]] = {
    "plain": plain,
    "tfidf": tfidf,
    "damped": damped,
}
