"""Batches of rows, which a reader yields."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from recalltree.dense_block import hybrid
from recalltree.label_lists import LabelLists


@dataclass(frozen=True)
class Batch:
    """Rows that were read together.

    Attributes
    ----------
    X : csr_matrix or ndarray of shape (n, n_features), float32
        The columns of a sparse row are sorted, each at most once.
    y : ndarray of shape (n,), LabelLists of n rows, or None
        Integers (int64) or strings (object). If labels are not required: None where a row has
        none, and None altogether where no row has. Rows that may have several labels have lists,
        empty where a row has none.
    sample_weight : ndarray of shape (n,), float32, or None
        None if no row of the batch says how important it is.
    tags : ndarray of shape (n,), object, or None
        Names of the rows, "" for a row without; None if no row of the batch has one.
    feature_names : list of n dicts, or None
        For each row, what its features are called, by column; ``open_rows(keep_names=True)``. Where
        several words of a row share a column, all of them are named.
    """

    X: Any
    y: NDArray[Any] | LabelLists | None
    sample_weight: NDArray[np.float32] | None = None
    tags: NDArray[np.object_] | None = None
    feature_names: list[dict[int, str]] | None = None

    def __len__(self) -> int:
        return int(self.X.shape[0])


def sparse_rows(
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
    n_features: int,
) -> csr_matrix:
    """Return the matrix of rows whose columns are sorted and unique, without looking again."""
    X = csr_matrix((values, indices, indptr), shape=(len(indptr) - 1, n_features))
    X.has_canonical_format = True  # also says that the indices are sorted
    return X


def with_block(X: Any, block: NDArray[np.float32]) -> Any:
    """Return rows, sparse or dense, with dense features behind them."""
    if isinstance(X, np.ndarray):
        return np.hstack([X, block])
    joined = csr_matrix(hybrid(X, block))
    joined.has_canonical_format = True
    return joined


def joined_to_predict(batches: Sequence[Batch]) -> Batch:
    """Return the rows of several batches of a reader with their tags; labels are left out."""
    if len(batches) == 1:
        return batches[0]
    tags = None
    if any(batch.tags is not None for batch in batches):
        none = np.array([""], dtype=object)
        tags = np.concatenate([none.repeat(len(b)) if b.tags is None else b.tags for b in batches])
    rows = [batch.X for batch in batches]
    if isinstance(rows[0], np.ndarray):
        return Batch(np.concatenate(rows), None, tags=tags)
    sizes = np.concatenate([[0], *(np.diff(X.indptr) for X in rows)])
    X = sparse_rows(
        np.cumsum(sizes, dtype=rows[0].indptr.dtype),
        np.concatenate([X.indices for X in rows]),
        np.concatenate([X.data for X in rows]),
        rows[0].shape[1],
    )
    return Batch(X, None, tags=tags)


def objects(values: list[Any]) -> NDArray[np.object_]:
    """Return a list as an array of its objects."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


#: Separates the names of words that share a column.
OR = " or "


def joined_names(rows: list[dict[int, list[str]]] | None) -> list[dict[int, str]] | None:
    """Return one name for each column that has several."""
    if rows is None:
        return None
    return [{column: OR.join(names) for column, names in row.items()} for row in rows]


def from_text(
    taken: dict[str, Any], n_features: int, dense: bool, index_of_first: int | None = None
) -> Batch:
    """Return the batch that the parser of the core took apart.

    `index_of_first` is how the first column is numbered, where numbers are the names of features.
    """
    X = sparse_rows(taken["indptr"], taken["indices"], taken["values"], n_features)
    names = joined_names(taken["names"])
    if index_of_first is not None:
        rows = np.split(X.indices, X.indptr[1:-1])
        names = [{j: f"feature {j + index_of_first}" for j in row.tolist()} for row in rows]
    labels, labelled, tags = taken["labels"], taken["labelled"], taken["tags"]
    y = objects(labels) if isinstance(labels, list) else labels
    if (offsets := taken["label_offsets"]) is not None:
        y = LabelLists(objects([]) if y is None else y, offsets)
    elif y is not None and labelled is not None:
        y = y.astype(object)
        y[labelled == 0] = None
    return Batch(
        X=X.toarray() if dense else X,
        y=y,
        sample_weight=taken["weights"],
        tags=None if tags is None else objects(tags),
        feature_names=names,
    )
