"""One live display of training: rows, rounds, progressive error, rows per second of a worker."""

from __future__ import annotations

from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

LOG_SECONDS = 10.0


class Display:
    """Shows on standard error how far training has come: a live line, or one now and then in logs.

    Parameters
    ----------
    n_rows : float
        About how many rows there are, of all passes.
    n_rounds : int
    done : int
        Rows that were learned before.
    quiet : bool
    """

    def __init__(self, n_rows: float, n_rounds: int, done: int, *, quiet: bool) -> None:
        from rich.console import Console

        self._console = Console(stderr=True, highlight=False)
        self._quiet = quiet
        self._total = n_rows
        self._n_rounds = n_rounds
        self._round = 0
        self._n_rows = done
        self._weight = self._errors = 0.0
        self._seconds = self._learned = 0.0
        self._shown = monotonic()
        self._bar: Progress | None = None
        self._task: Any = None

    def __enter__(self) -> Display:
        if self._console.is_terminal and not self._quiet:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(bar_width=16),
                TextColumn("{task.fields[text]}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=self._total, text=str(self))
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __str__(self) -> str:
        parts = [f"round {self._round} of {self._n_rounds}", f"{self._n_rows:,} rows"]
        if self._weight:
            parts.append(f"error {self._errors / self._weight:.4f}")
        if self._seconds:
            parts.append(f"{self._learned / self._seconds:,.0f} rows/s per worker")
        return "  ".join(parts)

    def begin_round(self, number: int) -> None:
        """Say which round begins, from 1."""
        self._round = number
        self._show()

    def learned(self, done: Any) -> None:
        """Add what a task has done."""
        self._n_rows += done.n_rows
        self._weight += done.weight
        self._errors += done.errors
        self._learned += done.n_rows
        self._seconds += done.seconds
        self._show()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._n_rows, text=str(self))
        elif not self._quiet and monotonic() - self._shown >= LOG_SECONDS:
            self._shown = monotonic()
            self._console.print(str(self), soft_wrap=True)
