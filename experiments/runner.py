"""Running an experiment: unit after unit, those already done left out."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from functools import partial
from typing import Any

from benchmarks.measure import Stopwatch
from benchmarks.report import machine, versions
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from threadpoolctl import threadpool_limits

from experiments.bench import Bench
from experiments.experiment import Experiment
from experiments.processes import do_all
from experiments.store import Unit


def run(
    experiment: Experiment,
    bench: Bench,
    command: str,
    console: Console,
    again: bool,
    n_jobs: int = 1,
) -> int:
    """Do all units that have no result yet, or all if ``again``; return how many were done."""
    units = list(experiment.units(bench.budget))
    left = [unit for unit in units if again or unit not in bench.store]
    console.print(f"{experiment.name}: {len(units)} units, {len(units) - len(left)} already done")
    work = partial(do, command=command)
    with progress_bar(console) as progress:
        bar = progress.add_task("", total=len(left))
        if n_jobs > 1:
            for unit in do_all(experiment, bench, left, work, n_jobs):
                progress.update(bar, description=describe(unit), advance=1)
            return len(left)
        for unit in left:
            progress.update(bar, description=describe(unit))
            work(experiment, bench, unit)
            progress.advance(bar)
    return len(left)


def do(experiment: Experiment, bench: Bench, unit: Unit, command: str) -> None:
    """Do a unit and store its result."""
    # One thread, also where a numerical library has a pool of its own.
    with threadpool_limits(1), Stopwatch() as watch:
        result = experiment.run(unit, bench)
    finished = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    bench.store.put(
        unit,
        {
            "result": result,
            "command": command,
            "versions": versions(),
            "machine": machine(),
            "date": finished,
            "seconds": round(watch.times.wall, 3),
        },
    )


def progress_bar(console: Console) -> Progress:
    """Return a bar that says what is being done, how much is left and for how long."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left:"),
        TimeRemainingColumn(),
        console=console,
        # The units differ in length: estimate by all of them, not by the last few.
        speed_estimate_period=24 * 3600,
    )


def describe(unit: Unit) -> str:
    """Return a few words about a unit."""
    words: Sequence[Any] = [v for k, v in unit.items() if k not in ("rows", "test_rows") and v]
    text = " ".join(str(word) for word in words)
    return text if len(text) <= 60 else text[:57] + "..."
