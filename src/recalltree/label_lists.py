"""Labels of rows that may have several, one or none: flat labels and offsets."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.labels import as_labels
from recalltree.validation import is_sparse

_LISTS = (list, tuple, set, frozenset, np.ndarray)


@dataclass(frozen=True)
class LabelLists:
    """The labels of n rows.

    Attributes
    ----------
    values : ndarray
        Labels of all rows, row after row; a row has each label at most once.
    offsets : ndarray of shape (n + 1,), int64
        Row i has ``values[offsets[i]:offsets[i + 1]]``, which may be empty.
    n_columns : int or None
        The width of the indicator matrix that the lists were made of; labels are then numbers of
        columns.

    Examples
    --------
    >>> from recalltree.label_lists import as_label_lists
    >>> lists = as_label_lists([["cat", "pet"], [], ["dog"]])
    >>> lists.values, lists.offsets
    (array(['cat', 'pet', 'dog'], dtype=object), array([0, 2, 2, 3]))
    >>> lists[1:].tolist()
    [[], ['dog']]
    """

    values: NDArray[Any]
    offsets: NDArray[np.int64]
    n_columns: int | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, rows: Any) -> Any:
        """Return the labels of one row, or the lists of several (slice, mask, index array)."""
        offsets = self.offsets
        if isinstance(rows, slice) and rows.step in (None, 1):
            start, stop, _ = rows.indices(len(self))
            kept = offsets[start : max(start, stop) + 1]
            return LabelLists(self.values[kept[0] : kept[-1]], kept - kept[0], self.n_columns)
        numbers = np.arange(len(self))[rows]
        if numbers.ndim == 0:
            return self.values[offsets[numbers] : offsets[numbers + 1]]
        sizes = self.sizes[numbers]
        chosen = _offsets(sizes)
        shift = np.repeat(offsets[numbers] - chosen[:-1], sizes)
        return LabelLists(self.values[np.arange(chosen[-1]) + shift], chosen, self.n_columns)

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of labels of each row."""
        return np.diff(self.offsets)

    @property
    def rows(self) -> NDArray[np.int64]:
        """The row of each label."""
        return np.repeat(np.arange(len(self)), self.sizes)

    def tolist(self) -> list[list[Any]]:
        """Return the lists as Python's."""
        flat, ends = self.values.tolist(), self.offsets.tolist()
        return [flat[a:b] for a, b in pairwise(ends)]


def are_label_lists(y: Any) -> bool:
    """Return whether `y` has lists of labels, rather than one label for each row.

    Examples
    --------
    >>> from recalltree.label_lists import are_label_lists
    >>> are_label_lists([["a"], ["a", "b"]]), are_label_lists(["a", "ab"])
    (True, False)
    """
    if isinstance(y, LabelLists) or is_sparse(y) or _is_arrow_list(y) or _is_polars_list(y):
        return True
    if isinstance(y, np.ndarray) and y.ndim == 2:
        return y.shape[1] != 1  # one column is one label for each row, as scikit-learn has it
    if isinstance(y, list | tuple):
        return any(isinstance(row, _LISTS) for row in y)
    if str(getattr(y, "dtype", "")) == "object" and getattr(y, "ndim", 0) == 1:
        return any(isinstance(row, _LISTS) for row in np.asarray(y).tolist())
    return _is_pandas_arrow_list(y)


def as_label_lists(y: Any, name: str = "y") -> LabelLists:
    """Return `y` as lists of labels.

    Parameters
    ----------
    y : LabelLists, sparse or dense indicator of shape (n, n_labels), or n lists or sets of labels
        Lists may also be a column of Arrow, pandas or polars. Labels are what
        ``recalltree.labels.as_labels`` takes. A missing list is an empty one; of a label that a row
        has twice, the first is kept; sets are sorted.
    name : str, default="y"
        What error messages call it.

    Returns
    -------
    LabelLists

    Examples
    --------
    >>> from scipy.sparse import csr_matrix
    >>> from recalltree.label_lists import as_label_lists
    >>> as_label_lists(csr_matrix([[0, 1, 1], [1, 0, 0]])).tolist()
    [[1, 2], [0]]
    >>> as_label_lists([{"b", "a"}, None]).tolist()
    [['a', 'b'], []]
    """
    if isinstance(y, LabelLists):
        return y
    if is_sparse(y):
        return _from_indicator(y, name)
    if isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "biuf":
        from scipy.sparse import csr_matrix

        return _from_indicator(csr_matrix(y), name)
    if _is_arrow_list(y):
        return _from_rows(y.to_pylist(), name)
    rows = y.to_list() if hasattr(y, "to_list") else list(y)
    return _from_rows(rows, name)


def _offsets(sizes: Any) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _from_rows(rows: list[Any], name: str) -> LabelLists:
    lists = [_as_list(row, i, name) for i, row in enumerate(rows)]
    flat = [label for row in lists for label in row]
    try:
        values = as_labels(flat, name)
    except ValueError:
        for i, row in enumerate(lists):  # says in which row, if one alone is wrong
            as_labels(row, f"{name}[{i}]")
        raise
    return LabelLists(values, _offsets([len(row) for row in lists]))


def _as_list(row: Any, i: int, name: str) -> list[Any]:
    if row is None:
        return []
    if isinstance(row, set | frozenset):
        return sorted(row)
    if not isinstance(row, _LISTS) or getattr(row, "ndim", 1) != 1:
        raise ValueError(
            f"{name}[{i}] is {row!r}, where other rows have lists of labels; give [{row!r}] for a "
            "row with one label, [] for a row without."
        )
    labels = row.tolist() if isinstance(row, np.ndarray) else list(row)
    return list(dict.fromkeys(labels))


def _from_indicator(matrix: Any, name: str) -> LabelLists:
    csr = matrix.tocsr()
    if (csr.data == 0).any() or not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
        csr.eliminate_zeros()
    if not (csr.data == 1).all():
        at = int(np.argmax(csr.data != 1))
        row = int(np.searchsorted(csr.indptr, at, side="right")) - 1
        raise ValueError(
            f"{name}[{row}, {csr.indices[at]}] is {csr.data[at]}: a matrix with a column for each "
            "label has 1 where the row has the label, and 0 elsewhere."
        )
    return LabelLists(csr.indices.astype(np.int64), csr.indptr.astype(np.int64), csr.shape[1])


def _is_arrow_list(y: Any) -> bool:
    """Return whether y is a list column of pyarrow, which need not be installed."""
    if not type(y).__module__.startswith("pyarrow"):
        return False
    return "list" in str(getattr(y, "type", ""))


def _is_pandas_arrow_list(y: Any) -> bool:
    return str(getattr(y, "dtype", "")).startswith(("list<", "large_list<"))


def _is_polars_list(y: Any) -> bool:
    if not type(y).__module__.startswith("polars"):
        return False
    return str(getattr(y, "dtype", "")).startswith(("List", "Array"))
