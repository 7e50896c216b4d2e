"""Files of tables -> blocks of columns, through pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray

from recalltree.readers.cells import is_list, plain
from recalltree.readers.errors import DamagedFileError
from recalltree.readers.sources import Source, Stream

#: Bytes of text that are taken apart at a time.
_BLOCK = 1 << 22


@dataclass(frozen=True)
class Wanted:
    """Which columns are read, and how."""

    numeric: tuple[str, ...]
    text: tuple[str, ...]
    embedding: tuple[str, ...]
    embedding_is_list: bool
    label: str | None
    weight: str | None
    required_label: bool
    label_lists: bool  # where the format has types: labels are lists

    @property
    def columns(self) -> list[str]:
        """All of them, each once."""
        names = [self.label, self.weight, *self.numeric, *self.text, *self.embedding]
        return list(dict.fromkeys(name for name in names if name is not None))

    def present(self, names: list[str], file: str) -> list[str]:
        """Return the wanted columns of a file that has columns of these names."""
        found = []
        for name in self.columns:
            if names.count(name) == 1:
                found.append(name)
            elif name in names:
                raise ValueError(f"{file} has {names.count(name)} columns {name!r}; rename them")
            elif name != self.label or self.required_label:
                raise ValueError(
                    f"{file} has no column {name!r}; its columns are {', '.join(names)}"
                )
        return found


@dataclass(frozen=True)
class Block:
    """Rows that were read together."""

    columns: dict[str, pa.Array]
    rows: NDArray[np.int64]  # the number of each row in its file, from 1
    n_read: int  # bytes of the file
    refused: list[tuple[int, str, str]] = field(default_factory=list)  # (row, reason, text)


def read_blocks(
    source: Source, format: str, wanted: Wanted, batch_rows: int
) -> Generator[Block, None, None]:
    """Yield the blocks of one file, with the wanted columns."""
    try:
        yield from _READERS[format](source, wanted, batch_rows)
    except pa.ArrowInvalid as error:
        reason = str(error)
        if "straddl" in reason:
            reason = f"a row is longer than {_BLOCK} bytes"
        raise DamagedFileError(f"{source.name}: not read as {format}: {reason}") from error


def list_length(sources: list[Source], format: str, column: str) -> int:
    """Return how long the first list of a column is."""
    if any(source.is_pipe for source in sources):
        raise ValueError(
            "embedding_width is missing: rows that come through a pipe are not looked at before "
            "they are read"
        )
    wanted = Wanted((), (), (column,), True, None, None, required_label=False, label_lists=False)
    for source in sources:
        with closing(read_blocks(source, format, wanted, 64)) as blocks:
            for block in blocks:
                if column not in block.columns or not is_list(block.columns[column]):
                    continue
                lengths = pc.drop_null(pc.list_value_length(block.columns[column]))
                if len(lengths) and lengths[0].as_py():
                    return int(lengths[0].as_py())
    raise ValueError(f"column {column!r} has no list of numbers; pass embedding_width")


def _number(n: int, first: int) -> NDArray[np.int64]:
    return np.arange(first, first + n, dtype=np.int64)


# --- CSV ------------------------------------------------------------------------------------------


def _read_delimited(source: Source, wanted: Wanted, options: dict[str, Any]) -> Iterator[Block]:
    stream = source.open()
    try:
        names, head = _header(stream, options)
        if not names:
            return
        present = wanted.present(names, source.name)
        stream.push_back(head)
        refused: list[tuple[int, str, str]] = []

        def refuse(row: Any) -> str:
            reason = f"{row.actual_columns} cells, where the header has {row.expected_columns}"
            refused.append((row.number, reason, row.text))
            return "skip"

        # Cells are taken as bytes: what is wrong with one is then known of its row alone.
        reader = pa.csv.open_csv(
            stream.as_file(),
            read_options=pa.csv.ReadOptions(use_threads=False, block_size=_BLOCK),
            parse_options=pa.csv.ParseOptions(
                **options, newlines_in_values=True, invalid_row_handler=refuse
            ),
            convert_options=pa.csv.ConvertOptions(
                include_columns=present,
                column_types=dict.fromkeys(present, pa.binary()),
                strings_can_be_null=False,
            ),
        )
        next_row = 2  # after the header
        for batch in reader:
            rows, next_row = _rows_around(batch.num_rows, next_row, refused)
            taken = [item for item in refused if item[0] < next_row]
            refused[:] = refused[len(taken) :]
            yield Block(_columns(batch, present), rows, stream.n_read, taken)
        yield Block({}, _number(0, 1), stream.n_read, refused)
    finally:
        stream.close()


def _header(stream: Stream, options: dict[str, Any]) -> tuple[list[str], bytes]:
    """Return the names in the first line, and the bytes that were read to see them."""
    head = b""
    for piece in stream:
        head += piece
        if b"\n" in head.lstrip(b"\r\n") or len(head) > _BLOCK:
            break
    lines = head.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n", 1)
    if not lines[0].strip():
        return [], head
    parse = pa.csv.ParseOptions(**options)
    table = pa.csv.read_csv(io.BytesIO(lines[0] + b"\n"), parse_options=parse)
    return table.schema.names, head


def _rows_around(
    n_rows: int, first: int, refused: list[tuple[int, str, str]]
) -> tuple[NDArray[np.int64], int]:
    """Return the numbers of rows among which refused ones stood, and the number after the last."""
    gone = np.array([number for number, _, _ in refused], dtype=np.int64)
    good_before = gone - first - np.arange(len(gone))
    rows = _number(n_rows, first)
    rows += np.searchsorted(good_before, np.arange(n_rows), side="right")
    return rows, int(rows[-1]) + 1 if n_rows else first


def _columns(batch: Any, names: list[str]) -> dict[str, pa.Array]:
    return {name: plain(batch.column(name)) for name in names}


def _read_csv(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    return _read_delimited(source, wanted, {"delimiter": ","})


def _read_tsv(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    return _read_delimited(source, wanted, {"delimiter": "\t", "quote_char": False})


# --- JSON lines -----------------------------------------------------------------------------------


def _read_jsonl(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    stream = source.open()
    try:
        first = 1
        for text in _whole_lines(stream):
            lines = text.split(b"\n")
            numbered = [(first + i, line) for i, line in enumerate(lines) if line.strip()]
            yield from _parse_json(numbered, wanted, source.name, stream.n_read)
            first += len(lines) - 1
    finally:
        stream.close()


def _whole_lines(stream: Stream) -> Iterator[bytes]:
    """Yield pieces that end where a line ends."""
    parts: list[bytes] = []
    size = 0
    for piece in stream:
        if not parts:
            piece = piece.removeprefix(b"\xef\xbb\xbf")
        cut = piece.rfind(b"\n") + 1
        size += len(piece)
        if cut and size >= _BLOCK:
            yield b"".join(parts) + piece[:cut]
            parts, size = [], 0
            piece = piece[cut:]
        parts.append(piece)
    yield b"".join(parts)


def _parse_json(
    lines: list[tuple[int, bytes]], wanted: Wanted, name: str, n_read: int
) -> Iterator[Block]:
    """Yield the rows of lines; where that fails, of ever fewer lines, down to the bad one."""
    if not lines:
        return
    rows = np.array([number for number, _ in lines], dtype=np.int64)
    reason = "not one JSON object"
    label_types = (pa.string(), pa.int64(), pa.float64())
    for label_type in map(pa.list_, label_types) if wanted.label_lists else label_types:
        try:
            table = _json_table(b"\n".join(line for _, line in lines), wanted, label_type)
        except pa.ArrowInvalid as error:
            reason = str(error).removeprefix("JSON parse error: ").removesuffix(" in row 0")
            continue
        if table.num_rows == len(lines):
            yield Block(_columns(table, table.schema.names), rows, n_read)
            return
    if len(lines) == 1:
        shown = lines[0][1][:60].decode(errors="backslashreplace")
        yield Block({}, rows[:0], n_read, [(lines[0][0], reason, shown)])
        return
    half = len(lines) // 2
    yield from _parse_json(lines[:half], wanted, name, n_read)
    yield from _parse_json(lines[half:], wanted, name, n_read)


def _json_table(text: bytes, wanted: Wanted, label_type: pa.DataType) -> pa.Table:
    types: dict[str, pa.DataType] = dict.fromkeys(wanted.text, pa.string())
    if wanted.label is not None:
        types[wanted.label] = label_type
    if wanted.weight is not None:
        types[wanted.weight] = pa.float32()
    types |= dict.fromkeys(wanted.numeric, pa.float32())
    of_embedding = pa.list_(pa.float32()) if wanted.embedding_is_list else pa.float32()
    types |= dict.fromkeys(wanted.embedding, of_embedding)
    return pa.json.read_json(
        io.BytesIO(text),
        read_options=pa.json.ReadOptions(use_threads=False, block_size=len(text) + 1),
        parse_options=pa.json.ParseOptions(
            explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"
        ),
    )


# --- Parquet and Arrow ----------------------------------------------------------------------------


def _read_parquet(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    with pa.parquet.ParquetFile(source.open_seekable()) as file:
        present = wanted.present(file.schema_arrow.names, source.name)
        first, n_rows = 1, max(1, file.metadata.num_rows)
        for batch in file.iter_batches(batch_size=batch_rows, columns=present):
            rows = _number(batch.num_rows, first)
            first += batch.num_rows
            # How far the file itself was read is not told.
            n_read = (source.size or 0) * (first - 1) // n_rows
            yield Block(_columns(batch, present), rows, n_read)


def _read_arrow(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    if not source.is_pipe and source.head().startswith(b"ARROW1"):
        with pa.ipc.open_file(source.open_seekable()) as file:
            batches = (file.get_batch(i) for i in range(file.num_record_batches))
            for i, block in enumerate(_arrow_blocks(source, file.schema, batches, wanted), 1):
                n_read = (source.size or 0) * i // file.num_record_batches
                yield Block(block.columns, block.rows, n_read)
        return
    stream = source.open()
    try:
        with pa.ipc.open_stream(stream.as_file()) as reader:
            for block in _arrow_blocks(source, reader.schema, reader, wanted):
                yield Block(block.columns, block.rows, stream.n_read)
    finally:
        stream.close()


def _arrow_blocks(
    source: Source, schema: pa.Schema, batches: Any, wanted: Wanted
) -> Iterator[Block]:
    present = wanted.present(schema.names, source.name)
    first = 1
    for batch in batches:
        yield Block(_columns(batch, present), _number(batch.num_rows, first), 0)
        first += batch.num_rows


_READERS: dict[str, Callable[[Source, Wanted, int], Iterator[Block]]] = {
    "csv": _read_csv,
    "tsv": _read_tsv,
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
