"""Files -> batches of rows, again and again."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from recalltree._core import FeatureSpace
from recalltree.readers.background import Consumer, Delivery, Prefetcher
from recalltree.readers.batches import Batch
from recalltree.readers.errors import BadRowWarning
from recalltree.readers.feature_state import save_state
from recalltree.readers.options import RowOptions
from recalltree.readers.sources import Source

#: Batches that wait for the consumer: while one is learned, the next is being read.
_DEPTH = 3

#: So many bad rows are warned about one by one, in each pass.
_WARNINGS = 10

#: Formats in which commas separate the labels of a row, where rows may have several.
_COMMAS_SEPARATE = ("vw", "svmlight")

#: Reads all sources once for a consumer; names get their columns in the space, if they have any.
RowSource = Callable[[list[Source], FeatureSpace | None, Consumer], Iterator[Delivery]]


class RowReader:
    """Rows of files, in batches; made by :func:`open_rows`.

    Iterating over a reader reads its files from the beginning, in order; iterating again is
    another pass. Reading and parsing run in threads of their own, a few batches ahead.

    Attributes
    ----------
    format : str
        The format of the files.
    n_features : int
        How many columns every batch has.
    n_rows : int
        Rows that the current pass has given so far.
    n_skipped : int
        Bad rows that the current pass has left out so far.
    """

    def __init__(
        self,
        sources: list[Source],
        options: RowOptions,
        rows: RowSource,
        n_features: int,
        state: Mapping[str, Any] | None,
    ) -> None:
        self.format = options.format
        self.n_features = n_features
        self.n_rows = 0
        self.n_skipped = 0
        self._sources = sources
        self._options = options
        self._state = state  # before the first row
        self._space = options.make_space(state)
        self._rows = rows
        self._label_type = options.label_type
        self._n_read = 0
        self._is_complete = False  # whether some pass went to the end
        self._looked_for_commas = options.multilabel != "refuse"
        self._current: Iterator[Batch] | None = None
        self._prefetched: Prefetcher[Delivery] | None = None  # of the pass that is being made

    def __iter__(self) -> Iterator[Batch]:
        self.close()
        self._current = self._pass()
        return self._current

    def close(self) -> None:
        """End the current pass, if there is one. A reader can be iterated over again."""
        if self._current is not None:
            self._current.close()  # type: ignore[attr-defined]
            self._current = None

    def __enter__(self) -> RowReader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def position(self) -> tuple[int, int | None]:
        """Bytes read so far in the current pass and bytes in all, both as the files have them.

        The number of all bytes is None if some come through a pipe.
        """
        sizes = [source.size for source in self._sources]
        known = [size for size in sizes if size is not None]
        return self._n_read, sum(known) if len(known) == len(sizes) else None

    @property
    def n_dense_features(self) -> int:
        """Number of features at the end of sparse rows that are a dense block."""
        o = self._options
        return (o.embedding_width or 0) if o.text_column and not o.dense else 0

    @property
    def has_label_lists(self) -> bool:
        """True if rows may have several labels: batches then have lists of them."""
        return self._options.has_label_lists

    def written_labels(self, labels: Sequence[Any]) -> str:
        """Return the labels of a row as the files have them."""
        return self._options.written_labels(labels)

    @property
    def feature_names(self) -> list[str] | None:
        """The names in the dictionary so far, by column; None if there is no dictionary."""
        return None if self._space is None else self._space.names()

    @property
    def options(self) -> dict[str, Any]:
        """Options of ``open_rows`` with which rows mean the same: JSON can hold them.

        With a dictionary or tf-idf it contains what the reader has learned so far; take it after
        the last batch.
        """
        options = {**self._options.meaning(), "label_type": self._label_type}
        state = None if self._space is None else save_state(self._space)
        return options if state is None else {**options, "state": state}

    def comes_within(self, seconds: float) -> bool:
        """Tell if the next batch, or the end of the rows, comes within a time, between batches."""
        if self._prefetched is None or not self._prefetched.wait(seconds):
            return False
        delivery = self._prefetched.next_item
        return delivery is None or delivery.batch is not None

    def _hint_at_commas(self, batch: Batch) -> None:
        """Say once that labels with commas may be several, where commas separate labels."""
        if self._looked_for_commas or not isinstance(batch.y, np.ndarray):
            return
        self._looked_for_commas = True
        if self._options.format not in _COMMAS_SEPARATE or batch.y.dtype != object:
            return
        texts = (label for label in batch.y.tolist() if isinstance(label, str))
        found = next((label for label in texts if "," in label), None)
        if found is not None:
            warnings.warn(
                f"the label {found!r} has a comma and is one label; for several labels per row "
                "pass multilabel='all' (--multilabel all)",
                UserWarning,
                stacklevel=3,
            )

    def _pass(self) -> Iterator[Batch]:
        for source in self._sources:
            source.check_available()
        if not self._is_complete:  # what a pass that was broken off has counted is void
            self._space = self._options.make_space(self._state)
        elif self._space is not None:
            self._space.freeze()  # every row was counted once
        self.n_rows = self.n_skipped = self._n_read = 0
        n_warned = 0
        consumer = Consumer()
        deliveries = self._rows(self._sources, self._space, consumer)
        with Prefetcher(deliveries, _DEPTH, stop=consumer.has_left) as prefetched:
            self._prefetched = prefetched
            consumer.follow(prefetched)
            for delivery in prefetched:
                self.n_skipped = delivery.n_skipped
                self._n_read = delivery.n_read
                self._label_type = delivery.label_type
                if self._options.on_error == "warn":
                    for problem in delivery.problems[: _WARNINGS - n_warned]:
                        warnings.warn(f"skipped {problem}", BadRowWarning, stacklevel=2)
                        n_warned += 1
                if delivery.batch is not None:
                    self._hint_at_commas(delivery.batch)
                    self.n_rows += len(delivery.batch)
                    yield delivery.batch
                if self._options.on_error == "raise" and delivery.problems:
                    raise delivery.problems[0]
        self._is_complete = True
        if n_warned and self.n_skipped > n_warned:
            warnings.warn(
                f"skipped {self.n_skipped} rows in all, of which the first {n_warned} were shown",
                BadRowWarning,
                stacklevel=2,
            )
