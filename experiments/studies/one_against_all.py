"""One-against-all where it is too slow: sampled negatives, fewer test rows, an estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch

from experiments.data.task import Task
from experiments.measured import make_model

#: The estimate learns rows of so many classes.
ESTIMATE_CLASSES = 500
ESTIMATE_ROWS = 2_000


def sampling(
    task: Task, passes: int, full_updates: float, negative_samples: int
) -> tuple[dict[str, Any], int | None]:
    """Return parameters and a limit of test rows; both empty where there is no need."""
    if task.n_train * task.n_classes * passes <= full_updates:
        return {}, None
    # Each answer compares all classes: a tenth of the updates, but enough rows to tell an error.
    return {"negative_samples": negative_samples}, max(200, int(full_updates / 10 / task.n_classes))


def estimate_full_seconds(task: Task, passes: int) -> float | None:
    """Estimate what training with all negatives would take: linear in rows and classes.

    Rows of some classes are learned with all negatives; the second half of them is timed, when the
    classes are known. None if the first rows show no class twice.
    """
    X, y = next(task.train_batches())
    counts = np.bincount(y)
    chosen = np.argsort(-counts, kind="stable")[:ESTIMATE_CLASSES]
    rows = np.flatnonzero(np.isin(y, chosen))[:ESTIMATE_ROWS]
    half = len(rows) // 2
    if half == 0:
        return None
    model = make_model("one-against-all", seed=0)
    model.partial_fit(X[rows[:half]], y[rows[:half]])
    with Stopwatch() as watch:
        model.partial_fit(X[rows[half:]], y[rows[half:]])
    per_update = watch.times.cpu / ((len(rows) - half) * model.n_classes_seen_)
    return per_update * task.n_train * task.n_classes * passes
