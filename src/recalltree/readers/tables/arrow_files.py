"""JSON lines, Parquet and Arrow -> blocks of columns, through pyarrow."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.ipc
import pyarrow.json
import pyarrow.parquet
from numpy.typing import NDArray

from recalltree.readers.errors import DamagedFileError
from recalltree.readers.sources import Source, Stream
from recalltree.readers.tables.blocks import BLOCK_BYTES, Block, Wanted
from recalltree.readers.tables.columns import (
    Column,
    ListColumn,
    NumberColumn,
    OtherColumn,
    TextColumn,
)


def read_arrow_file(
    source: Source, format: str, wanted: Wanted, batch_rows: int
) -> Iterator[Block]:
    """Yield the blocks of one file."""
    try:
        yield from _READERS[format](source, wanted, batch_rows)
    except pa.ArrowInvalid as error:
        raise DamagedFileError(f"{source.name}: not read as {format}: {error}") from error


def _number(n: int, first: int) -> NDArray[np.int64]:
    return np.arange(first, first + n, dtype=np.int64)


# --- columns --------------------------------------------------------------------------------------


def _columns(batch: Any, names: list[str]) -> dict[str, Column]:
    return {name: column_of_array(batch.column(name)) for name in names}


def column_of_array(array: pa.Array | pa.ChunkedArray) -> Column:
    """Return a column of Arrow as the readers take it."""
    array = _plain(array)
    missing = array.is_null().to_numpy(zero_copy_only=False)
    type_ = array.type
    if pa.types.is_null(type_):
        return TextColumn.of_missing(len(array))
    if str(type_) in ("string", "large_string", "binary", "large_binary"):
        return TextColumn(*_buffers(array), missing)
    if "list" in str(type_).split("<", 1)[0]:
        sizes = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
        return ListColumn(column_of_array(array.flatten()), sizes.astype(np.int64), missing)
    if pa.types.is_boolean(type_):
        array = array.cast(pa.uint8())
    elif pa.types.is_decimal(type_):
        array = array.cast(pa.float64())
    if pa.types.is_integer(array.type) or pa.types.is_floating(array.type):
        return NumberColumn(pc.fill_null(array, 0).to_numpy(zero_copy_only=False), missing)
    return OtherColumn(str(type_), missing)


def _plain(array: pa.Array | pa.ChunkedArray) -> pa.Array:
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


def _buffers(array: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return offsets and bytes of an array of text; a missing cell is empty."""
    array = pc.fill_null(array.cast(pa.large_binary()), b"")
    _, offsets, data = array.buffers()
    if offsets is None or len(array) == 0:
        return np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.uint8)
    first = np.frombuffer(offsets, dtype=np.int64)[array.offset : array.offset + len(array) + 1]
    bytes_ = np.empty(0, np.uint8) if data is None else np.frombuffer(data, dtype=np.uint8)
    return first, bytes_


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
        if cut and size >= BLOCK_BYTES:
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
            explicit_schema=pa.schema(list(types.items())),
            unexpected_field_behavior="infer" if wanted.everything else "ignore",
        ),
    )


# --- Parquet and Arrow ----------------------------------------------------------------------------


def _read_parquet(source: Source, wanted: Wanted, batch_rows: int) -> Iterator[Block]:
    with pa.parquet.ParquetFile(source.open_seekable()) as file:
        present = wanted.present(file.schema_arrow.names, source.name)
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        begin, end = source.rows or (0, file.metadata.num_rows)
        groups, first = _overlapping(sizes, begin, end)
        if not groups:
            return
        for batch in file.iter_batches(batch_size=batch_rows, columns=present, row_groups=groups):
            kept, number = _within(batch, first, begin, end)
            first += batch.num_rows
            if kept.num_rows:
                # The position within the file is unknown.
                n_read = (source.size or 0) * (number + kept.num_rows) // max(1, sum(sizes))
                yield Block(_columns(kept, present), _number(kept.num_rows, number + 1), n_read)


def _overlapping(sizes: list[int], begin: int, end: int) -> tuple[list[int], int]:
    """Return which groups of rows have some of a range, and the first row of the first of them."""
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
    groups = [i for i in range(len(sizes)) if starts[i] < end and begin < starts[i + 1]]
    return groups, int(starts[groups[0]]) if groups else 0


def _within(batch: Any, first: int, begin: int, end: int) -> tuple[Any, int]:
    """Return the rows of a batch that are in a range, and the number of the first."""
    start = max(0, begin - first)
    stop = min(batch.num_rows, end - first)
    return batch.slice(start, max(0, stop - start)), first + start


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
    first = 0
    begin, end = source.rows or (0, np.iinfo(np.int64).max)
    for batch in batches:
        kept, number = _within(batch, first, begin, end)
        yield Block(_columns(kept, present), _number(kept.num_rows, number + 1), 0)
        first += batch.num_rows


_READERS: dict[str, Callable[[Source, Wanted, int], Iterator[Block]]] = {
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
}
