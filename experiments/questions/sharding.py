"""Rows that are learned in shards: what does it cost in errors that models are merged now and then?

The shards are learned one after the other in one process, so that nothing depends on a cluster. A
round deals its rows to the workers in turn; each continues from the model of the round before; the
models are merged. The first rows are learned by one process: it makes the base.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from time import process_time
from typing import Any

import numpy as np
from sklearn.base import clone

import recalltree
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.methods import NAMES, make_model
from experiments.report.section import Section, by_set, group, percent
from experiments.store import Record, Unit
from recalltree.parameters import DEFAULT_MERGE_RULE, MERGE_RULES

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "passages", "wikipassage")
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all")
WORKERS, ROUNDS = (2, 8, 32, 128), (1, 3, 10, 30)
#: So many rows are learned before there are shards, as ``recalltree.ray.fit`` does.
FIRST_ROWS = 10_000
#: Models that are in memory at a time. Merging is associative, so that groups may be merged first.
GROUP = 16
#: Points of error that one-against-some may lose with 10 merges.
LIMITS = {8: 0.5, 32: 1.0}


def variants() -> Iterator[str]:
    """Yield what is tried: workers x merges in the pass, and the rule if it is not the default."""
    yield "1x1"
    for workers in WORKERS:
        yield from (f"{workers}x{rounds}" for rounds in ROUNDS)
    yield from (f"8x10-{rule}" for rule in MERGE_RULES if rule != DEFAULT_MERGE_RULE)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield one process, then all numbers of workers and merges."""
    for name in budget.sets_or(SETS):
        for algorithm in budget.algorithms_or(ALGORITHMS):
            for seed in range(budget.seeds):
                for variant in variants():
                    if budget.variants is not None and variant not in budget.variants:
                        continue
                    size, _, rule = variant.partition("-")
                    workers, rounds = map(int, size.split("x"))
                    yield {
                        "set": name,
                        **budget.size,
                        "algorithm": algorithm,
                        "seed": seed,
                        "workers": workers,
                        "rounds": rounds,
                        "rule": rule or DEFAULT_MERGE_RULE,
                        "first_rows": FIRST_ROWS,
                    }


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn the rows once, in shards, and test."""
    task = bench.task(unit)
    X, y = next(task.train_batches(unit["seed"]))
    began = process_time()
    model = make_model(unit["algorithm"], unit["seed"])
    if unit["workers"] == 1:
        model.partial_fit(X, y)
        seconds = 0.0
    else:
        model, seconds = learn_in_shards(model, X, y, unit)
    learned = process_time() - began
    n_wrong = n_test = 0
    for X_test, y_test in task.test_batches():
        n_wrong += int((model.predict(X_test) != y_test).sum())
        n_test += len(y_test)
    return {
        "n_train": len(y),
        "n_test": n_test,
        "error": n_wrong / n_test,
        "seconds": round(learned, 2),
        "merge_seconds": round(seconds, 2),
    }


def learn_in_shards(model: Any, X: Any, y: np.ndarray, unit: Unit) -> tuple[Any, float]:
    """Return the model after the last merge, and the processor time of merging."""
    first = min(unit["first_rows"], len(y) // 2)
    model.partial_fit(X[:first], y[:first])
    edges = np.linspace(first, len(y), unit["rounds"] + 1).round().astype(int)
    seconds = 0.0
    for begin, end in pairwise(edges):
        base, waiting = model, []
        arrays = base._to_model()
        for worker in range(unit["workers"]):
            rows = np.arange(begin + worker, end, unit["workers"])
            if len(rows) == 0:
                continue
            shard = clone(base)
            shard._take_model(arrays, None, mapped=True)
            waiting.append(shard.partial_fit(X[rows], y[rows]))
            if len(waiting) == GROUP or worker == unit["workers"] - 1:
                began = process_time()
                merged = recalltree.merge(waiting, base=base, rule=unit["rule"])
                seconds += process_time() - began
                waiting = [merged]
        model = waiting[0]
    return model, seconds


# --- the section ---------------------------------------------------------------------------------


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """One pass; points of test error more than one process has, by the
        number of workers and of merges in the pass. The table of rules has 8 workers and 10
        merges."""
    )
    for (name, *_, algorithm), found in by_set(records, "algorithm").items():
        losses, n_train = losses_of(found), found[0]["result"]["n_train"]
        if not losses:
            continue
        page.say(
            f"**{name}**, {n_train:,} rows, {NAMES[algorithm]}: "
            f"{percent(alone(found))}% errors with one process."
        )
        page.table(*table_of(losses))
        if algorithm == "one-against-some":
            answer(page, f"{name} ({n_train:,} rows)", losses)
    return page


def losses_of(found: Sequence[Record]) -> dict[tuple[int, int, str], float]:
    """Return the points of error lost by workers, rounds and rule, the mean over seeds."""
    whole = alone(found)
    tried = group([r for r in found if r["unit"]["workers"] > 1], "workers", "rounds", "rule")
    return {
        key: 100 * (float(np.mean([r["result"]["error"] for r in records])) - whole)
        for key, records in tried.items()
        if whole is not None
    }


def alone(found: Sequence[Record]) -> float | None:
    """Return the error of one process."""
    errors = [r["result"]["error"] for r in found if r["unit"]["workers"] == 1]
    return float(np.mean(errors)) if errors else None


def table_of(losses: dict[tuple[int, int, str], float]) -> tuple[list[str], list[list[str]]]:
    """Return a table of workers and rounds, and a line for each rule."""
    rounds = sorted({r for _, r, rule in losses if rule == DEFAULT_MERGE_RULE})
    rows = []
    for workers in sorted({w for w, _, rule in losses if rule == DEFAULT_MERGE_RULE}):
        cells = [losses.get((workers, r, DEFAULT_MERGE_RULE)) for r in rounds]
        rows.append([f"{workers} workers", *("" if c is None else f"{c:+.2f}" for c in cells)])
    for (_, at, rule), loss in losses.items():
        if rule != DEFAULT_MERGE_RULE:
            cells = [loss if r == at else None for r in rounds]
            rows.append(
                [f"8 workers, rule {rule}", *("" if c is None else f"{c:+.2f}" for c in cells)]
            )
    return ["merges in the pass", *map(str, rounds)], rows


def answer(page: Section, name: str, losses: dict[tuple[int, int, str], float]) -> None:
    """Say whether the limits hold for a set."""
    for workers, limit in LIMITS.items():
        loss = losses.get((workers, 10, DEFAULT_MERGE_RULE))
        if loss is not None:
            page.answer(
                f"Do {workers} workers with 10 merges lose at most {limit:g} points?",
                "yes" if loss <= limit else "no",
                f"{name}: {loss:+.2f} points",
            )


EXPERIMENT = Experiment(
    name="sharding",
    title="Learning in shards",
    question="What does it cost in errors that several processes learn a part of the rows each, "
    "and merge their models a few times in a pass?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"seeds": 1},
)
