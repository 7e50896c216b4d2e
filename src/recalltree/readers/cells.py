"""Columns of tables -> numbers, labels and text, and which cells are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recalltree._core import check_text, parse_floats, parse_integers

_REASONS = {
    1: "not a finite decimal number",
    2: "too large",
    3: "not an integral number",
    4: "not text in UTF-8",
}
_SHOWN = 60
_MAX_EXACT_FLOAT = 2.0**53  # integers beyond it are not all floats


@dataclass
class BadCells:
    """The first bad cell of each bad row of a block: its column, the reason and the text."""

    found: dict[int, tuple[str, str, str]] = field(default_factory=dict)

    def add(self, rows: NDArray[Any], column: str, reason: str, array: pa.Array) -> None:
        """Add bad cells; `rows` are their positions."""
        for row in rows.tolist():
            if row not in self.found:
                self.found[row] = (column, reason, _shown(array[row].as_py()))

    def add_status(self, status: NDArray[np.uint8], column: str, array: pa.Array) -> None:
        """Add the cells that the core refused."""
        for code, reason in _REASONS.items():
            self.add(np.flatnonzero(status == code), column, reason, array)


def _shown(value: Any) -> str:
    text = value.decode(errors="backslashreplace") if isinstance(value, bytes) else str(value)
    return text[:_SHOWN]


def is_text(array: pa.Array) -> bool:
    """Return whether an array holds strings, or bytes that should be."""
    of_text = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_binary,
        pa.types.is_large_binary,
    )
    return any(check(array.type) for check in of_text)


def plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without dictionary encoding or views."""
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
        if isinstance(array, pa.ChunkedArray):  # of no chunk
            array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.nulls(0)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    if str(array.type) in ("string_view", "binary_view"):
        array = array.cast(pa.large_string() if "string" in str(array.type) else pa.large_binary())
    return array


def buffers(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return offsets and bytes of an array of text; a missing cell is empty."""
    array = array.cast(pa.large_binary())
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    first = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    bytes_ = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return first, bytes_


def numbers(array: pa.Array, name: str, bad: BadCells) -> NDArray[np.float32]:
    """Return cells as float32, the nearest to what is written."""
    missing = array.is_null().to_numpy(zero_copy_only=False)
    bad.add(np.flatnonzero(missing), name, "a missing number", array)
    if is_text(array):
        values, status = parse_floats(*buffers(array))
        bad.add_status(np.where(missing, 0, status).astype(np.uint8), name, array)
        return values
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    if pa.types.is_decimal(array.type):
        array = array.cast(pa.float64())
    if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
        raise ValueError(f"column {name!r} holds {array.type}, not numbers")
    given = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        values = given.astype(np.float32)
    bad.add(np.flatnonzero(~np.isfinite(values)), name, "not a finite float32", array)
    return values


def texts(array: pa.Array, name: str, bad: BadCells) -> pa.Array:
    """Return cells as text, checked to be UTF-8; a missing one is empty."""
    if pa.types.is_null(array.type):
        return pa.array([""] * len(array), pa.large_string())
    if not is_text(array):
        raise ValueError(f"column {name!r} holds {array.type}, not text")
    bad.add_status(check_text(*buffers(array)), name, array)
    return array


class Labels:
    """The labels of a table: integers or strings, which the first of them decides."""

    def __init__(self, label_type: str, required: bool) -> None:
        self.label_type = label_type
        self._required = required

    def read(self, array: pa.Array, name: str, bad: BadCells) -> NDArray[Any]:
        """Return cells as labels, None where there is none (which may be bad).

        What labels are is decided by ``decide``, for the rows that are not bad.
        """
        missing = array.is_null().to_numpy(zero_copy_only=False)
        if self._required:
            bad.add(np.flatnonzero(missing), name, "a missing label", array)
        if pa.types.is_null(array.type):
            return np.full(len(array), None, dtype=object)
        y = (
            self._as_strings(array, name, bad)
            if is_text(array)
            else self._as_integers(array, name, bad)
        )
        y[missing] = None
        return y

    def decide(self, y: NDArray[Any]) -> None:
        """Let the first label say what labels are, if nothing else did."""
        if self.label_type == "auto":
            first = next((label for label in y.tolist() if label is not None), None)
            if first is not None:
                self.label_type = "int" if isinstance(first, int) else "str"

    def _as_strings(self, array: pa.Array, name: str, bad: BadCells) -> NDArray[Any]:
        missing = array.is_null().to_numpy(zero_copy_only=False)
        cells = buffers(array)
        status = check_text(*cells)
        bad.add_status(np.where(missing, 0, status).astype(np.uint8), name, array)
        if self._required:
            empty = np.flatnonzero(np.diff(cells[0]) == 0)
            bad.add(empty, name, "an empty label", array)
        integers, no_integer = parse_integers(*cells)
        kind = self.label_type
        if kind == "auto":
            good = [i for i in np.flatnonzero(~missing).tolist() if i not in bad.found]
            kind = "int" if good and not no_integer[good[0]] else "str"
        if kind == "int":
            refused = np.where(missing, 0, no_integer).astype(np.uint8)
            for code, reason in _REASONS.items():
                reason = f"the label is {reason} as the labels before it are; pass label_type='str'"
                bad.add(np.flatnonzero(refused == code), name, reason, array)
            return integers.astype(object)
        readable = pc.if_else(pa.array(status == 0), array.cast(pa.large_binary()), b"")
        return readable.cast(pa.large_string()).to_numpy(zero_copy_only=False).astype(object)

    def _as_integers(self, array: pa.Array, name: str, bad: BadCells) -> NDArray[Any]:
        if pa.types.is_boolean(array.type):
            array = array.cast(pa.uint8())
        if not (pa.types.is_integer(array.type) or pa.types.is_floating(array.type)):
            raise ValueError(f"column {name!r} holds {array.type}, which is no label")
        given = pc.fill_null(array, 0).to_numpy(zero_copy_only=False)
        if given.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                exact = (np.floor(given) == given) & (np.abs(given) <= _MAX_EXACT_FLOAT)
            bad.add(np.flatnonzero(~exact), name, "the label is not an integral number", array)
            given = np.where(exact, given, 0)
        elif given.dtype == np.uint64:
            large = given > np.iinfo(np.int64).max
            bad.add(np.flatnonzero(large), name, "too large for a 64-bit integer", array)
            given = np.where(large, 0, given)
        integers = given.astype(np.int64)
        if self.label_type == "str":
            return integers.astype(str).astype(object)
        return integers.astype(object)


def good_rows(n_rows: int, bad: BadCells) -> NDArray[np.int64]:
    """Return the positions of the rows without a bad cell."""
    kept = np.ones(n_rows, dtype=bool)
    kept[list(bad.found)] = False
    return np.flatnonzero(kept)


def iterate_bad(bad: BadCells) -> Iterator[tuple[int, str, str, str]]:
    """Yield (row, column, reason, text) of the bad rows, in order."""
    for row in sorted(bad.found):
        column, reason, text = bad.found[row]
        yield row, column, reason, text
