"""Passes over the data: in slices, so that an interrupt is answered; with rows held out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import Rows
from recalltree.estimators.examples import Examples
from recalltree.estimators.fitted import Fitted

#: Time that a slice of rows should take. Python answers an interrupt between two slices.
SLICE_SECONDS = 0.1
FIRST_SLICE_ROWS = 64

#: Several threads learn mini-batches, which end at multiples of this many rows, as do the slices.
MINI_BATCH_ROWS = 256

#: Passes without a smaller error on the held-out rows before early stopping.
PATIENCE = 2

#: Called after each slice with the number of rows learned, and the core that learned them.
Report = Callable[[int, Any], None]


def progressive_error(core: Any) -> float:
    """Return the progressive error of a core: NaN before anything was predicted."""
    with core.reading():
        weight, errors = core.progressive_weight, core.progressive_errors
    return errors / weight if weight else np.nan


def learn_pass(
    fitted: Fitted,
    examples: Examples,
    order: NDArray[np.int64],
    *,
    n_threads: int,
    first_pass: bool,
    report: Report,
) -> None:
    """Learn the examples in the given order, a slice at a time.

    The result does not depend on how long the slices are.
    """
    core, curve = fitted.core, fitted.curve
    start, size = 0, FIRST_SLICE_ROWS
    while start < len(order):
        n_rows = size if n_threads == 1 else in_mini_batches(size, core.n_examples)
        part = order[start : start + n_rows]
        with core.learning():
            due = curve.due(core.n_examples, len(part)) if first_pass else []
            began = perf_counter()
            progress = core.learn(
                examples.rows,
                examples.class_ids,
                examples.weights,
                part,
                n_threads,
                first_pass,
                examples.offsets,
                due,
            )
            seconds = max(perf_counter() - began, 1e-6)
            for n_examples, (weight, errors) in zip(due, progress.tolist(), strict=True):
                curve.record(n_examples, weight, errors)
        report(len(part), core)
        start += len(part)
        size = max(1, min(8 * size, int(len(part) * SLICE_SECONDS / seconds)))


def in_mini_batches(size: int, n_examples: int) -> int:
    """Return how many rows to learn so that a mini-batch ends with them: about as many as given.

    Examples
    --------
    >>> from recalltree.estimators.passes import in_mini_batches
    >>> in_mini_batches(10, n_examples=0), in_mini_batches(1000, n_examples=256)
    (256, 768)
    >>> in_mini_batches(10, n_examples=250)
    6
    """
    end = (n_examples + size) // MINI_BATCH_ROWS * MINI_BATCH_ROWS
    return max(end, (n_examples // MINI_BATCH_ROWS + 1) * MINI_BATCH_ROWS) - n_examples


@contextmanager
def progress_bar(n_rows: int, *, verbose: int) -> Iterator[Report]:
    """Show a progress bar on standard error while the block runs; nothing if `verbose` is 0.

    Parameters
    ----------
    n_rows : int
        Rows to be learned, in all passes together.
    verbose : int

    Yields
    ------
    callable
        To be called with the number of rows just learned, and the core.
    """
    if not verbose:
        yield lambda n_learned, core: None
        return

    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=20),
        TextColumn("{task.percentage:.0f}%"),
        TextColumn("{task.fields[rate]} rows/s"),
        TextColumn("progressive error {task.fields[error]}"),
        TimeRemainingColumn(compact=True),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("fit", total=n_rows, rate="", error="")

        def report(n_learned: int, core: Any) -> None:
            speed = bar.tasks[task].finished_speed or bar.tasks[task].speed
            rate = f"{speed:,.0f}" if speed else ""
            bar.update(task, advance=n_learned, rate=rate, error=f"{progressive_error(core):.4f}")

        yield report


class HeldOut:
    """Rows held out to measure each pass, and the best model so far.

    Parameters
    ----------
    rows : Rows
        The held-out rows alone.
    examples : Examples
        All rows; the classes and the weights of the held-out ones are taken from them.
    aside : ndarray
        Which rows of `examples` are held out.
    n_threads : int

    Attributes
    ----------
    errors : list of float
        The error on the held-out rows after each pass.
    """

    def __init__(
        self, rows: Rows, examples: Examples, aside: NDArray[np.int64], n_threads: int
    ) -> None:
        self.errors: list[float] = []
        self._rows = rows
        self._examples, self._aside = examples, aside
        self._weights = None if examples.weights is None else examples.weights[aside]
        self._n_threads = n_threads
        self._best_state: dict[str, NDArray[Any]] | None = None

    def measure(self, core: Any) -> bool:
        """Measure the error after a pass; return whether learning should stop."""
        answers = core.predict(self._rows, self._n_threads)
        wrong = ~self._examples.are_right(self._aside, answers)
        self.errors.append(float(np.average(wrong, weights=self._weights)))
        if self._best_pass == len(self.errors) - 1:
            self._best_state = core.state()
        return len(self.errors) - 1 - self._best_pass >= PATIENCE

    def best(self, core: Any) -> Any:
        """Return the core as it was after the best pass."""
        if self._best_state is None or self._best_pass == len(self.errors) - 1:
            return core
        return type(core).from_state(self._best_state, **core.config)

    @property
    def _best_pass(self) -> int:
        return int(np.argmin(self.errors))


def hold_out(
    kept: NDArray[np.int64], fraction: float, random_state: np.random.RandomState
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Split rows at random into those to learn from and those held out, each in order.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.estimators.passes import hold_out
    >>> learned, held_out = hold_out(np.arange(10), 0.2, np.random.RandomState(0))
    >>> learned, held_out
    (array([0, 1, 3, 4, 5, 6, 7, 9]), array([2, 8]))
    """
    n_held_out = max(1, round(fraction * len(kept)))
    if n_held_out >= len(kept):
        raise ValueError(
            f"early_stopping holds out {n_held_out} of the rows of non-zero weight, of which there "
            f"are n_samples={len(kept)}, and leaves none to learn from; give more rows, a smaller "
            "validation_fraction, or early_stopping=False."
        )
    shuffled = random_state.permutation(kept)
    return np.sort(shuffled[n_held_out:]), np.sort(shuffled[:n_held_out])
