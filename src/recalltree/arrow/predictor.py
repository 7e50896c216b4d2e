"""The function that engines call: a record batch of rows -> a record batch of answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recalltree.arrow.columns import Feature, column_of, refuse_nulls, rows_of
from recalltree.arrow.schema import Kept, as_ddl, check_kept, output_schema
from recalltree.arrow.shared_model import FileIdentity, SharedModel, identify, open_shared
from recalltree.readers import BadRowError
from recalltree.readers.features import RowFeatures
from recalltree.readers.tables.arrow_files import column_of_array
from recalltree.readers.tables.columns import TextColumn
from recalltree.validation import check_matrix, count_threads

NULLS = ("raise", "empty")


class Predictor:
    """Predicts from a model file, batch by batch, in whatever process it is called.

    A pickle of it holds the path of the file and a digest of its content, and never the model: each
    process maps the file, so that the processes of one machine share its memory.

    Parameters
    ----------
    model : path-like
        A model file. Every machine with workers needs it at this path.
    k : int, default=1
        How many labels to give for each row, the best first.
    features : str, pair of str, or list of these, default=None
        The columns that rows are made of, side by side. A column holds

        - numbers, each one feature;
        - lists of numbers, all of one length (fixed-size lists and others): dense rows;
        - lists of structs of an integer and a number, or maps: the features of a sparse row, from
          0, and their values; so does a struct of the lists ``indices`` and ``values``, and so does
          a pair of columns ``(indices, values)``;
        - text, a line each in the format of the files that the model learned from.

        None: the columns of the tables that the model learned from (their words and numbers become
        the features they were then), the columns of its data frames, or the only column there is.
    keep : sequence of str, or mapping of str to type, default=()
        Columns that pass through, such as ids. ``schema`` needs their types: ``{"id": "int64"}``.
    threshold : float, default=None
        Leave out labels of a smaller probability.
    nulls : {"raise", "empty"}
        What to do about null text and null sparse rows: raise a ValueError that names the column,
        or take them as empty. Other nulls are always errors.
    labels, probabilities : str
        Names of the columns of answers; probabilities may be None, for none.
    n_jobs : int, default=None
        Threads of each call; None is one, as engines run a worker on every core.

    Attributes
    ----------
    arrow_schema : Schema
        What ``batches`` yields, for pyarrow.
    schema : str
        The same in the words of Spark.

    Raises
    ------
    ModelChangedError
        By calls, if the file is not the one any more for which this was made.
    ValueError
        If a batch lacks a column, or holds what no row can be made of: the message names the
        column.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.arrow import Predictor
    >>> clf = RecallTreeClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> file = tempfile.NamedTemporaryFile(suffix=".rt")
    >>> clf.save(file.name)
    >>> answer = Predictor(file.name, k=2, keep={"id": "int64"})
    >>> batch = pa.record_batch({"id": [7, 8], "x": [[0.0, 1.0], [1.0, 0.0]]})
    >>> answer(batch).drop_columns("probabilities").to_pylist()
    [{'id': 7, 'labels': ['no', 'yes']}, {'id': 8, 'labels': ['yes', 'no']}]
    >>> answer.schema
    '`id` BIGINT, `labels` ARRAY<STRING>, `probabilities` ARRAY<FLOAT>'
    >>> [answers.num_rows for answers in answer.batches([batch, batch])]
    [2, 2]
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        k: int = 1,
        *,
        features: str | tuple[str, str] | Sequence[Feature] | None = None,
        keep: Sequence[str] | Mapping[str, Any] = (),
        threshold: float | None = None,
        nulls: str = "raise",
        labels: str = "labels",
        probabilities: str | None = "probabilities",
        n_jobs: int | None = None,
    ) -> None:
        self._identity: FileIdentity = identify(model)
        shared = open_shared(self._identity)
        n_classes = len(shared.classes)
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n_classes:
            raise ValueError(
                f"k={k!r}: k must be an integer from 1 to the number of classes, {n_classes}."
            )
        is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
        if threshold is not None and not (is_number and 0 <= threshold <= 1):
            raise ValueError(f"threshold={threshold!r}: it must be a number from 0 to 1.")
        if nulls not in NULLS:
            raise ValueError(f"nulls={nulls!r}: it must be one of {', '.join(NULLS)}.")
        self._k: int = int(k)
        self._features: list[Feature] | None = _check_features(features)
        self._kept: Kept = check_kept(keep)
        self._threshold: float | None = threshold
        self._empty_nulls: bool = nulls == "empty"
        fields = [pa.field(labels, pa.list_(shared.classes.type))]
        if probabilities is not None:
            fields.append(pa.field(probabilities, pa.list_(pa.float32())))
        self._answers: list[pa.Field] = fields
        names = [*self._kept, *(field.name for field in fields)]
        if len(set(names)) < len(names):
            raise ValueError(f"two columns of the answers have one name: {', '.join(names)}.")
        self._n_threads: int = count_threads(n_jobs)
        self._make_features(shared)  # complains now rather than in a worker

    @property
    def arrow_schema(self) -> pa.Schema:
        """The schema of answers."""
        return output_schema(self._kept, self._answers)

    @property
    def schema(self) -> str:
        """The schema of answers as Spark's ``mapInArrow`` takes it."""
        return as_ddl(self.arrow_schema)

    def batches(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the answers to each batch.

        Parameters
        ----------
        batches : iterable of RecordBatch

        Yields
        ------
        RecordBatch
        """
        for batch in batches:
            yield self(batch)

    def __call__(self, batch: Any) -> Any:
        """Return the answers to the rows of a batch.

        Parameters
        ----------
        batch : RecordBatch, Table, or pandas data frame

        Returns
        -------
        RecordBatch, Table, or pandas data frame
            Of the kind that was given.
        """
        if isinstance(batch, pa.RecordBatch):
            return self._answer(batch)
        if isinstance(batch, pa.Table):
            parts = [self._answer(part) for part in batch.to_batches()]
            if not parts:
                parts = [self._answer(_empty(batch.schema))]
            return pa.Table.from_batches(parts)
        if hasattr(batch, "iloc"):
            table = pa.Table.from_pandas(batch, preserve_index=False)
            return self(table).to_pandas().set_index(batch.index)
        raise TypeError(
            f"batch is a {type(batch).__name__}; give a RecordBatch or a Table of pyarrow, or a "
            "data frame of pandas."
        )

    def _answer(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        shared = open_shared(self._identity)
        columns = [self._passed_through(batch, name, kind) for name, kind in self._kept.items()]
        if batch.num_rows:
            class_ids, probabilities = self._predict(shared, self._rows(shared, batch))
        else:
            class_ids = np.empty((0, self._k), dtype=np.int32)
            probabilities = np.empty((0, self._k))
        given = None if self._threshold is None else probabilities >= self._threshold
        labels = shared.classes.take(pa.array(_flat(class_ids, given)))
        flat = [labels, pa.array(_flat(probabilities, given).astype(np.float32))]
        offsets = _offsets(class_ids, given)
        columns += [
            pa.ListArray.from_arrays(offsets, values)
            for values, _ in zip(flat, self._answers, strict=False)
        ]
        names = [*self._kept, *(field.name for field in self._answers)]
        return pa.RecordBatch.from_arrays(columns, names=names)

    def _predict(self, shared: SharedModel, X: Any) -> tuple[NDArray[Any], NDArray[np.float64]]:
        clf = shared.clf
        fitted = clf._check_fitted()
        matrix = check_matrix(X, estimator=clf, is_first=False)
        class_ids, probabilities = clf._best_classes(fitted, matrix, self._k, self._n_threads)
        return class_ids, probabilities

    def _passed_through(
        self, batch: pa.RecordBatch, name: str, kind: pa.DataType | None
    ) -> pa.Array:
        column_of(batch, name)  # complains if there is none, or two
        column = batch.column(name)
        if kind is None or column.type == kind:
            return column
        try:
            return column.cast(kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueError(
                f"column {name!r} is of type {column.type} and cannot pass through as {kind}: "
                f"{error}"
            ) from error

    def _make_features(self, shared: SharedModel) -> RowFeatures | None:
        return None if shared.rows is None else _row_features(self._identity)

    def _rows(self, shared: SharedModel, batch: pa.RecordBatch) -> Any:
        made = self._make_features(shared)
        features = self._features
        if made is not None and made.is_table and features is None:
            return self._rows_of_table(made, batch)
        if features is None:
            features = self._find_features(shared, batch)
        if len(features) == 1 and isinstance(features[0], str):
            column = column_of(batch, features[0])
            if _is_text(column.type):
                return self._rows_of_lines(made, column, features[0])
        n_features = shared.clf.n_features_in_
        names = ", ".join(map(str, features))
        X = rows_of(batch, features, n_features, empty_nulls=self._empty_nulls)
        return _checked(X, names)

    def _find_features(self, shared: SharedModel, batch: pa.RecordBatch) -> list[Feature]:
        if shared.feature_names is not None:
            return list(shared.feature_names)
        names = [name for name in batch.schema.names if name not in self._kept]
        if len(names) != 1:
            raise ValueError(
                "name the columns that rows are made of, features=...; the batch has the columns "
                f"{', '.join(batch.schema.names)}."
            )
        return [names[0]]

    def _rows_of_table(self, made: RowFeatures, batch: pa.RecordBatch) -> Any:
        columns = {name: column_of(batch, name) for name in made.columns}
        for name in made.text_columns:
            if not _is_text(columns[name].type) and not pa.types.is_null(columns[name].type):
                raise ValueError(f"column {name!r} holds {columns[name].type}, not text.")
            if not self._empty_nulls:
                advice = "; nulls='empty' takes it as empty text"
                refuse_nulls(columns[name], name, advice)
        for name in (*made.number_columns, *made.embedding_columns):
            refuse_nulls(columns[name], name)
        of_table = {name: column_of_array(column) for name, column in columns.items()}
        try:
            return made.of_table(of_table, batch.num_rows)
        except BadRowError as error:
            raise ValueError(
                f"column {error.column!r}, row {error.line} of the batch: {error.reason}: "
                f"{error.text!r}"
            ) from error

    def _rows_of_lines(self, made: RowFeatures | None, column: pa.Array, name: str) -> Any:
        if made is None or made.is_table:
            raise ValueError(
                f"column {name!r} holds text, and the model file does not say how features are "
                "made of a line: keep the options of the reader with the model, "
                "clf.save(path, extra={'rows': reader.options}), as recalltree train does."
            )
        if not self._empty_nulls:
            refuse_nulls(column, name, "; nulls='empty' takes it as a row without features")
        lines = column_of_array(column)
        assert isinstance(lines, TextColumn)
        try:
            return made.of_lines(lines)
        except BadRowError as error:
            raise ValueError(
                f"column {name!r}, row {error.line} of the batch, character {error.column}: "
                f"{error.reason}: {error.text!r}"
            ) from error
        except ValueError as error:
            raise ValueError(f"column {name!r}: {error}") from error


@lru_cache(maxsize=8)
def _row_features(identity: FileIdentity) -> RowFeatures:
    """Return what makes features of text, once per process."""
    rows = open_shared(identity).rows
    assert rows is not None
    return RowFeatures(rows)


def _check_features(features: Any) -> list[Feature] | None:
    if features is None:
        return None
    given = [features] if isinstance(features, str | tuple) else list(features)
    for feature in given:
        is_pair = (
            isinstance(feature, tuple)
            and len(feature) == 2
            and all(isinstance(name, str) for name in feature)
        )
        if not isinstance(feature, str) and not is_pair:
            raise ValueError(
                f"features={features!r}: give a column, a pair of columns (indices, values), or a "
                "list of these."
            )
    if not given:
        raise ValueError("features is empty; give at least one column.")
    return given


def _checked(X: Any, names: str) -> Any:
    """Return rows, with an error that names the column if a number is not finite."""
    values = X if isinstance(X, np.ndarray) else X.data
    if not np.isfinite(values.sum(dtype=np.float64)) and not np.isfinite(values).all():
        bad = int(np.argmax(~np.isfinite(values.reshape(-1))))
        row = bad // X.shape[1] if isinstance(X, np.ndarray) else _row_at(X.indptr, bad)
        raise ValueError(
            f"column {names}, row {row} of the batch: {values.reshape(-1)[bad]} is not finite."
        )
    return X


def _row_at(indptr: NDArray[Any], position: int) -> int:
    return int(np.searchsorted(indptr, position, side="right")) - 1


def _is_text(kind: pa.DataType) -> bool:
    return str(kind) in ("string", "large_string", "string_view")


def _flat(values: NDArray[Any], given: NDArray[np.bool_] | None) -> NDArray[Any]:
    return values.reshape(-1) if given is None else values[given]


def _offsets(class_ids: NDArray[Any], given: NDArray[np.bool_] | None) -> pa.Array:
    n, k = class_ids.shape
    sizes = np.full(n, k) if given is None else given.sum(axis=1)
    return pa.array(np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32))


def _empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)
