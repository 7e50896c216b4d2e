"""The table formats: columns of numbers and text -> batches."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import FeatureSpace, encode_words
from recalltree.readers.background import Consumer, Delivery
from recalltree.readers.batches import Batch, joined_names, sparse_rows, with_block
from recalltree.readers.errors import BadRowError
from recalltree.readers.options import RowOptions
from recalltree.readers.sources import Source
from recalltree.readers.tables.blocks import Block, Wanted, read_blocks
from recalltree.readers.tables.cells import (
    BadCells,
    good_rows,
    iterate_bad,
    numbers,
    texts,
    vectors,
)
from recalltree.readers.tables.columns import Column, TextColumn
from recalltree.readers.tables.label_cells import Labels, ListedLabels

#: Name, in messages, of rows that come from elsewhere.
_NO_FILE = Source("<rows>", io.BytesIO, 0)


class TableRows:
    """The rows of tables.

    Parameters
    ----------
    options : RowOptions
    """

    def __init__(self, options: RowOptions) -> None:
        n_words = options.n_features if options.text_column else 0
        n_numeric = len(options.numeric_columns)
        self.n_features = n_numeric + n_words + (options.embedding_width or 0)
        self.options = options
        self._wanted = Wanted(
            numeric=options.numeric_columns,
            text=options.text_column,
            embedding=options.embedding_columns,
            embedding_is_list=options.embedding_is_list,
            label=options.label_column,
            weight=options.weight_column,
            required_label=options.require_labels,
            label_lists=options.has_label_lists and options.label_separator is None,
        )

    def __call__(
        self, sources: list[Source], space: FeatureSpace | None, consumer: Consumer
    ) -> Iterator[Delivery]:
        """Read all sources once."""
        o = self.options
        labels = _make_labels(o)
        n_skipped, before = 0, 0
        for source in sources:
            n_read = 0
            for block in read_blocks(source, o.format, self._wanted, o.batch_rows):
                n_read = block.n_read
                for part in _parts(block, o.batch_rows):
                    batch, problems = self._read(part, labels, space, source)
                    if o.on_error == "raise" and problems:
                        yield Delivery(batch, problems[:1], 0, before + n_read, labels.label_type)
                        return
                    n_skipped += len(problems)
                    yield Delivery(batch, problems, n_skipped, before + n_read, labels.label_type)
            before += source.size or n_read

    def read_block(
        self, block: Block, space: FeatureSpace | None
    ) -> tuple[Batch | None, list[BadRowError]]:
        """Return the features of rows that come from no file, and what is wrong with bad rows."""
        return self._read(block, _make_labels(self.options), space, _NO_FILE)

    def _read(
        self, block: Block, labels: Labels | ListedLabels, space: FeatureSpace | None, file: Source
    ) -> tuple[Batch | None, list[BadRowError]]:
        o, columns, n_rows = self.options, block.columns, len(block.rows)
        bad = BadCells()
        y: Any = None
        embedding = None
        weights = names = None
        X = np.zeros((n_rows, len(o.numeric_columns)), dtype=np.float32)
        if columns:
            for j, name in enumerate(o.numeric_columns):
                X[:, j] = numbers(columns[name], name, bad)
            embedding = self._embedding(columns, n_rows, bad)
            words = [texts(columns[name], name, bad) for name in o.text_column]
            if o.weight_column is not None:
                weights = numbers(columns[o.weight_column], o.weight_column, bad)
                negative = np.flatnonzero(weights < 0)
                bad.add(negative, o.weight_column, "a negative weight", columns[o.weight_column])
            if o.label_column in columns:
                y = labels.read(columns[o.label_column], o.label_column, bad)
        kept = good_rows(n_rows, bad)
        if o.on_error == "raise":  # what comes after the first bad row is not looked at
            gone = [int(np.searchsorted(block.rows, row)) for row, _, _ in block.refused]
            kept = kept[kept < min([*bad.found, *gone], default=n_rows)]
        X = X[kept]
        if columns and o.text_column:
            assert space is not None
            X, refused, names = self._with_words(X, words, kept, space)
            for row in kept[refused].tolist():
                bad.found[row] = (o.text_column[0], _full(o.n_features), "")
            kept = kept[~refused]
            if o.on_error == "raise" and refused.any():
                n_before = int(np.argmax(refused))
                X, kept = X[:n_before], kept[:n_before]
        batch = None
        if len(kept):
            n_before_embedding = X.shape[1]
            X = X if embedding is None else with_block(X, embedding[kept])
            batch = Batch(
                X=X,
                y=labels.of_rows(y, kept),
                sample_weight=None if weights is None else weights[kept],
                feature_names=self._names(names, len(kept), n_before_embedding),
            )
        return batch, _problems(block, bad, file)

    def _embedding(
        self, columns: dict[str, Column], n_rows: int, bad: BadCells
    ) -> NDArray[np.float32] | None:
        """Return the features of the embedding, None if there is none."""
        names, width = self.options.embedding_columns, self.options.embedding_width
        if not names:
            return None
        assert width is not None
        if self.options.embedding_is_list:
            return vectors(columns[names[0]], names[0], width, bad)
        block = np.zeros((n_rows, width), dtype=np.float32)
        for j, name in enumerate(names):
            block[:, j] = numbers(columns[name], name, bad)
        return block

    def _names(
        self, words: list[dict[int, list[str]]] | None, n_rows: int, embedding_begins: int
    ) -> list[dict[int, str]] | None:
        """Return what the features of each row are called, if that is asked for."""
        o = self.options
        if not o.keep_names:
            return None
        columns = dict(enumerate(o.numeric_columns))
        if o.embedding_columns:
            listed = [f"{o.embedding_columns[0]}[{i}]" for i in range(o.embedding_width or 0)]
            block = listed if o.embedding_is_list else o.embedding_columns
            columns |= dict(enumerate(block, embedding_begins))
        n = len(o.numeric_columns)
        return [
            {**columns, **{n + column: name for column, name in row.items()}}
            for row in (joined_names(words) or [{}] * n_rows)[:n_rows]
        ]

    def _with_words(
        self,
        X: NDArray[np.float32],
        words: list[TextColumn],
        kept: NDArray[np.int64],
        space: FeatureSpace,
    ) -> tuple[Any, NDArray[np.bool_], list[dict[int, list[str]]] | None]:
        """Put the features of words behind the columns of numbers.

        Says which rows have no room, and what the words of the others are if names are kept.
        """
        o = self.options
        columns = []
        for name, column in zip(o.text_column, words, strict=True):
            text = column.take(kept)
            if o.lowercase:
                text = text.lowered()
            prefix = f"{name}^" if len(words) > 1 else ""
            columns.append((text.offsets, text.data, prefix))
        indptr, indices, values, status, names = encode_words(space, columns, o.ngrams)
        refused = status != 0
        if X.shape[1]:
            indptr, indices, values = _behind(X[~refused], indptr, indices, values)
        n_features = X.shape[1] + o.n_features
        rows = sparse_rows(indptr, indices, values, n_features)
        return rows.toarray() if o.dense else rows, refused, names


def _make_labels(options: RowOptions) -> Labels | ListedLabels:
    if options.has_label_lists:
        return ListedLabels(options.label_type, options.needs_labels, options.label_separator)
    return Labels(options.label_type, options.needs_labels)


def _behind(
    X: NDArray[np.float32],
    indptr: NDArray[np.int32],
    indices: NDArray[np.int32],
    values: NDArray[np.float32],
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    """Return the rows of a sparse matrix, each behind a row of a dense one."""
    n_numeric = X.shape[1]
    counts = np.diff(indptr)
    joined = np.concatenate([[0], np.cumsum(counts + n_numeric)])
    if joined[-1] > np.iinfo(np.int32).max:
        raise ValueError("too many features for one batch; lower batch_rows")
    starts = joined[:-1, None] + np.arange(n_numeric)
    is_word = np.ones(joined[-1], dtype=bool)
    is_word[starts] = False
    all_indices = np.empty(joined[-1], dtype=np.int32)
    all_values = np.empty(joined[-1], dtype=np.float32)
    all_indices[starts] = np.arange(n_numeric, dtype=np.int32)
    all_values[starts] = X
    all_indices[is_word] = indices + n_numeric
    all_values[is_word] = values
    return joined.astype(np.int32), all_indices, all_values


def _parts(block: Block, n: int) -> Iterator[Block]:
    """Cut a block into pieces of at most n rows; rows that were refused go with the first after."""
    starts = range(0, len(block.rows), n) or [0]
    refused = block.refused
    for start in starts:
        stop = start + n
        is_last = stop >= len(block.rows)
        now = [r for r in refused if is_last or r[0] < block.rows[stop]]
        refused = refused[len(now) :]
        columns = {name: column.part(start, stop) for name, column in block.columns.items()}
        yield Block(columns, block.rows[start:stop], block.n_read, now)


def _problems(block: Block, bad: BadCells, file: Source) -> list[BadRowError]:
    if not (block.refused or bad.found):
        return []
    before = file.count_lines_before()
    found = [
        BadRowError(file.name, before + row, 1, reason, text[:60])
        for row, reason, text in block.refused
    ]
    found += [
        BadRowError(file.name, before + int(block.rows[i]), *rest) for i, *rest in iterate_bad(bad)
    ]
    return sorted(found, key=lambda problem: problem.line)


def _full(n_features: int) -> str:
    return (
        f"the dictionary is full with {n_features} features; raise n_features (or bits), or take "
        "features='hashed'"
    )
