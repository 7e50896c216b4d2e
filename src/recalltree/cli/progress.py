"""Progress on standard error: a live line on a terminal, a line now and then in a log."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import Any

from recalltree.live_line import LiveLine


@dataclass(frozen=True)
class Snapshot:
    """Progress of a command.

    ``share`` of the bytes of all passes, and the time left, are None if they cannot be known.
    """

    n_rows: int
    rows_per_second: float
    share: float | None
    seconds_left: float | None
    n_classes: int | None = None
    recent_error: float | None = None
    error: float | None = None

    def __str__(self) -> str:
        parts = [f"{self.n_rows:,} rows", f"{self.rows_per_second:,.0f} rows/s"]
        if self.recent_error is not None:
            parts.append(f"error {self.recent_error:.4f} since last")
        if self.error is not None:
            parts.append(f"{self.error:.4f} overall")
        if self.n_classes is not None:
            parts.append(f"{self.n_classes:,} classes")
        if self.seconds_left is not None:
            parts.append(f"{as_time(self.seconds_left)} left")
        return "  ".join(parts)


@dataclass(frozen=True)
class ShareDone:
    """How far a command has come whose work has no rows."""

    share: float
    seconds_left: float | None

    def __str__(self) -> str:
        if self.share >= 1.0:
            return "100%, writing the file"
        left = "" if self.seconds_left is None else f"  {as_time(self.seconds_left)} left"
        return f"{100 * self.share:.0f}%{left}"


def as_time(seconds: float) -> str:
    """Return a duration as hours, minutes and seconds.

    Examples
    --------
    >>> from recalltree.cli.progress import as_time
    >>> as_time(7.4), as_time(3725)
    ('0:07', '1:02:05')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


class Meter:
    """Measures the progress of a command.

    Parameters
    ----------
    reader : RowReader
    n_passes : int, default=1
    first_pass : int, default=0
        The pass in which it began.
    clf : estimator, default=None
        The model, if it is learning.
    """

    def __init__(
        self, reader: Any, *, n_passes: int = 1, first_pass: int = 0, clf: Any = None
    ) -> None:
        self._reader = reader
        self._n_passes = n_passes
        self._first_pass = first_pass
        self._clf = clf
        self._began = monotonic()
        self._counted = self._counts()

    def measure(self, n_rows: int, pass_number: int = 0) -> Snapshot:
        """Return how things are after this many rows of this run, and note it for "since last"."""
        seconds = max(monotonic() - self._began, 1e-9)
        read, total = self._reader.position
        share = None
        if total:
            passes_done = pass_number - self._first_pass + min(1.0, read / total)
            share = passes_done / (self._n_passes - self._first_pass)
        left = seconds * (1 - share) / share if share else None
        recent = overall = None
        n_classes = None
        if self._clf is not None and hasattr(self._clf, "_fitted"):
            weight, errors = self._counts()
            before_weight, before_errors = self._counted
            self._counted = weight, errors
            n_classes = getattr(self._clf, "n_classes_seen_", 0)
            overall = errors / weight if weight else None
            since = weight - before_weight
            recent = (errors - before_errors) / since if since else None
        return Snapshot(n_rows, n_rows / seconds, share, left, n_classes, recent, overall)

    def _counts(self) -> tuple[float, float]:
        fitted = getattr(self._clf, "_fitted", None)
        if fitted is None:
            return 0.0, 0.0
        core = fitted.core
        with core.reading():
            return float(core.progressive_weight), float(core.progressive_errors)


class ShareMeter:
    """Measures the progress of a command that knows which share of its work is done.

    Examples
    --------
    >>> from recalltree.cli.progress import ShareMeter
    >>> ShareMeter().measure(0.0)
    ShareDone(share=0.0, seconds_left=None)
    """

    def __init__(self) -> None:
        self._began = monotonic()

    def measure(self, share: float) -> ShareDone:
        """Return how things are when such a share is done."""
        seconds = monotonic() - self._began
        return ShareDone(share, seconds * (1 - share) / share if share else None)


class Display(LiveLine):
    """Shows snapshots on standard error while the block runs.

    Parameters
    ----------
    meter : Meter or ShareMeter
    quiet : bool
        Show nothing.
    """

    def __init__(self, meter: Meter | ShareMeter, *, quiet: bool) -> None:
        super().__init__(quiet=quiet)
        self._meter = meter

    def update(self, *position: Any) -> None:
        """Show how things are, if that was not done just now.

        Parameters
        ----------
        *position
            As the meter's ``measure`` takes it.
        """
        if not self.is_due():
            return
        snapshot: Any = self._meter.measure(*position)
        text, share = str(snapshot), snapshot.share
        if self.is_live and share is not None and isinstance(snapshot, Snapshot):
            text = f"{100 * share:.0f}%  {text}"
        self.show(text, share)
