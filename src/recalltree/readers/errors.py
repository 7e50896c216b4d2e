"""Errors of rows that cannot be read."""

from __future__ import annotations


class BadRowError(ValueError):
    """A row that cannot be read.

    Attributes
    ----------
    path : str
        The file, as it was named.
    line : int
        Line of a text file, row of a table; both count from 1.
    column : int or str
        Character of the line, counted from 1, or name of the table's column.
    text : str
        What stands there, shortened.
    reason : str
        What is wrong with it.
    """

    def __init__(self, path: str, line: int, column: int | str, reason: str, text: str) -> None:
        super().__init__(path, line, column, reason, text)  # so that it can be pickled
        self.path = path
        self.line = line
        self.column = column
        self.reason = reason
        self.text = text

    def __str__(self) -> str:
        place = f"{self.path}, line {self.line}, column {self.column}"
        return f"{place}: {self.reason}: {self.text!r}"


class BadRowWarning(UserWarning):
    """A row was skipped."""


class DamagedFileError(OSError):
    """A compressed file that cannot be decompressed to its end."""


class OneReadError(ValueError):
    """A second pass over what can be read only once."""
