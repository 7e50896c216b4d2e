"""One live display of training: rows, rounds, progressive error, rows per second of a worker."""

from __future__ import annotations

from typing import Any

from recalltree.live_line import LiveLine


class Display(LiveLine):
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
        super().__init__(quiet=quiet)
        self._total = n_rows
        self._n_rounds = n_rounds
        self._round = 0
        self._n_rows = done
        self._weight = self._errors = 0.0
        self._seconds = self._learned = 0.0

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
        # Tasks end seldom: on a terminal each is shown.
        if self.is_live or self.is_due():
            self.show(str(self), min(1.0, self._n_rows / self._total) if self._total else None)
