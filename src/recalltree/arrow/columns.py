"""Columns of numbers -> rows: lists of pairs are sparse rows, lists of equal length dense ones.

Values are read where they lie. Only what has no place of its own in Arrow is made: numbers of
another type than float32 and float64, rows of several columns, and offsets that do not begin at 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack

from recalltree.dense_block import hybrid

#: A column, or the two columns of indices and values of sparse rows.
Feature = str | tuple[str, str]


def rows_of(
    batch: pa.RecordBatch, features: Sequence[Feature], n_features: int, *, empty_nulls: bool
) -> Any:
    """Return the rows of a batch, the features of its columns side by side.

    Parameters
    ----------
    batch : RecordBatch
    features : sequence of str and of pairs of str
    n_features : int
        Of the model; a sparse column takes those that dense ones leave.
    empty_nulls : bool
        Whether a sparse row that is null is an empty one.

    Returns
    -------
    ndarray or csr_matrix
    """
    blocks = [_Block(batch, feature, empty_nulls) for feature in features]
    sparse = [block for block in blocks if block.is_sparse]
    if len(sparse) > 1:
        raise ValueError(
            f"columns {sparse[0].shown} and {sparse[1].shown} both hold sparse rows, so nobody "
            "knows how many features each has; make one column of them."
        )
    n_dense = sum(block.width for block in blocks)
    if n_dense > n_features or (n_dense < n_features and not sparse):
        names = ", ".join(block.shown for block in blocks)
        raise ValueError(
            f"column {names}: there are {n_dense} numbers in a row, and the model has "
            f"{n_features} features."
        )
    parts = [block.rows(n_features - n_dense) for block in blocks]
    if len(parts) == 1:
        return parts[0]
    if not sparse:
        return np.hstack(parts)
    if blocks[0].is_sparse:
        return hybrid(parts[0], np.hstack(parts[1:]))
    return hstack(parts, format="csr")


def column_of(batch: pa.RecordBatch, name: str) -> pa.Array:
    """Return a column, without dictionary encoding, extension types and views."""
    at = batch.schema.get_all_field_indices(name)
    if len(at) != 1:
        found = "no column" if not at else f"{len(at)} columns"
        raise ValueError(
            f"the batch has {found} {name!r}; its columns are {', '.join(batch.schema.names)}."
        )
    column = batch.column(at[0])
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column


def refuse_nulls(column: pa.Array, name: str, advice: str = "") -> None:
    """Raise a ValueError that names the first null of a column."""
    if column.null_count:
        row = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise ValueError(f"column {name!r} is null in row {row} of the batch{advice}.")


class _Block:
    """The features of one column, or of a pair of columns.

    Attributes
    ----------
    is_sparse : bool
    width : int
        How many features; 0 of sparse rows, which do not say it.
    shown : str
        What messages call it.
    """

    def __init__(self, batch: pa.RecordBatch, feature: Feature, empty_nulls: bool) -> None:
        self._empty_nulls = empty_nulls
        self.width = 0
        self._dense: NDArray[Any] | None = None
        if not isinstance(feature, str):
            indices, values = feature
            self.shown = f"{indices!r} with {values!r}"
            self._take_pair(column_of(batch, indices), indices, column_of(batch, values), values)
        else:
            self.shown = repr(feature)
            self._take_column(column_of(batch, feature), feature)
        self.is_sparse = self._dense is None
        if self._dense is not None:
            self.width = self._dense.shape[1]

    def rows(self, n_features: int) -> Any:
        """Return the rows; sparse ones have this many features."""
        if self._dense is not None:
            return self._dense
        n_rows = len(self._indptr) - 1
        if len(self._indices) and not 0 <= self._indices.min() <= self._indices.max() < n_features:
            bad = int(np.argmax((self._indices < 0) | (self._indices >= n_features)))
            row = int(np.searchsorted(self._indptr, bad, side="right")) - 1
            raise ValueError(
                f"column {self.shown}, row {row} of the batch: there is no feature "
                f"{self._indices[bad]}; features are 0 to {n_features - 1}."
            )
        parts = (self._values, self._indices, self._indptr)
        return csr_matrix(parts, shape=(n_rows, n_features))

    def _take_column(self, column: pa.Array, name: str) -> None:
        kind = column.type
        if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
            refuse_nulls(column, name)
            self._dense = _values(column, name)[:, None]
        elif pa.types.is_struct(kind) and {f.name for f in kind} >= {"indices", "values"}:
            if column.null_count:
                self._without_nulls(column, name)
            # Unlike `field`, this makes the parts of a null struct null.
            parts = [pc.struct_field(column, "indices"), pc.struct_field(column, "values")]
            self._take_pair(parts[0], f"{name}.indices", parts[1], f"{name}.values")
        elif not _is_list(kind):
            raise ValueError(f"column {name!r} holds {kind}; {_KINDS}.")
        elif pa.types.is_struct(_items(kind)):
            indptr, pairs = self._lists(column, name)
            at_index, at_value = _index_and_value(_items(kind), name)
            _refuse_inner(pairs, indptr, name)
            self._indptr = indptr
            self._indices = _indices(pairs.field(at_index), indptr, name)
            self._values = _values(pairs.field(at_value), name, indptr)
        else:
            self._dense = _dense_lists(column, name)

    def _take_pair(self, indices: pa.Array, of_indices: str, values: pa.Array, name: str) -> None:
        for column, own in ((indices, of_indices), (values, name)):
            if not _is_list(column.type):
                raise ValueError(f"column {own!r} holds {column.type}, not lists of numbers.")
        self._indptr, flat = self._lists(indices, of_indices)
        other, flat_values = self._lists(values, name)
        if not np.array_equal(self._indptr, other):
            row = int(np.argmax(np.diff(self._indptr) != np.diff(other)))
            raise ValueError(
                f"columns {of_indices!r} and {name!r} differ in row {row} of the batch: "
                f"{np.diff(self._indptr)[row]} indices and {np.diff(other)[row]} values."
            )
        self._indices = _indices(flat, self._indptr, of_indices)
        self._values = _values(flat_values, name, self._indptr)

    def _lists(self, column: pa.Array, name: str) -> tuple[NDArray[Any], pa.Array]:
        """Return where each list begins, and the items of all lists."""
        if column.null_count:
            self._without_nulls(column, name)
            sizes = pc.fill_null(pc.list_value_length(column), 0).to_numpy(zero_copy_only=False)
            return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32), column.flatten()
        if pa.types.is_fixed_size_list(column.type):
            size = column.type.list_size
            return np.arange(0, size * len(column) + 1, size, dtype=np.int32), column.flatten()
        offsets = column.offsets.to_numpy()
        begin, end = int(offsets[0]), int(offsets[-1])
        indptr = offsets - begin if begin else offsets
        return indptr, column.values.slice(begin, end - begin)

    def _without_nulls(self, column: pa.Array, name: str) -> None:
        if not self._empty_nulls:
            refuse_nulls(column, name, "; nulls='empty' takes it as a row without features")


_KINDS = (
    "features are numbers, lists of numbers (dense rows), lists of structs of an index and a "
    "value, or a pair of columns with lists of indices and of values (sparse rows)"
)


def _is_list(kind: pa.DataType) -> bool:
    return any(
        is_kind(kind)
        for is_kind in (
            pa.types.is_list,
            pa.types.is_large_list,
            pa.types.is_fixed_size_list,
            pa.types.is_map,
        )
    )


def _items(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_map(kind):
        return pa.struct([("key", kind.key_type), ("value", kind.item_type)])
    return kind.value_type


def _index_and_value(kind: pa.DataType, name: str) -> tuple[int, int]:
    """Return which field of the pairs is the index, and which the value."""
    types = [field.type for field in kind]
    integers = [i for i, t in enumerate(types) if pa.types.is_integer(t)]
    numbers = [i for i, t in enumerate(types) if pa.types.is_floating(t)]
    if len(types) == 2 and len(integers) == 2:  # counts
        names = [field.name for field in kind]
        first = next((i for i, n in enumerate(names) if n in ("index", "indices", "key")), 0)
        return first, 1 - first
    if len(types) != 2 or len(integers) != 1 or len(numbers) != 1:
        raise ValueError(
            f"column {name!r} holds lists of {kind}; the structs of sparse rows have two fields, "
            "an integer (the feature, from 0) and a number (its value)."
        )
    return integers[0], numbers[0]


def _refuse_inner(items: pa.Array, indptr: NDArray[Any], name: str) -> None:
    if items.null_count:
        at = int(np.argmax(items.is_null().to_numpy(zero_copy_only=False)))
        row = int(np.searchsorted(indptr, at, side="right")) - 1
        raise ValueError(f"column {name!r} has a null within row {row} of the batch.")


def _indices(items: pa.Array, indptr: NDArray[Any], name: str) -> NDArray[Any]:
    if not pa.types.is_integer(items.type):
        raise ValueError(f"column {name!r} holds indices of type {items.type}, not integers.")
    _refuse_inner(items, indptr, name)
    found = items.to_numpy(zero_copy_only=False)
    return found if found.dtype in (np.int32, np.int64) else found.astype(np.int64)


def _values(items: pa.Array, name: str, indptr: NDArray[Any] | None = None) -> NDArray[Any]:
    kind = items.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise ValueError(f"column {name!r} holds {kind}, not numbers.")
    if indptr is not None:
        _refuse_inner(items, indptr, name)
    found = items.to_numpy(zero_copy_only=False)
    if found.dtype not in (np.float32, np.float64):
        found = found.astype(np.float32 if found.dtype.itemsize <= 2 else np.float64)
    return found


def _dense_lists(column: pa.Array, name: str) -> NDArray[Any]:
    """Return lists of equal length as the rows of an array."""
    refuse_nulls(column, name)
    if pa.types.is_fixed_size_list(column.type):
        width = column.type.list_size
        items = column.flatten()
    else:
        offsets = column.offsets.to_numpy()
        sizes = np.diff(offsets)
        width = int(sizes[0]) if len(sizes) else 0
        if (sizes != width).any():
            row = int(np.argmax(sizes != width))
            raise ValueError(
                f"column {name!r}: row {row} of the batch has {sizes[row]} numbers and row 0 has "
                f"{width}; dense rows are lists of equal length."
            )
        items = column.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    starts = np.arange(len(column) + 1) * width
    return _values(items, name, starts).reshape(len(column), width)
