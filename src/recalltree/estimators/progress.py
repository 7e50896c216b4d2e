"""The progress bar of ``fit``: rows per second, progressive error, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Called after each slice with the number of rows learned and the progressive error so far.
Report = Callable[[int, float], None]


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
        To be called with the number of rows just learned and the progressive error.
    """
    if not verbose:
        yield lambda n_learned, error: None
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

        def report(n_learned: int, error: float) -> None:
            speed = bar.tasks[task].finished_speed or bar.tasks[task].speed
            rate = f"{speed:,.0f}" if speed else ""
            bar.update(task, advance=n_learned, rate=rate, error=f"{error:.4f}")

        yield report
