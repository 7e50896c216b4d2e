"""Rows with both: sparse features, and a dense block at their end."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

ROWS_AT_ONCE = 512


def hybrid(words: Any, embedding: Any) -> sp.csr_array:
    """Return sparse rows with a dense block at their end.

    An estimator learns both together when it is told how wide the block is:
    ``OneAgainstSomeClassifier(n_dense_features=embedding.shape[1])``.

    Parameters
    ----------
    words : sparse matrix of shape (n, n_words)
        For example what a CountVectorizer makes.
    embedding : array-like of shape (n, n_dense_features)
        Float32 is kept, everything else becomes float64.

    Returns
    -------
    csr_array of shape (n, n_words + n_dense_features)
        As ``scipy.sparse.hstack`` would make it, and quicker.

    Raises
    ------
    ValueError
        If the two differ in their number of rows.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from recalltree import hybrid
    >>> hybrid(sp.csr_array([[0, 2], [0, 0]]), [[0.5, 0.0], [1.0, 3.0]]).toarray()
    array([[0. , 2. , 0.5, 0. ],
           [0. , 0. , 1. , 3. ]])
    """
    words = sp.csr_array(words)
    dense = np.asarray(embedding)
    dtype = np.float32 if dense.dtype == np.float32 else np.float64
    if dense.ndim != 2:
        raise ValueError(f"embedding has {dense.ndim} dimensions; it must have rows and columns.")
    n, width = dense.shape
    if words.shape[0] != n:
        raise ValueError(f"words has {words.shape[0]} rows and embedding {n}; they must be equal.")
    lengths = np.diff(words.indptr).astype(np.int64)
    indptr = np.concatenate([[0], np.cumsum(lengths + width)])
    indptr = indptr.astype(np.int32 if indptr[-1] < 2**31 else np.int64)
    indices = np.empty(indptr[-1], dtype=indptr.dtype)
    values = np.empty(indptr[-1], dtype=dtype)
    of_block = np.arange(width)
    for begin in range(0, n, ROWS_AT_ONCE):  # they stay in the caches
        rows = slice(begin, min(begin + ROWS_AT_ONCE, n))
        in_block = (indptr[1:][rows, None] - width) + of_block
        indices[in_block] = words.shape[1] + of_block
        values[in_block] = dense[rows]
        given = slice(words.indptr[rows.start], words.indptr[rows.stop])
        before = width * np.repeat(np.arange(rows.start, rows.stop), lengths[rows])
        of_words = np.arange(given.start, given.stop) + before
        indices[of_words] = words.indices[given]
        values[of_words] = words.data[given]
    return sp.csr_array((values, indices, indptr), shape=(n, words.shape[1] + width))
