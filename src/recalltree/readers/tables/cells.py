"""Cells of tables -> numbers and text, and which cells are neither."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import check_text, parse_floats
from recalltree.readers.tables.columns import Column, ListColumn, NumberColumn, TextColumn

REASONS = {
    1: "not a finite decimal number",
    2: "too large",
    3: "not an integral number",
    4: "not text in UTF-8",
}


@dataclass
class BadCells:
    """The first bad cell of each bad row of a block: its column, the reason and the text."""

    found: dict[int, tuple[str, str, str]] = field(default_factory=dict)

    def add(self, rows: NDArray[Any], name: str, reason: str, column: Column) -> None:
        """Add bad cells; `rows` are their positions."""
        for row in rows.tolist():
            if row not in self.found:
                self.found[row] = (name, reason, column.shown(row))

    def add_status(self, status: NDArray[np.uint8], name: str, column: Column) -> None:
        """Add the cells that the core refused."""
        for code, reason in REASONS.items():
            self.add(np.flatnonzero(status == code), name, reason, column)


def numbers(column: Column, name: str, bad: BadCells) -> NDArray[np.float32]:
    """Return cells as float32, the nearest to what is written."""
    bad.add(np.flatnonzero(column.missing), name, "a missing number", column)
    if isinstance(column, TextColumn):
        values, status = parse_floats(column.offsets, column.data)
        bad.add_status(np.where(column.missing, 0, status).astype(np.uint8), name, column)
        return values
    if not isinstance(column, NumberColumn):
        raise ValueError(f"column {name!r} holds {column.kind}, not numbers")
    with np.errstate(over="ignore"):
        values = column.values.astype(np.float32)
    bad.add(np.flatnonzero(~np.isfinite(values)), name, "not a finite float32", column)
    return values


def vectors(column: Column, name: str, width: int, bad: BadCells) -> NDArray[np.float32]:
    """Return cells, lists of this many numbers, as the rows of an array."""
    out = np.zeros((len(column), width), dtype=np.float32)
    bad.add(np.flatnonzero(column.missing), name, "a missing list", column)
    if column.missing.all():
        return out
    if not isinstance(column, ListColumn):
        raise ValueError(f"column {name!r} holds {column.kind}, not lists of numbers")
    wrong = np.flatnonzero(column.sizes != width)
    bad.add(wrong, name, f"not a list of {width} numbers", column)
    of_numbers = BadCells()
    values = numbers(column.items, name, of_numbers)
    row = np.repeat(np.arange(len(column)), column.sizes)
    for i in sorted(of_numbers.found):
        bad.found.setdefault(int(row[i]), of_numbers.found[i])
    complete = column.sizes == width
    out[complete] = values[complete[row]].reshape(-1, width)
    return out


def texts(column: Column, name: str, bad: BadCells) -> TextColumn:
    """Return cells as text, checked to be UTF-8; a missing one is empty."""
    if not isinstance(column, TextColumn):
        raise ValueError(f"column {name!r} holds {column.kind}, not text")
    bad.add_status(check_text(column.offsets, column.data), name, column)
    return column


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
