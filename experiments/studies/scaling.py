"""One-against-some by number of classes: work and time per example, on average and at most.

As in `cost`, classes are drawn from one set, or generated; here with all their rows. The first half
of these is learned unmeasured, then rows are timed; the last ones are learned and predicted one by
one, to know how much work one example takes at most. Learning, unless it takes long, and prediction
are timed several times, and the shortest is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.measured import evaluations, is_recalled, make_model
from experiments.store import Unit
from experiments.studies.cost import DOCUMENTS, choose_dataset, units_by_classes

SETS: tuple[str, ...] = ("wikipassage", DOCUMENTS)
ALGORITHMS = ("one-against-some", "recall-tree")
SMALLEST = 1_000
N_ONE_BY_ONE = 2_000
N_TEST = 20_000
N_LEARNINGS, N_TIMINGS = 3, 5
LONG = 20.0  # seconds

COUNTED = ("evaluations", "entries")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every number of classes; on a set from files, also all of its classes."""
    smallest = min(SMALLEST, budget.max_classes or SMALLEST)
    return units_by_classes(budget, SETS, ALGORITHMS, smallest)


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Measure one method with one number of classes."""
    data = choose_dataset(unit, bench, n_test=N_TEST)
    order = np.random.default_rng(unit["seed"]).permutation(len(data.y_train))
    n_one_by_one = min(N_ONE_BY_ONE, len(order) // 4)
    half = len(order) // 2
    first, timed = order[:half], order[half : len(order) - n_one_by_one]
    single = order[len(order) - n_one_by_one :]
    X, y = data.X_train[timed], data.y_train[timed]
    learnings = []
    for _ in range(N_LEARNINGS):
        model = make_model(unit["algorithm"], unit["seed"])
        model.partial_fit(data.X_train[first], data.y_train[first])
        before = counts(model)
        with Stopwatch() as learning:
            model.partial_fit(X, y)
        learnings.append(learning.times.per_example(len(timed))["cpu"])
        if learning.times.cpu > LONG:
            break
    learned = (counts(model) - before) / len(timed)
    at_most = most_work(model, data.X_train[single], data.y_train[single])
    X_test, y_test = data.X_test[:N_TEST], data.y_test[:N_TEST]
    before = counts(model)
    timings = []
    for _ in range(N_TIMINGS):
        with Stopwatch() as answering:
            answers = model.predict(X_test)
        timings.append(answering.times.per_example(len(y_test))["cpu"])
    answered = (counts(model) - before) / (N_TIMINGS * len(y_test))
    answer_at_most = most_work(model, X_test[:n_one_by_one])
    wrong = int(np.sum(answers != y_test))
    return {
        "n_train": len(order),
        "n_classes_seen": model.n_classes_seen_,
        "n_test": len(y_test),
        "wrong": wrong,
        "error": wrong / len(y_test),
        "candidate_recall": float(is_recalled(model, X_test, y_test).mean()),
        "train_microseconds": min(learnings),
        "predict_microseconds": min(timings),
        **{f"train_{name}": float(learned[i]) for i, name in enumerate(COUNTED)},
        **{f"predict_{name}": float(answered[i]) for i, name in enumerate(COUNTED)},
        **{f"train_most_{name}": int(at_most[i]) for i, name in enumerate(COUNTED)},
        **{f"predict_most_{name}": int(answer_at_most[i]) for i, name in enumerate(COUNTED)},
        "one_by_one": n_one_by_one,
        "memory_bytes": int(model.memory_bytes_),
    }


def counts(model: Any) -> np.ndarray:
    """Return the linear evaluations and the entries of histograms so far."""
    return np.array([evaluations(model), model.work_["histogram_touches"]], dtype=np.int64)


def most_work(model: Any, X: Any, y: np.ndarray | None = None) -> np.ndarray:
    """Return the most work that one row took: to be learned, or predicted if there is no label."""
    most = np.zeros(len(COUNTED), dtype=np.int64)
    for i in range(X.shape[0]):
        before = counts(model)
        row = X[i : i + 1]
        if y is None:
            model.predict(row)
        else:
            model.partial_fit(row, y[i : i + 1])
        most = np.maximum(most, counts(model) - before)
    return most
