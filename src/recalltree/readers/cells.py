"""Columns of tables -> numbers and text, and which cells are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from recalltree._core import check_text, parse_floats

REASONS = {
    1: "not a finite decimal number",
    2: "too large",
    3: "not an integral number",
    4: "not text in UTF-8",
}
_SHOWN = 60


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
        for code, reason in REASONS.items():
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


def is_list(array: pa.Array) -> bool:
    """Return whether an array holds lists."""
    return "list" in str(array.type).split("<", 1)[0]


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


def vectors(array: pa.Array, name: str, width: int, bad: BadCells) -> NDArray[np.float32]:
    """Return cells, lists of so many numbers, as the rows of an array."""
    out = np.zeros((len(array), width), dtype=np.float32)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    bad.add(np.flatnonzero(missing), name, "a missing list", array)
    if pa.types.is_null(array.type):
        return out
    if not is_list(array):
        raise ValueError(f"column {name!r} holds {array.type}, not lists of numbers")
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    bad.add(np.flatnonzero(lengths != width), name, f"not a list of {width} numbers", array)
    of_numbers = BadCells()
    values = numbers(plain(array.flatten()), name, of_numbers)
    row = np.repeat(np.arange(len(array)), lengths)
    for i in sorted(of_numbers.found):
        bad.found.setdefault(int(row[i]), of_numbers.found[i])
    complete = lengths == width
    out[complete] = values[complete[row]].reshape(-1, width)
    return out


def texts(array: pa.Array, name: str, bad: BadCells) -> pa.Array:
    """Return cells as text, checked to be UTF-8; a missing one is empty."""
    if pa.types.is_null(array.type):
        return pa.array([""] * len(array), pa.large_string())
    if not is_text(array):
        raise ValueError(f"column {name!r} holds {array.type}, not text")
    bad.add_status(check_text(*buffers(array)), name, array)
    return array


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
