"""A line on standard error that says how far long work has come."""

from __future__ import annotations

from time import monotonic
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress

Line = TypeVar("Line", bound="LiveLine")

TERMINAL_SECONDS = 0.5
LOG_SECONDS = 10.0


class LiveLine:
    """A line that changes on a terminal, or comes again now and then in a log.

    Parameters
    ----------
    quiet : bool
        Show nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        from rich.console import Console

        self._quiet = quiet
        self._console = Console(stderr=True, highlight=False)
        self.is_live = self._console.is_terminal and not quiet
        self._bar: Progress | None = None
        self._task: Any = None
        self._shown = monotonic()

    def __enter__(self: Line) -> Line:
        if self.is_live:
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            self._bar = Progress(
                SpinnerColumn(),
                BarColumn(bar_width=16),
                TextColumn("{task.fields[text]}"),
                console=self._console,
                transient=True,
            )
            self._task = self._bar.add_task("", total=None, text="")
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

    def is_due(self) -> bool:
        """Tell whether to show something now, and count it as shown."""
        wait = TERMINAL_SECONDS if self.is_live else LOG_SECONDS
        if self._quiet or monotonic() - self._shown < wait:
            return False
        self._shown = monotonic()
        return True

    def show(self, text: str, share: float | None = None) -> None:
        """Show a text, and beside it which share of the work is done, if that is known."""
        if self._bar is None:
            self._console.print(text, soft_wrap=True)
        else:
            total = None if share is None else 1.0
            self._bar.update(self._task, total=total, completed=share or 0.0, text=text)
