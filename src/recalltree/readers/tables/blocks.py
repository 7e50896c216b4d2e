"""Blocks of rows of a table, and which of its columns are wanted."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.readers.sources import Source
from recalltree.readers.tables.columns import Column, ListColumn

#: Bytes of text that are taken apart at a time.
BLOCK_BYTES = 1 << 22


@dataclass(frozen=True)
class Wanted:
    """Columns to read, and how."""

    numeric: tuple[str, ...] = ()
    text: tuple[str, ...] = ()
    embedding: tuple[str, ...] = ()
    embedding_is_list: bool = False
    label: str | None = None
    weight: str | None = None
    required_label: bool = False
    label_lists: bool = False  # where the format has types: labels are lists
    everything: bool = False  # whatever columns there are

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        names = [self.label, self.weight, *self.numeric, *self.text, *self.embedding]
        return list(dict.fromkeys(name for name in names if name is not None))

    def present(self, names: list[str], file: str) -> list[str]:
        """Return the wanted columns of a file that has columns of these names."""
        found = []
        for name in dict.fromkeys(names) if self.everything else self.columns:
            if names.count(name) == 1:
                found.append(name)
            elif name in names:
                raise ValueError(f"{file} has {names.count(name)} columns {name!r}; rename them")
            elif name != self.label or self.required_label:
                raise ValueError(no_column(file, name, names))
        return found


def no_column(file: str, name: str, names: Sequence[str]) -> str:
    """Return the message for a column that a file lacks."""
    columns = ", ".join(map(repr, names)) or "none"
    return (
        f"{file} has no column {name!r}; its columns are {columns} (in CSV and TSV, the first line "
        "names them)"
    )


@dataclass(frozen=True)
class Block:
    """Rows that were read together."""

    columns: dict[str, Column]
    rows: NDArray[np.int64]  # the number of each row in its file, from 1
    n_read: int  # bytes of the file
    refused: list[tuple[int, str, str]] = field(default_factory=list)  # (row, reason, text)


#: Reads a file: source, format, wanted columns, rows of a block where the format does not say.
BlockReader = Callable[[Source, str, Wanted, int], Iterator[Block]]


def read_blocks(
    source: Source, format: str, wanted: Wanted, batch_rows: int
) -> Generator[Block, None, None]:
    """Yield the blocks of one file, with the wanted columns."""
    yield from _reader_of(format)(source, format, wanted, batch_rows)


def _reader_of(format: str) -> BlockReader:
    if format in ("csv", "tsv"):
        from recalltree.readers.tables.delimited import read_delimited

        return read_delimited
    try:
        from recalltree.readers.tables.arrow_files import read_arrow_file
    except ImportError as error:
        raise ImportError(
            f"reading {format} needs the package pyarrow: pip install 'recalltree[arrow]'"
        ) from error
    return read_arrow_file


def check_packages(format: str) -> None:
    """Complain, before anything is read, if a package is missing."""
    _reader_of(format)


def first_rows(sources: list[Source], format: str) -> dict[str, Column]:
    """Return all columns of the first rows of the first file, which are not lost for later.

    Of a pipe, these are the rows in its first bytes.
    """
    source = sources[0]
    if source.is_pipe:
        head = source.head()
        source = Source(source.name, lambda: _opened(head), len(head))
    with closing(read_blocks(source, format, Wanted(everything=True), 4096)) as blocks:
        return next((block.columns for block in blocks if block.columns), {})


def _opened(head: bytes) -> Any:
    return io.BytesIO(head)


def list_length(sources: list[Source], format: str, column: str) -> int:
    """Return how long the first list of a column is."""
    if any(source.is_pipe for source in sources):
        raise ValueError(
            "embedding_width is missing: rows that come through a pipe are not looked at before "
            "they are read"
        )
    wanted = Wanted(embedding=(column,), embedding_is_list=True)
    for source in sources:
        with closing(read_blocks(source, format, wanted, 64)) as blocks:
            for block in blocks:
                lists = block.columns.get(column)
                if isinstance(lists, ListColumn) and lists.sizes.any():
                    return int(lists.sizes[np.flatnonzero(lists.sizes)[0]])
    raise ValueError(f"column {column!r} has no list of numbers; pass embedding_width")
