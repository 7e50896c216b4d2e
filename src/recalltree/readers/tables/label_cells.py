"""Columns of tables -> labels, one for each row or a list, and which cells are none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import check_text, parse_integers
from recalltree.label_lists import LabelLists
from recalltree.readers.batches import objects
from recalltree.readers.tables.cells import REASONS, BadCells
from recalltree.readers.tables.columns import Column, ListColumn, NumberColumn, TextColumn

_MAX_EXACT_FLOAT = 2.0**53  # integers beyond it are not all floats


class Labels:
    """The labels of a table: integers or strings, which the first of them decides."""

    def __init__(self, label_type: str, required: bool) -> None:
        self.label_type = label_type
        self._required = required

    def read(self, column: Column, name: str, bad: BadCells) -> NDArray[Any]:
        """Return cells as labels, None where there is none (which may be bad).

        What labels are is decided by ``decide``, for the rows that are not bad.
        """
        if self._required:
            bad.add(np.flatnonzero(column.missing), name, "a missing label", column)
        y = (
            self._as_strings(column, name, bad)
            if isinstance(column, TextColumn)
            else self._as_integers(column, name, bad)
        )
        y[column.missing] = None
        return y

    def of_rows(self, y: NDArray[Any] | None, rows: NDArray[np.int64]) -> NDArray[Any] | None:
        """Return the labels of the rows that are kept, None if they have none."""
        if y is None:
            return None
        self.decide(y[rows])
        return _tidy(y[rows])

    def decide(self, y: NDArray[Any]) -> None:
        """Let the first label say what labels are, if nothing else did."""
        if self.label_type == "auto":
            first = next((label for label in y.tolist() if label is not None), None)
            if first is not None:
                self.label_type = "int" if isinstance(first, int) else "str"

    def _as_strings(self, column: TextColumn, name: str, bad: BadCells) -> NDArray[Any]:
        missing = column.missing
        status = check_text(column.offsets, column.data)
        bad.add_status(status, name, column)
        if self._required:
            empty = np.flatnonzero(np.diff(column.offsets) == 0)
            bad.add(empty, name, "an empty label", column)
        integers, no_integer = parse_integers(column.offsets, column.data)
        kind = self.label_type
        if kind == "auto":
            good = [i for i in np.flatnonzero(~missing).tolist() if i not in bad.found]
            kind = "int" if good and not no_integer[good[0]] else "str"
        if kind == "int":
            refused = np.where(missing, 0, no_integer).astype(np.uint8)
            for code, reason in REASONS.items():
                reason = f"the label is {reason} as the labels before it are; pass label_type='str'"
                bad.add(np.flatnonzero(refused == code), name, reason, column)
            return integers.astype(object)
        return objects([cell.decode(errors="replace") for cell in column.cells()])

    def _as_integers(self, column: Column, name: str, bad: BadCells) -> NDArray[Any]:
        if not isinstance(column, NumberColumn):
            several = "; pass multilabel='all'" if isinstance(column, ListColumn) else ""
            raise ValueError(f"column {name!r} holds {column.kind}, which is no label{several}")
        given = column.values
        if given.dtype.kind == "f":
            with np.errstate(invalid="ignore"):
                exact = (np.floor(given) == given) & (np.abs(given) <= _MAX_EXACT_FLOAT)
            bad.add(np.flatnonzero(~exact), name, "the label is not an integral number", column)
            given = np.where(exact, given, 0)
        elif given.dtype == np.uint64:
            large = given > np.iinfo(np.int64).max
            bad.add(np.flatnonzero(large), name, "too large for a 64-bit integer", column)
            given = np.where(large, 0, given)
        integers = given.astype(np.int64)
        if self.label_type == "str":
            return integers.astype(str).astype(object)
        return integers.astype(object)


class ListedLabels:
    """The labels of a table whose cells hold several, as lists or as text with separators.

    Parameters
    ----------
    label_type : str
    required : bool
        Whether a row without labels is a bad row.
    separator : str or None
        What separates the labels of a cell of text.
    """

    def __init__(self, label_type: str, required: bool, separator: str | None) -> None:
        self._labels = Labels(label_type, required=True)  # a list has no missing label
        self._required = required
        self._separator = separator

    @property
    def label_type(self) -> str:
        """Type of the labels, as far as it is known."""
        return self._labels.label_type

    def read(self, column: Column, name: str, bad: BadCells) -> LabelLists:
        """Return cells as lists of labels; a list that is missing is empty."""
        flat, sizes = self._take_apart(column, name, bad)
        if self._required:
            bad.add(np.flatnonzero(sizes == 0), name, "no label", column)
        row = np.repeat(np.arange(len(column)), sizes)
        # Labels of rows that are bad already do not decide what labels are.
        passed_over = np.flatnonzero(np.isin(row, list(bad.found))).tolist()
        found = BadCells({i: bad.found[int(row[i])] for i in passed_over})
        values = self._labels.read(flat, name, found)
        for i in sorted(found.found):
            bad.found.setdefault(int(row[i]), found.found[i])
        return _distinct(values, row, len(column))

    def of_rows(self, y: LabelLists | None, rows: NDArray[np.int64]) -> LabelLists | None:
        """Return the lists of the rows that are kept, None if there is no column of them."""
        if y is None:
            return None
        kept = y[rows]
        self._labels.decide(kept.values)
        values = _tidy(kept.values)
        return LabelLists(kept.values if values is None else values, kept.offsets)

    def _take_apart(
        self, column: Column, name: str, bad: BadCells
    ) -> tuple[Column, NDArray[np.int64]]:
        """Return the labels of all cells, one after the other, and how many each cell has."""
        if isinstance(column, ListColumn):
            return column.items, column.sizes
        if column.missing.all():
            return TextColumn.of([]), np.zeros(len(column), dtype=np.int64)
        if self._separator is None or not isinstance(column, TextColumn):
            raise ValueError(
                f"column {name!r} holds {column.kind}, not lists of labels; pass label_separator "
                "for labels in text, or multilabel='refuse' for one label per row"
            )
        bad.add_status(check_text(column.offsets, column.data), name, column)
        return column.split(self._separator)


def _distinct(values: NDArray[Any], row: NDArray[np.int64], n_rows: int) -> LabelLists:
    """Return the labels of rows, in which a label counts once."""
    known: dict[Any, int] = {}
    numbered = (known.setdefault(value, len(known)) for value in values.tolist())
    codes = np.fromiter(numbered, np.int64, len(values))
    _, first = np.unique(row * (len(known) + 1) + codes, return_index=True)
    kept = np.sort(first)
    offsets = np.concatenate([[0], np.cumsum(np.bincount(row[kept], minlength=n_rows))])
    return LabelLists(values[kept], offsets.astype(np.int64))


def _tidy(y: NDArray[Any]) -> NDArray[Any] | None:
    """Return labels as int64 where they all are, None where there is none at all."""
    if all(label is None for label in y.tolist()):
        return None
    if all(isinstance(label, int) for label in y.tolist()):
        return y.astype(np.int64)
    return y
