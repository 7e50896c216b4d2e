"""One-against-all where it is too slow: sampled negatives, fewer rows asked, an estimate."""

from __future__ import annotations

from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch

from experiments.data.task import Task
from experiments.methods import make_model

#: The estimate learns rows of this many classes.
ESTIMATE_CLASSES = 500
ESTIMATE_ROWS = 2_000

#: Progressive validation asks about this many rows, spread evenly, each just before its block.
VALIDATION_ROWS = 1_000
VALIDATION_BLOCK = 1_000


def sampling(
    task: Task, passes: int, full_updates: float, negative_samples: int
) -> tuple[dict[str, Any], int | None]:
    """Return parameters and a limit of test rows; both empty where there is no need."""
    if task.n_train * task.n_classes * passes <= full_updates:
        return {}, None
    # Each answer compares all classes: a tenth of the updates, but enough rows to tell an error.
    return {"negative_samples": negative_samples}, max(200, int(full_updates / 10 / task.n_classes))


def learn_validated(model: Any, task: Task) -> tuple[float, float]:
    """Learn a task in its order; return the progressive error and the seconds of learning.

    With sampled negatives a model asks itself about too few rows to compare parameters by.
    """
    step = max(1, task.n_train // VALIDATION_ROWS)
    n_asked = n_wrong = n_learned = 0
    seconds = 0.0
    for X, y in task.train_batches():
        for start in range(0, len(y), VALIDATION_BLOCK):
            rows = slice(start, start + VALIDATION_BLOCK)
            asked = np.arange(len(y))[rows][::step]
            n_asked += len(asked)
            # Before anything is learned, every answer is wrong.
            answers = model.predict(X[asked]) if n_learned else np.full(len(asked), -1)
            n_wrong += int(np.sum(answers != y[asked]))
            with Stopwatch() as watch:
                model.partial_fit(X[rows], y[rows])
            seconds += watch.times.cpu
            n_learned += len(y[rows])
    return n_wrong / n_asked, seconds


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
