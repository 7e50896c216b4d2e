"""CSV and TSV -> blocks of columns, through the splitter of the core."""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np

from recalltree._core import split_delimited
from recalltree.readers.errors import DamagedFileError
from recalltree.readers.sources import Source, Stream
from recalltree.readers.tables.blocks import BLOCK_BYTES, Block, Wanted
from recalltree.readers.tables.columns import Column, TextColumn

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_delimited(source: Source, format: str, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    """Yield the blocks of one file; the first row is the header."""
    stream = source.open()
    try:
        names, text = _header(stream, format, source.name)
        if not names:
            return
        present = wanted.present(names, source.name)
        next_row = 2  # after the header
        is_last = False
        while not is_last:
            text, is_last = _fill(text, stream)
            n_bytes, n_rows, rows, cells, refused = split_delimited(
                text,
                delimiter=_DELIMITERS[format],
                quotes=format == "csv",
                n_columns=len(names),
                wanted=[names.index(name) for name in present],
                is_last=is_last,
            )
            if n_bytes == 0 and not is_last:
                reason = f"not read as {format}: a row is longer than {BLOCK_BYTES} bytes"
                raise DamagedFileError(f"{source.name}: {reason}")
            no_cell_is_missing = np.zeros(len(rows), dtype=bool)
            columns: dict[str, Column] = {
                name: TextColumn(*arrays, no_cell_is_missing)
                for name, arrays in zip(present, cells, strict=True)
            }
            shown = [
                (row + next_row, reason, text.decode(errors="backslashreplace"))
                for row, reason, text in refused
            ]
            yield Block(columns, rows + next_row, stream.n_read, shown)
            text = text[n_bytes:]
            next_row += n_rows
    finally:
        stream.close()


def _fill(text: bytes, stream: Stream) -> tuple[bytes, bool]:
    """Return a block of text that begins with this, and whether it is the last."""
    pieces, size = [text], len(text)
    while size < BLOCK_BYTES:
        piece = next(stream, None)
        if piece is None:
            return b"".join(pieces), True
        pieces.append(piece)
        size += len(piece)
    return b"".join(pieces), False


def _header(stream: Stream, format: str, file: str) -> tuple[list[str], bytes]:
    """Return the names in the first line, and the bytes after it that were read."""
    head = b""
    for piece in stream:
        head = (head + piece).lstrip(b"\r\n") if head else piece.removeprefix(_BYTE_ORDER_MARK)
        if b"\n" in head.lstrip(b"\r\n") or len(head) > BLOCK_BYTES:
            break
    line, _, rest = head.lstrip(b"\r\n").partition(b"\n")
    try:
        text = line.decode().removesuffix("\r")
        names = next(csv.reader([text]), []) if format == "csv" else text.split("\t")
    except (UnicodeDecodeError, csv.Error) as error:
        reason = f"not read as {format}: its header is no line of text: {error}"
        raise DamagedFileError(f"{file}: {reason}") from error
    return (names if text.strip() else []), rest
