"""Plan of which worker learns which rows in which round: the same for the same files and numbers.

Files are taken in order. A file with more rows than a worker learns in a round is cut into parts of
equal size, where its format can be cut (``recalltree.readers.parts``). A round takes the next parts
until they have about `sync_every` rows, and its workers share them out in order, each about as many
rows. Rows of text are not counted for this: their number follows from the first lines and the sizes
of the files. Before the first round, one worker may learn some rows alone.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from recalltree.readers import open_rows
from recalltree.readers.parts import FilePart, count_rows, cut
from recalltree.readers.sources import Source, find_sources

#: Parts that one worker learns in one round.
Shard = tuple[FilePart, ...]

#: Sizes differ by so little that another part would not be worth it.
_TOLERANCE = 0.05


@dataclass(frozen=True)
class Plan:
    """Plan of one pass.

    Attributes
    ----------
    options : dict
        Options of ``open_rows``, complete, so that all workers read alike.
    rounds : list of lists of Shard
        The shards of each round.
    files : list of (str, int)
        Names and sizes.
    n_rows : float
        About how many rows there are.
    """

    options: dict[str, Any]
    rounds: list[list[Shard]]
    files: list[tuple[str, int]]
    n_rows: float


def make_plan(
    rows: Any, num_workers: int, sync_every: int, alone: int, options: Mapping[str, Any]
) -> Plan:
    """Return the plan of a pass; of the rows, only the first are read."""
    paths = _paths(rows)
    sources = find_sources(paths)
    for source in sources:
        if source.size is None:
            raise ValueError(
                f"{source.name} is a pipe, or tells no size, so workers cannot share it out; save "
                "it to a file."
            )
    complete = _complete(sources, options)
    rows_per_byte = _rows_per_byte(sources[0], complete["format"])
    n_rows = sum((source.size or 0) * rows_per_byte for source in sources)
    of_worker = max(1.0, min(sync_every, n_rows) / num_workers)
    parts: list[FilePart] = []
    for source in sources:
        first = alone if source is sources[0] else 0
        in_file = max(0.0, (source.size or 0) * rows_per_byte - first)
        n_parts = math.ceil(in_file / of_worker - _TOLERANCE)
        parts += cut(source, complete["format"], n_parts, rows_per_byte, first)
    rounds: list[list[Shard]] = [[(parts.pop(0),)]] if alone else []
    rounds += [_share(of_round, num_workers) for of_round in _rounds(parts, sync_every)]
    files = [(source.name, source.size or 0) for source in sources]
    return Plan(complete, rounds, files, n_rows)


def _paths(rows: Any) -> list[str]:
    given = [rows] if isinstance(rows, str | os.PathLike) else rows
    if not isinstance(given, Sequence) or not given:
        raise ValueError(f"rows={rows!r}: give a path, a pattern, an address, or a list of these.")
    paths = []
    for path in given:
        if not isinstance(path, str | os.PathLike) or path == "-":
            raise ValueError(
                f"rows: {path!r} cannot be opened by workers; give paths, patterns and addresses."
            )
        text = os.fspath(path)
        paths.append(text if "://" in text else os.path.abspath(text))  # noqa: PTH100
    return paths


def _complete(sources: list[Source], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as the first rows complete them: columns, widths, types of labels."""
    names = [FilePart(source.name) for source in sources]
    given = open_rows(names, **options)
    with open_rows(names[:1], **{**given.options, **options, "format": given.format}) as reader:
        next(iter(reader), None)
        complete = {**options, **reader.options}
    complete.pop("bits", None)
    if options.get("state") is None:
        complete.pop("state", None)  # what the first rows taught is learned again
    return complete


def _rows_per_byte(source: Source, format: str) -> float:
    if not source.size:
        return 0.0
    n_rows = count_rows(source, format)
    if n_rows is not None:
        return n_rows / source.size
    stream = source.open()
    try:
        head = next(stream, b"")
        return max(1, head.count(b"\n")) / max(1, stream.n_read)
    finally:
        stream.close()


def _rounds(parts: list[FilePart], sync_every: int) -> list[list[FilePart]]:
    rounds: list[list[FilePart]] = []
    now: list[FilePart] = []
    for part in parts:
        now.append(part)
        if sum(p.n_rows for p in now) >= sync_every * (1 - _TOLERANCE):
            rounds.append(now)
            now = []
    return [*rounds, now] if now else rounds


def _share(parts: list[FilePart], num_workers: int) -> list[Shard]:
    """Share out parts in order, each worker about as many rows."""
    total = sum(part.n_rows for part in parts) or 1.0
    shards: list[list[FilePart]] = [[] for _ in range(num_workers)]
    before = 0.0
    for part in parts:
        middle = before + part.n_rows / 2
        shards[min(num_workers - 1, int(num_workers * middle / total))].append(part)
        before += part.n_rows
    return [tuple(shard) for shard in shards if shard]
