"""Vowpal Wabbit, with which the paper's figures were made, on the same rows.

It says whether a finding that differs from the paper's is due to the data or to this package. The
Recall Tree is also run as the paper's scripts run it on ALOI: several passes with early stopping on
a tenth of the rows, and path features crossed with those of the example.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import vowpal

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.comparison import duration
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.methods import NAMES
from experiments.report.section import Section, percent
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("glyphs",)
#: Runs: name -> method, and whether path features are crossed with x.
RUNS = {
    "Recall Tree": ("recall-tree", False),
    "Recall Tree, path features crossed with x": ("recall-tree", True),
    "one-against-all": ("one-against-all", False),
}
#: Namespace of path features there, crossed with all others.
CROSSED = ("-q", r"\x88:")
PASSES = 20
#: Crossed path features take this many times the time.
DEARER = 9
#: One pass with defaults, timed: `python -m benchmarks vowpal`.
BENCHMARKS = Path(vowpal.__file__).parent / "results"


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every run on every set."""
    for name in budget.sets_or(SETS):
        for label, (algorithm, crossed) in RUNS.items():
            if budget.variants is None or label in budget.variants:
                yield {
                    "set": name,
                    **budget.size,
                    "algorithm": algorithm,
                    "crossed": crossed,
                    "passes": budget.passes,
                    "seed": 0,
                }


def arguments(unit: Unit) -> list[str]:
    """Return what a run adds to the command that learns in one pass.

    >>> arguments({"passes": 20, "crossed": True})
    ['--passes', '20', '-q', '\\\\x88:']
    """
    passes = ["--passes", str(unit["passes"])] if unit["passes"] > 1 else []
    return [*passes, *(CROSSED if unit["crossed"] else ())]


def passes_used(output: str) -> int:
    """Return how many passes a command says it made.

    >>> passes_used("finished run\\nnumber of examples per pass = 90\\npasses used = 7\\n")
    7
    """
    found = re.search(r"passes used = (\d+)", output)
    return int(found[1]) if found else 1


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one model."""
    task = bench.task(unit)
    if not isinstance(task, ArrayTask):
        raise ValueError(f"set {task.name!r} does not fit in memory: choose one that does")
    if not vowpal.is_available():
        raise ValueError("Vowpal Wabbit is not installed: pip install vowpalwabbit")
    files = vowpal.VowpalWabbit(task.dataset, bench.places.cache_dir)
    files.prepare()
    usage, labels = files.learn_and_test(unit["algorithm"], arguments(unit))
    wrong = int(np.sum(labels != task.dataset.y_test))
    return {
        "n_train": task.n_train,
        "n_test": len(labels),
        "wrong": wrong,
        "error": wrong / len(labels),
        "train_seconds": usage.times.cpu,
        "passes": passes_used(usage.output),
    }


HEADINGS = ("set", "method", "passes", "Vowpal Wabbit", "this package")
#: With path features of either kind it is a Recall Tree.
TREE, EVERYTHING = "recall-tree", "one-against-all"


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say("Test error on the same rows, in the same order, with learning rate 1:")
    timed = list(timed_results())
    page.table(HEADINGS, [*(timed_row(r) for r in timed), *(row(r) for r in records)])
    page.say(
        """One pass is measured by `python -m benchmarks vowpal`, several by `python -m experiments
        run vowpal --data-dir DIR`. Several passes stop early, by the error on a tenth of the rows;
        this package's figures for them are in table 2."""
    )
    if text := verdict(timed, records):
        page.say(text)
    if text := not_run(timed, records):
        page.say(text)
    return page


def not_run(timed: Sequence[dict[str, Any]], records: Sequence[Record]) -> str:
    """Say what several passes would take where they were not run, by the time of one pass."""
    done = {(r["unit"]["algorithm"], r["unit"]["crossed"]) for r in records}
    seconds = {
        r["algorithm"]: r["vowpal"]["train"]["net"]["cpu"] * r["n_train"] / 1e6
        for r in timed
        if r["set"] == SETS[0]
    }
    said = [
        f"{label}: about {duration(PASSES * seconds[algorithm] * (DEARER if crossed else 1))}"
        for label, (algorithm, crossed) in RUNS.items()
        if (algorithm, crossed) not in done and algorithm in seconds
    ]
    return f"Not run, by estimate for {PASSES} passes: {'; '.join(said)}." if said else ""


def verdict(timed: Sequence[dict[str, Any]], records: Sequence[Record]) -> str:
    """Say in which order the authors' program has the two methods on the first set."""
    name = SETS[0]
    errors: dict[str, list[float]] = {TREE: [], EVERYTHING: []}
    found = [(r["set"], r["algorithm"], r["vowpal"]) for r in timed]
    found += [(r["unit"]["set"], r["unit"]["algorithm"], r["result"]) for r in records]
    for where, algorithm, result in found:
        if where == name and algorithm in errors:
            errors[algorithm].append(result["error"])
    if not all(errors.values()):
        return ""
    tree, everything = (min(errors[a]) for a in (TREE, EVERYTHING))
    when = "at best" if records else "after one pass"
    means = (
        "This package finds the same order; the paper has the opposite on ALOI. So the order is "
        "due to the data, not to the program."
        if tree > everything
        else "That is the paper's order."
    )
    return (
        f"On {name} Vowpal Wabbit's Recall Tree has {percent(tree)}% errors {when}, its "
        f"one-against-all {percent(everything)}%. {means}"
    )


def timed_results() -> Iterator[dict[str, Any]]:
    """Yield the stored results of one pass, method by method."""
    for path in sorted(BENCHMARKS.glob("vowpal-*.json")):
        for result in json.loads(path.read_text())["results"]:
            if result["algorithm"] != "one-against-some":  # it has no counterpart there
                yield result


def timed_row(result: dict[str, Any]) -> list[str]:
    """Return a line of one pass."""
    errors = (percent(result[program]["error"]) for program in ("vowpal", "recalltree"))
    return [result["set"], NAMES[result["algorithm"]], "1", *errors]


def row(record: Record) -> list[str]:
    """Return a line of several passes."""
    unit, result = record["unit"], record["result"]
    (label,) = (x for x, ran in RUNS.items() if ran == (unit["algorithm"], unit["crossed"]))
    return [unit["set"], label, str(result["passes"]), percent(result["error"]), ""]


EXPERIMENT = Experiment(
    name="vowpal",
    title="Vowpal Wabbit on the same rows",
    paper="All figures were made with Vowpal Wabbit; those on ALOI with path features crossed with "
    "x, in up to 80 passes with early stopping.",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"passes": PASSES, "test_rows": None},
    has_benchmarks=True,
)
