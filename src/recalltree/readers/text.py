"""The text formats: bytes -> the parser of the core -> batches."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scipy.sparse import vstack

from recalltree._core import FeatureSpace, TextParser
from recalltree.readers.background import Consumer, Delivery, Prefetcher
from recalltree.readers.batches import from_text
from recalltree.readers.errors import BadRowError
from recalltree.readers.formats import FORMATS
from recalltree.readers.options import RowOptions
from recalltree.readers.sources import Source

_DEPTH = 4  # pieces of bytes that wait to be parsed
_PATIENCE = 0.05  # seconds after which one asks again whether somebody waits for rows


@dataclass(frozen=True)
class _Piece:
    data: bytes
    n_read: int
    from_pipe: bool
    ends_file: bool = False


def read_pieces(sources: list[Source]) -> Iterator[_Piece]:
    """Yield the decompressed bytes of all sources, and where each source ends."""
    before = 0
    for source in sources:
        stream = source.open()
        try:
            for data in stream:
                yield _Piece(data, before + stream.n_read, source.is_pipe)
            before += stream.n_read
            yield _Piece(b"", before, source.is_pipe, ends_file=True)
        finally:
            stream.close()


class TextRows:
    """The rows of text files.

    Parameters
    ----------
    options : RowOptions
    """

    def __init__(self, options: RowOptions) -> None:
        self.n_features = options.n_features
        self.options = options

    def __call__(
        self, sources: list[Source], space: FeatureSpace | None, consumer: Consumer
    ) -> Iterator[Delivery]:
        """Read all sources once."""
        parser = self._make_parser(space)
        n_read = 0
        with Prefetcher(read_pieces(sources), _DEPTH, until=consumer.has_left) as pieces:
            for piece in pieces:
                n_read = piece.n_read
                used = 0
                while used < len(piece.data) and not parser.stopped:
                    used = parser.feed(piece.data, used)
                    yield from self._deliveries(parser, sources, n_read)
                if piece.ends_file:
                    parser.end_file()
                    yield from self._deliveries(parser, sources, n_read)
                if parser.stopped:
                    return
                # Rows of a slow pipe are wanted now, not when there is a batch of them.
                patience = 0.0
                while piece.from_pipe and not (pieces.wait(patience) or consumer.has_left.is_set()):
                    if consumer.is_waiting:
                        yield from self._deliveries(parser, sources, n_read, flush=True)
                    patience = _PATIENCE
        yield from self._deliveries(parser, sources, n_read, flush=True)

    def of_text(
        self, text: bytes, space: FeatureSpace | None
    ) -> tuple[Any, list[tuple[int, int, int, str, bytes]]]:
        """Return the features of lines, up to a bad row, and what is wrong with that row."""
        parser = self._make_parser(space)
        parts, used = [], 0
        while used < len(text) and not parser.stopped:
            used = parser.feed(text, used)
            parts += self._taken(parser, flush=False)
        parser.end_file()
        parts += self._taken(parser, flush=True)
        problems = parser.take_problems()
        X = vstack(parts, format="csr") if len(parts) > 1 else parts[0] if parts else None
        return X, problems

    def _taken(self, parser: TextParser, flush: bool) -> list[Any]:
        taken = iter(lambda: parser.take(flush), None)
        return [from_text(rows, self.n_features, dense=False).X for rows in taken]

    def _deliveries(
        self, parser: TextParser, sources: list[Source], n_read: int, flush: bool = False
    ) -> Iterator[Delivery]:
        problems = [
            _bad_row(sources[file], line, column, reason, text)
            for file, line, column, reason, text in parser.take_problems()
        ]
        while (taken := parser.take(flush or parser.stopped)) is not None:
            batch = from_text(taken, self.n_features, self.options.dense, self._index_of_first())
            yield Delivery(batch, [], parser.n_skipped, n_read, parser.label_type)
        if problems:
            yield Delivery(None, problems, parser.n_skipped, n_read, parser.label_type)

    def _index_of_first(self) -> int | None:
        """Return how the format numbers the first column, None if numbers are no names."""
        o = self.options
        is_numbered = o.keep_names and FORMATS[o.format].indexed_features
        return (
            int("zero_based" in FORMATS[o.format].options and not o.zero_based)
            if is_numbered
            else None
        )

    def _make_parser(self, space: FeatureSpace | None) -> TextParser:
        o = self.options
        return TextParser(
            o.format,
            space,
            batch_rows=o.batch_rows,
            max_line_bytes=o.max_line_bytes,
            label_type=o.label_type,
            multilabel="all" if o.has_label_lists else o.multilabel,
            require_labels=o.needs_labels,
            stop_at_bad_row=o.on_error == "raise",
            n_features=o.n_features,
            zero_based=o.zero_based,
            quadratic=list(o.quadratic),
            ngrams=o.ngrams,
            label_prefix=o.label_prefix,
        )


def _bad_row(source: Source, line: int, column: int, reason: str, text: bytes) -> BadRowError:
    shown = text.decode(errors="backslashreplace")
    return BadRowError(source.name, line + source.count_lines_before(), column, reason, shown)
