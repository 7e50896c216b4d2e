"""Learn from a reader: pass by pass, in pieces, from any position."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

#: Time that a piece of a batch should take; the caller regains control after each piece.
PIECE_SECONDS = 0.2


@dataclass(frozen=True)
class TrainingPosition:
    """Position in training: the pass, and the rows of it that were learned.

    Examples
    --------
    >>> from recalltree.training import TrainingPosition
    >>> TrainingPosition(pass_number=1, row=500).as_dict()
    {'pass_number': 1, 'row': 500}
    """

    pass_number: int = 0
    row: int = 0

    def as_dict(self) -> dict[str, int]:
        """Return the position as a dict, for JSON."""
        return asdict(self)


def learn_from(
    clf: Any,
    reader: Any,
    *,
    n_passes: int | None = None,
    start: TrainingPosition | None = None,
) -> Iterator[TrainingPosition]:
    r"""Learn the rows of a reader; yield the position after every piece of some tenths of a second.

    The model is that of ``partial_fit`` with the same rows, whatever the batches; only rows of the
    first pass count for the progressive error. Between two pieces the model can be used, saved, or
    left as it is: to continue later, give the last position as `start`, and rows before it are read
    but not learned again.

    Parameters
    ----------
    clf : estimator
        Fitted or not; a fitted one continues to learn.
    reader : iterable of batches
        What ``recalltree.readers.open_rows`` returns, or any iterable of objects with the
        attributes ``X``, ``y`` and ``sample_weight``; iterated over once for each pass.
    n_passes : int, default=None
        None is the parameter ``n_passes`` of the estimator.
    start : TrainingPosition, default=None
        Where to begin; None is the first row of the first pass.

    Yields
    ------
    TrainingPosition

    Examples
    --------
    >>> import io
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.readers import open_rows
    >>> from recalltree.training import learn_from
    >>> rows = open_rows(io.BytesIO(b"cat | meow\ndog | bark\n" * 50), format="vw")
    >>> clf = RecallTreeClassifier()
    >>> for position in learn_from(clf, rows):
    ...     pass
    >>> position, clf.n_classes_seen_
    (TrainingPosition(pass_number=0, row=100), 2)
    """
    n_passes = clf.n_passes if n_passes is None else n_passes
    start = start or TrainingPosition()
    size = 64  # rows of a piece; follows the time that pieces take
    for number in range(start.pass_number, n_passes):
        skip = start.row if number == start.pass_number else 0
        row = 0
        for batch in reader:
            length = batch.X.shape[0]
            at = min(length, max(0, skip - row))
            while at < length:
                stop = min(length, at + size)
                began = perf_counter()
                learn_piece(clf, batch, at, stop, first_pass=number == 0)
                seconds = max(perf_counter() - began, 1e-6)
                size = max(1, min(8 * size, int((stop - at) * PIECE_SECONDS / seconds)))
                at = stop
                yield TrainingPosition(number, row + at)
            row += length
        clf.n_iter_ = number + 1


def learn_piece(clf: Any, batch: Any, start: int, stop: int, *, first_pass: bool) -> None:
    """Learn some rows of a batch.

    Parameters
    ----------
    clf : estimator
    batch : Batch
    start, stop : int
        Which rows.
    first_pass : bool
        Whether the rows are new to the model.
    """
    whole = start == 0 and stop == batch.X.shape[0]
    part = slice(None) if whole else slice(start, stop)
    weights = batch.sample_weight
    clf._go_on(
        batch.X if whole else batch.X[part],
        batch.y[part],
        sample_weight=None if weights is None else weights[part],
        first_pass=first_pass,
    )
