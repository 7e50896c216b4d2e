"""The features of a position in the stream: the tokens before it, one by one and together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recalltree.demo.tokens import START

#: Number of tokens that the features look back.
ORDER = 6
#: A token of which nothing is known: it has no features.
UNKNOWN = -1
#: Features are hashed to this many columns by default.
N_COLUMNS = 2**20

_ID_BITS = 20  # three ids and the kind of the feature fit into 63 bits


def histories(files: Sequence[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the tokens before each token of the files, the nearest first, and the token itself.

    Parameters
    ----------
    files : sequence of ndarray
        The token ids of each file.

    Returns
    -------
    history : ndarray of shape (n, ORDER)
    token : ndarray of shape (n,)

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.demo.features import histories
    >>> history, token = histories([np.array([7, 8]), np.array([9])])
    >>> history
    array([[0, 0, 0, 0, 0, 0],
           [7, 0, 0, 0, 0, 0],
           [0, 0, 0, 0, 0, 0]])
    >>> token
    array([7, 8, 9])
    """
    before = np.full(ORDER, START, dtype=np.int64)
    stream = np.concatenate([part for ids in files for part in (before, ids)])
    windows = sliding_window_view(stream, ORDER + 1)
    windows = windows[windows[:, -1] != START]
    return windows[:, -2::-1], windows[:, -1]


def feature_rows(history: NDArray[np.int64], n_columns: int = N_COLUMNS) -> csr_array:
    """Return the features of each history: its tokens by position, its bigram and its trigram.

    Parameters
    ----------
    history : ndarray of shape (n, ORDER)
        The token ids before a position, the nearest first, `UNKNOWN` where there are none.
    n_columns : int, default=N_COLUMNS
        Features are hashed to this many columns.

    Returns
    -------
    csr_array of shape (n, n_columns), float32
        Ones in the columns of the features: eight per row where all tokens are known.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.demo.features import UNKNOWN, feature_rows
    >>> X = feature_rows(np.array([[5, 4, 3, 2, 1, 9], [5, 4, *[UNKNOWN] * 4]]))
    >>> np.diff(X.indptr)  # two single tokens and a bigram are left of the second
    array([8, 3], dtype=int32)
    """
    token = history.astype(np.uint64)  # UNKNOWN becomes huge; its features are left out below
    bigram = token[:, 0] << np.uint64(_ID_BITS) | token[:, 1]
    trigram = bigram << np.uint64(_ID_BITS) | token[:, 2]
    parts = np.column_stack([token, bigram, trigram])
    kinds = np.arange(parts.shape[1], dtype=np.uint64)
    columns = _hash(parts << np.uint64(3) | kinds, n_columns)

    is_known = history != UNKNOWN
    known = np.column_stack([is_known, is_known[:, :2].all(axis=1), is_known[:, :3].all(axis=1)])
    indptr = np.concatenate([[0], np.cumsum(known.sum(axis=1))]).astype(np.int32)
    ones = np.ones(indptr[-1], dtype=np.float32)
    return csr_array((ones, columns[known], indptr), shape=(len(history), n_columns))


def _hash(keys: NDArray[np.uint64], n_columns: int) -> NDArray[np.int32]:
    """Spread keys over the columns (the mixing steps of splitmix64)."""
    keys = (keys ^ keys >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ keys >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return ((keys ^ keys >> np.uint64(31)) % np.uint64(n_columns)).astype(np.int32)
