"""Progress on standard error: a live line on a terminal, a line now and then in a log."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.progress import Progress

TERMINAL_SECONDS = 0.5
LOG_SECONDS = 10.0


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


class Display:
    """Shows snapshots on standard error while the block runs.

    Parameters
    ----------
    meter : Meter or ShareMeter
    quiet : bool
        Show nothing.
    """

    def __init__(self, meter: Meter | ShareMeter, *, quiet: bool) -> None:
        from rich.console import Console

        self._meter = meter
        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self._live = self._console.is_terminal and not quiet
        self._bar: Progress | None = None
        self._shown = monotonic()

    def __enter__(self) -> Display:
        if self._live:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(bar_width=16),
                TextColumn("{task.fields[share]}{task.fields[text]}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=None, share="", text="")
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

    def update(self, *position: Any) -> None:
        """Show how things are, if that was not done just now.

        Parameters
        ----------
        *position
            As the meter's ``measure`` takes it.
        """
        wait = TERMINAL_SECONDS if self._live else LOG_SECONDS
        if self._quiet or monotonic() - self._shown < wait:
            return
        self._shown = monotonic()
        snapshot: Any = self._meter.measure(*position)
        if self._bar is None:
            self._console.print(str(snapshot), soft_wrap=True)
            return
        has_text = snapshot.share is None or isinstance(snapshot, ShareDone)
        share = "" if has_text else f"{100 * snapshot.share:.0f}%  "
        self._bar.update(
            self._task,
            total=None if snapshot.share is None else 1.0,
            completed=snapshot.share or 0.0,
            share=share,
            text=str(snapshot),
        )
