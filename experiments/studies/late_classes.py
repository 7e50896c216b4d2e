"""Classes that appear late: are they learned as well as if they had come earlier?

Some classes are kept for the last tenth of the stream, mixed there with rows of the others. The
same rows in a random order are what to compare with: every class has the same examples in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import ArrayTask
from experiments.measured import make_model
from experiments.store import Unit
from experiments.studies import one_against_all

SETS: tuple[str, ...] = ("glyphs", "webdirectory")
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all", "lom-tree")
STREAMS = ("spread", "late")
#: The last so large a part of the stream has the late classes.
LAST_SHARE = 0.1
#: They have so large a part of all rows: half of the rows where they appear.
LATE_SHARE = 0.05


def units(budget: Budget) -> Iterator[Unit]:
    """Yield both streams for every method."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for algorithm in budget.algorithms_or(ALGORITHMS):
                for stream in STREAMS:
                    yield {
                        "set": name,
                        **budget.size,
                        "algorithm": algorithm,
                        "stream": stream,
                        "seed": seed,
                        **budget.sampling_of(algorithm),
                    }


def late_classes(y: np.ndarray, seed: int) -> np.ndarray:
    """Draw classes until they have `LATE_SHARE` of the rows.

    >>> late = late_classes(np.repeat(np.arange(100), 5), seed=0)
    >>> len(late)
    5
    """
    random = np.random.default_rng([seed, 1])
    classes, counts = np.unique(y, return_counts=True)
    order = random.permutation(len(classes))
    n_rows = np.cumsum(counts[order])
    n_late = int(np.searchsorted(n_rows, LATE_SHARE * len(y))) + 1
    return classes[order[:n_late]]


def order_of_rows(is_late: np.ndarray, stream: str, seed: int) -> np.ndarray:
    """Return a random order; of the stream "late", with the late rows in its last part.

    >>> is_late = np.arange(100) < 5
    >>> np.flatnonzero(is_late[order_of_rows(is_late, "late", 0)]).min() >= 90
    np.True_
    """
    random = np.random.default_rng([seed, 2])
    order = random.permutation(len(is_late))
    if stream == "spread":
        return order
    late, others = order[is_late[order]], order[~is_late[order]]
    n_first = min(len(others), round((1 - LAST_SHARE) * len(order)))
    last = random.permutation(np.concatenate([others[n_first:], late]))
    return np.concatenate([others[:n_first], last])


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn a stream once; test the late classes and the others apart."""
    task = bench.task(unit)
    if not isinstance(task, ArrayTask):
        raise ValueError(f"set {task.name!r} does not fit in memory: choose another")
    data, seed = task.dataset, unit["seed"]
    late = late_classes(data.y_train, seed)
    is_late = np.isin(data.y_train, late)
    order = order_of_rows(is_late, unit["stream"], seed)
    parameters, max_test_rows = _sampling(unit, task)
    model = make_model(unit["algorithm"], seed, **parameters)
    model.partial_fit(data.X_train[order], data.y_train[order])
    test_is_late = np.isin(data.y_test, late)
    found: dict[str, Any] = {
        "n_train": len(order),
        "n_late_classes": len(late),
        "n_late_rows": int(is_late.sum()),
        **parameters,
    }
    for what, where in (("late", test_is_late), ("others", ~test_is_late)):
        rows = np.flatnonzero(where)[:max_test_rows]
        wrong = int(np.sum(model.predict(data.X_test[rows]) != data.y_test[rows]))
        found |= {f"{what}_n_test": len(rows), f"{what}_wrong": wrong}
        found[f"{what}_error"] = wrong / len(rows) if len(rows) else None
    return found


def _sampling(unit: Unit, task: ArrayTask) -> tuple[dict[str, Any], int | None]:
    if unit["algorithm"] != "one-against-all":
        return {}, None
    return one_against_all.sampling(task, 1, unit["full_updates"], unit["negative_samples"])
