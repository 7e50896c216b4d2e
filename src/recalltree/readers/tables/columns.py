"""Columns of tables: cells of one kind, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SHOWN = 60
_BLANKS = b" \t"


@dataclass(frozen=True)
class TextColumn:
    """Cells of bytes that should be text.

    Attributes
    ----------
    offsets : ndarray of shape (n + 1,), int64
        Cell i is ``data[offsets[i]:offsets[i + 1]]``; a missing one is empty.
    data : ndarray of bytes
    missing : ndarray of shape (n,), bool
    """

    offsets: NDArray[np.int64]
    data: NDArray[np.uint8]
    missing: NDArray[np.bool_]

    kind = "text"

    @classmethod
    def of(cls, cells: Iterable[bytes]) -> TextColumn:
        """Return a column of these cells."""
        cells = list(cells)
        offsets = np.zeros(len(cells) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, cells), np.int64, len(cells)), out=offsets[1:])
        data = np.frombuffer(b"".join(cells), dtype=np.uint8)
        return cls(offsets, data, np.zeros(len(cells), dtype=bool))

    @classmethod
    def of_missing(cls, n: int) -> TextColumn:
        """Return a column without any cell."""
        return cls(np.zeros(n + 1, np.int64), np.empty(0, np.uint8), np.ones(n, dtype=bool))

    def __len__(self) -> int:
        return len(self.missing)

    def cells(self) -> list[bytes]:
        """Return all cells."""
        data = self.data.tobytes()
        return [data[begin:end] for begin, end in pairwise(self.offsets.tolist())]

    def shown(self, i: int) -> str:
        """Return a cell as messages show it."""
        if self.missing[i]:
            return str(None)
        cell = self.data[self.offsets[i] : self.offsets[i + 1]].tobytes()
        return cell.decode(errors="backslashreplace")[:_SHOWN]

    def part(self, start: int, stop: int) -> TextColumn:
        """Return some of the cells, without copying them."""
        offsets = self.offsets[start : stop + 1]
        first = offsets[0] if len(offsets) else 0
        last = offsets[-1] if len(offsets) else 0
        return TextColumn(offsets - first, self.data[first:last], self.missing[start:stop])

    def take(self, rows: NDArray[np.int64]) -> TextColumn:
        """Return the cells of some rows."""
        if len(rows) == len(self):
            return self
        cells = self.cells()
        return TextColumn.of(cells[row] for row in rows.tolist())

    def lowered(self) -> TextColumn:
        """Return the cells, all of them UTF-8, in lower case."""
        data = self.data.tobytes()
        if data.isascii():
            lowered = np.frombuffer(data.lower(), dtype=np.uint8)
            return TextColumn(self.offsets, lowered, self.missing)
        return TextColumn.of(cell.decode().lower().encode() for cell in self.cells())

    def split(self, separator: str) -> tuple[TextColumn, NDArray[np.int64]]:
        """Return what stands between separators, without blanks around it, and how many there are.

        An empty cell has none.
        """
        mark = separator.encode()
        stripped = (cell.strip(_BLANKS) for cell in self.cells())
        lists = [cell.split(mark) if cell else [] for cell in stripped]
        sizes = np.fromiter(map(len, lists), np.int64, len(lists))
        return TextColumn.of(item.strip(_BLANKS) for items in lists for item in items), sizes


@dataclass(frozen=True)
class NumberColumn:
    """Cells of numbers; the value of a missing one is 0."""

    values: NDArray[Any]
    missing: NDArray[np.bool_]

    @property
    def kind(self) -> str:
        """Name of the cells in messages."""
        return str(self.values.dtype)

    def __len__(self) -> int:
        return len(self.values)

    def shown(self, i: int) -> str:
        """Return a cell as messages show it."""
        return str(None if self.missing[i] else self.values[i].item())

    def part(self, start: int, stop: int) -> NumberColumn:
        """Return some of the cells."""
        return NumberColumn(self.values[start:stop], self.missing[start:stop])


@dataclass(frozen=True)
class ListColumn:
    """Cells of lists: cell i has the next ``sizes[i]`` items; a missing one has none."""

    items: Column
    sizes: NDArray[np.int64]
    missing: NDArray[np.bool_]

    kind = "lists"

    def __len__(self) -> int:
        return len(self.sizes)

    def shown(self, i: int) -> str:
        """Return a cell as messages show it."""
        if self.missing[i]:
            return str(None)
        first = int(self.sizes[:i].sum())
        items = ", ".join(self.items.shown(first + j) for j in range(min(self.sizes[i], _SHOWN)))
        return f"[{items}]"[:_SHOWN]

    def part(self, start: int, stop: int) -> ListColumn:
        """Return some of the cells."""
        first, n = int(self.sizes[:start].sum()), int(self.sizes[start:stop].sum())
        items = self.items.part(first, first + n)
        return ListColumn(items, self.sizes[start:stop], self.missing[start:stop])


@dataclass(frozen=True)
class OtherColumn:
    """Cells that rows cannot be made of, such as dates."""

    kind: str
    missing: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.missing)

    def shown(self, i: int) -> str:
        """Return a cell as messages show it."""
        return self.kind

    def part(self, start: int, stop: int) -> OtherColumn:
        """Return some of the cells."""
        return OtherColumn(self.kind, self.missing[start:stop])


Column = TextColumn | NumberColumn | ListColumn | OtherColumn
