"""Features of rows that do not come from files, made as a reader made those of its files."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from recalltree.readers.batches import sparse_rows
from recalltree.readers.errors import BadRowError
from recalltree.readers.open import open_rows
from recalltree.readers.reader import RowReader
from recalltree.readers.tables.blocks import Block
from recalltree.readers.tables.columns import Column, TextColumn


class RowFeatures:
    r"""Makes the features of rows as the reader with these options did.

    Parameters
    ----------
    options : mapping
        The ``options`` of a reader, whose dictionary and document frequencies stay as they are.

    Attributes
    ----------
    is_table : bool
        Whether a row has the columns of a table; otherwise it is a line of text.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers import open_rows
    >>> from recalltree.readers.features import RowFeatures
    >>> from recalltree.readers.tables.columns import TextColumn
    >>> rows = open_rows(io.BytesIO(b"__label__a the cat\n"), features="dictionary")
    >>> _ = list(rows)
    >>> features = RowFeatures(rows.options)
    >>> features.of_lines(TextColumn.of([b"cat", b"", b"the cat"])).toarray()[:, :2]
    array([[0., 1.],
           [0., 0.],
           [1., 1.]], dtype=float32)
    """

    def __init__(self, options: Mapping[str, Any]) -> None:
        kept = dict(options)
        if kept.get("multilabel") == "each":
            kept["multilabel"] = "first"  # a row stays one row
        self._reader: RowReader = open_rows(
            io.BytesIO(), **kept, require_labels=False, frozen=True, on_error="raise"
        )
        self._options = self._reader._options
        self.is_table = hasattr(self._reader._rows, "read_block")

    @property
    def columns(self) -> list[str]:
        """The columns of a table that rows are made of."""
        return [*self.number_columns, *self.text_columns, *self.embedding_columns]

    @property
    def number_columns(self) -> list[str]:
        """Columns of numbers, each a feature."""
        return list(self._options.numeric_columns)

    @property
    def text_columns(self) -> list[str]:
        """Columns whose words are features."""
        return list(self._options.text_column)

    @property
    def embedding_columns(self) -> list[str]:
        """The column of lists, or the columns of numbers, of an embedding."""
        return list(self._options.embedding_columns)

    def of_table(self, columns: dict[str, Column], n_rows: int) -> Any:
        """Return the features of rows of a table; the number of a row is counted from 0.

        Raises
        ------
        BadRowError
            Of the first bad row.
        """
        rows = np.arange(n_rows, dtype=np.int64)
        block = Block(columns, rows, 0)
        batch, problems = self._reader._rows.read_block(block, self._reader._space)  # type: ignore[attr-defined]
        if problems:
            raise problems[0]
        return batch.X

    def of_lines(self, lines: TextColumn) -> Any:
        """Return the features of lines in the reader's format, with or without labels.

        Line breaks within a line are blanks; an empty line is a row without features.

        Raises
        ------
        BadRowError
            Of the first line that is no row.
        """
        cells = [cell.replace(b"\n", b" ").replace(b"\r", b" ").strip() for cell in lines.cells()]
        is_row = np.array([bool(cell) for cell in cells], dtype=bool)
        given = [cell for cell in cells if cell]
        X = self._parse(b"\n".join(given), np.flatnonzero(is_row)) if given else None
        if X is not None and X.shape[0] != len(given):
            raise ValueError(
                f"{len(given)} lines are {X.shape[0]} rows in the format "
                f"{self._options.format}: comments and headers are none"
            )
        if X is None:
            X = csr_matrix((0, self._reader.n_features), dtype=np.float32)
        if len(given) < len(cells):
            X = _spread(X, is_row)
        return X.toarray() if self._options.dense else X

    def _parse(self, text: bytes, rows: NDArray[np.int64]) -> Any:
        X, problems = self._reader._rows.of_text(text, self._reader._space)  # type: ignore[attr-defined]
        if problems:
            _, line, column, reason, shown = problems[0]
            written = shown.decode(errors="backslashreplace")
            raise BadRowError("<lines>", int(rows[line - 1]), column, reason, written)
        return X


def _spread(X: csr_matrix, is_row: NDArray[np.bool_]) -> csr_matrix:
    """Return rows with empty ones where there was none."""
    sizes = np.zeros(len(is_row), dtype=np.int32)
    sizes[is_row] = np.diff(X.indptr)
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return sparse_rows(indptr, X.indices, X.data, X.shape[1])
