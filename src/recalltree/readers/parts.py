"""Parts of files: slices that different processes read, so that each row is in one of them.

A part of a text file is a range of bytes and has the lines that begin in it. A part of Parquet and
of Arrow files is a range of rows. A header belongs to every part. Compressed files, CSV (whose
cells may have line breaks) and Arrow streams cannot be cut: each is a part as a whole.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from recalltree.readers.compression import MAGIC_BYTES, compression_of
from recalltree.readers.sources import Source, find_sources

_CUT_BY_LINES = ("svmlight", "vw", "fasttext", "xc", "tsv", "jsonl")
_CUT_BY_ROWS = ("parquet", "arrow")
_WITH_HEADER = ("xc", "tsv")
_PIECE = 1 << 20


@dataclass(frozen=True)
class FilePart:
    """A part of a file, which ``open_rows`` takes in place of a path.

    Attributes
    ----------
    path : str
        A path or an address.
    unit : {"file", "bytes", "rows"}
        What `begin` and `end` count; "file" is all of it.
    begin, end : int
    has_header : bool
        Whether the file's first line belongs to every part.
    n_rows : float
        About how many rows it has; exact where rows are counted.
    """

    path: str
    unit: str = "file"
    begin: int = 0
    end: int = 0
    has_header: bool = False
    n_rows: float = 0.0

    def source(self) -> Source:
        """Return what readers open."""
        (whole,) = find_sources(self.path)
        if self.unit == "rows":
            whole.rows = (self.begin, self.end)
        elif self.unit == "bytes":
            return _of_bytes(whole, self)
        return whole


def cut(
    source: Source, format: str, n_parts: int, rows_per_byte: float, first: float = 0.0
) -> list[FilePart]:
    """Return parts of about equal size, in order; fewer where a file is short.

    Parameters
    ----------
    source : Source
    format : str
        As ``open_rows`` names it.
    n_parts : int
    rows_per_byte : float
        About how many rows there are in a byte, where rows are not counted.
    first : float, default=0
        About how many rows make a part of their own before the others.

    Returns
    -------
    list of FilePart
        The same list for the same file.
    """
    size = source.size or 0
    whole = FilePart(source.name, n_rows=size * rows_per_byte)
    if (n_parts <= 1 and not first) or size == 0:
        return [whole]
    if format in _CUT_BY_ROWS:
        n_rows = count_rows(source, format)
        if n_rows is None:
            return [whole]
        return [
            replace(whole, unit="rows", begin=begin, end=end, n_rows=end - begin)
            for begin, end in _ranges(n_rows, n_parts, first)
        ]
    if format not in _CUT_BY_LINES or _is_compressed(source):
        return [whole]
    has_header = format in _WITH_HEADER
    return [
        replace(
            whole,
            unit="bytes",
            begin=begin,
            end=end,
            has_header=has_header,
            n_rows=(end - begin) * rows_per_byte,
        )
        for begin, end in _ranges(size, n_parts, first / rows_per_byte)
    ]


def _ranges(size: int, n_parts: int, first: float) -> list[tuple[int, int]]:
    start = min(size, int(first))
    n_parts = max(1, n_parts)
    bounds = [start + (size - start) * i // n_parts for i in range(n_parts + 1)]
    return [(a, b) for a, b in pairwise([0, *bounds]) if a < b]


def _is_compressed(source: Source) -> bool:
    with source.open_seekable() as file:
        return compression_of(file.read(MAGIC_BYTES)) is not None


def count_rows(source: Source, format: str) -> int | None:
    """Return how many rows a file has, None where that would take reading it."""
    if format not in _CUT_BY_ROWS:
        return None
    import pyarrow as pa
    import pyarrow.parquet

    with source.open_seekable() as file:
        if format == "parquet":
            return int(pa.parquet.read_metadata(file).num_rows)
        if not source.head().startswith(b"ARROW1"):
            return None
        with pa.ipc.open_file(file) as table:
            batches = range(table.num_record_batches)
            return sum(table.get_batch(i).num_rows for i in batches)


# --- lines ----------------------------------------------------------------------------------------


def _of_bytes(whole: Source, part: FilePart) -> Source:
    def opened() -> Any:
        return _open_lines(whole, part)

    source = Source(whole.name, opened, part.end - part.begin)
    source.count_lines_before = lambda: _lines_before(whole, part)
    return source


def _open_lines(whole: Source, part: FilePart) -> io.BufferedReader:
    return io.BufferedReader(_Lines(whole.open_seekable(), part), _PIECE)


class _Lines(io.RawIOBase):
    """The lines of a file that begin in a range of its bytes, after its header if it has one.

    A line begins in the range if the byte before it, which ends the line before, is in the range
    shifted by one: so each line is in one range.
    """

    def __init__(self, file: Any, part: FilePart) -> None:
        self._file = file
        self._header = b""
        at = 0
        if part.has_header and part.begin > 0:
            file.seek(0)
            self._header = _read_line(file)
        if part.begin > 0:
            file.seek(part.begin - 1)
            at = part.begin - 1 + len(_read_line(file))
        if part.end <= at:  # no line begins in it
            self._left, self._ends = 0, True
        else:
            file.seek(at)
            self._left, self._ends = part.end - at, False
        self._last = b"\n"

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._next(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _next(self, size: int) -> bytes:
        if self._header:
            data, self._header = self._header[:size], self._header[size:]
            return data
        if self._left > 0:
            data = self._file.read(min(size, self._left))
            self._left = self._left - len(data) if data else 0
            self._last = data[-1:]
            if data:
                return bytes(data)
        if self._ends or self._last in (b"\n", b""):
            return b""
        data = self._file.readline(size)  # the rest of the last line
        self._last = data[-1:]
        return bytes(data)


def _read_line(file: Any) -> bytes:
    """Return bytes up to the end of the line, with a buffer where the file has none."""
    parts = []
    while data := file.read(1 << 12):
        at = data.find(b"\n") + 1
        if at:
            parts.append(data[:at])
            break
        parts.append(data)
    return b"".join(parts)


def _lines_before(whole: Source, part: FilePart) -> int:
    """Return how many lines of the file come before those of a part, less its copy of the header.

    It is counted when it is asked for: when a row is bad.
    """
    if part.begin == 0:
        return 0
    with whole.open_seekable() as file:
        file.seek(part.begin - 1)
        left = part.begin - 1 + len(_read_line(file))
        file.seek(0)
        n = 0
        while left > 0 and (data := file.read(min(_PIECE, left))):
            n += data.count(b"\n")
            left -= len(data)
    return n - part.has_header
