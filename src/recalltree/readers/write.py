"""Rows -> files of text that ``open_rows`` reads."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from recalltree.label_lists import LabelLists, are_label_lists, as_label_lists
from recalltree.labels import as_labels

_FORMATS = ("svmlight", "xc", "vw")
#: Characters that end a label in some format.
_NO_LABEL = re.compile(r"[ \t\n\r\v\f\0,:|#']")
_BATCH = 4096


def write_rows(path: Any, X: Any, y: Any, format: str = "xc") -> None:
    r"""Write rows with one label each, or several, as text.

    Values are written as float32, and are the same when they are read again.

    Parameters
    ----------
    path : str, path or open binary file
    X : sparse matrix or array of shape (n, n_features)
    y : array-like of shape (n,), indicator of shape (n, n_labels), or n lists of labels
        As the estimators take it.
    format : {"xc", "svmlight", "vw"}
        Columns are numbers of features: from 1 in svmlight, else from 0.

    Raises
    ------
    ValueError
        If a label cannot be written: it is empty, or has a blank or one of ``, : | # '``; if a
        value is no finite float32; or if a row of svmlight has neither labels nor features.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers import open_rows, write_rows
    >>> file = io.BytesIO()
    >>> write_rows(file, [[0, 0.5], [2, 0]], [[3, 1], []])
    >>> file.getvalue()
    b'2 2 4\n3,1 1:0.5\n 0:2.0\n'
    >>> (batch,) = open_rows(io.BytesIO(file.getvalue()), multilabel="any")
    >>> batch.y.tolist(), batch.X.toarray()
    ([[3, 1], []], array([[0. , 0.5],
           [2. , 0. ]], dtype=float32))
    """
    if format not in _FORMATS:
        raise ValueError(f"format must be one of {', '.join(_FORMATS)}; got {format!r}")
    with np.errstate(over="ignore"):
        rows = csr_matrix(X, dtype=np.float32)
    rows.sum_duplicates()
    lists = _label_lists(y)
    if len(lists) != rows.shape[0]:
        raise ValueError(f"X has {rows.shape[0]} rows and y has the labels of {len(lists)}.")
    if not np.isfinite(rows.data).all():
        raise ValueError("X has values that are no finite float32.")
    empty = np.flatnonzero((lists.sizes == 0) & (np.diff(rows.indptr) == 0))
    if format == "svmlight" and len(empty):
        raise ValueError(
            f"row {empty[0]} has neither labels nor features, which is an empty line in svmlight; "
            "write format='xc'."
        )
    labels = [_written(label) for label in lists.values.tolist()]
    if hasattr(path, "write"):
        path.writelines(_lines(rows, lists, labels, format))
        return
    with Path(path).open("wb") as file:
        file.writelines(_lines(rows, lists, labels, format))


def _label_lists(y: Any) -> LabelLists:
    if are_label_lists(y):
        return as_label_lists(y)
    labels = as_labels(y)
    return LabelLists(labels, np.arange(len(labels) + 1))


def _written(label: Any) -> str:
    text = str(int(label)) if isinstance(label, bool | float) else str(label)
    if not text or _NO_LABEL.search(text):
        raise ValueError(
            f"the label {text!r} cannot be written: it must not be empty, or have blanks or one of "
            ", : | # '"
        )
    return text


def _lines(rows: Any, lists: LabelLists, labels: list[str], format: str) -> Iterator[bytes]:
    if format == "xc":
        yield f"{rows.shape[0]} {rows.shape[1]} {_n_labels(lists)}\n".encode()
    bar = "| " if format == "vw" else ""
    ends = lists.offsets.tolist()
    for start in range(0, rows.shape[0], _BATCH):
        part = rows[start : start + _BATCH]
        indices = (part.indices + (format == "svmlight")).tolist()
        values = part.data.astype(str).tolist()  # the shortest text of each float32
        pairs = [f"{i}:{value}" for i, value in zip(indices, values, strict=True)]
        for row, (a, b) in enumerate(pairwise(part.indptr.tolist()), start):
            own = labels[ends[row] : ends[row + 1]]
            yield f"{','.join(own)} {bar}{' '.join(pairs[a:b])}\n".encode()


def _n_labels(lists: LabelLists) -> int:
    """Return how many labels there are, also those without rows if labels are numbers."""
    if lists.n_columns is not None:
        return lists.n_columns
    if lists.values.dtype.kind in "iu" and lists.values.size and lists.values.min() >= 0:
        return int(lists.values.max()) + 1
    return len(set(lists.values.tolist()))
