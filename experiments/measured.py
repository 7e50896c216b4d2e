"""Measuring a model on a task: errors, time, hyperplane evaluations, memory, what the tree does."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch, Times

from experiments.data.task import ArrayTask, Task
from experiments.methods import make_model
from recalltree import OneAgainstSomeClassifier, RecallTreeClassifier
from recalltree.validation import slice_rows

#: Choices are made on so large a part of the training rows, held out; never on test rows.
VALIDATION_SHARE = 0.1
BLOCK_ROWS = 2048
NO_TIME = Times(0.0, 0.0, 0.0)


def evaluations(model: Any) -> int:
    """Return how many hyperplanes were evaluated so far, for learning and answers alike."""
    work = model.work_
    return work["router_evaluations"] + work["predictor_evaluations"]


def passes_of(task: Task, passes: int) -> int:
    """Return how many passes a task is given: the paper makes several over small sets only."""
    return passes if task.is_small else 1


def learn_and_test(
    task: Task,
    algorithm: str,
    parameters: dict[str, Any],
    *,
    seed: int,
    permuted: bool = True,
    passes: int = 1,
    max_test_rows: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Train a model on a task, test it, and return both it and what was found."""
    model = make_model(algorithm, seed, **parameters)
    found = learn(model, task, seed if permuted else None, passes_of(task, passes))
    found |= evaluate(model, task, max_test_rows)
    return model, found


def learn(model: Any, task: Task, seed: int | None = None, passes: int = 1) -> dict[str, Any]:
    """Let a model learn a task and return what it took.

    One pass is online, in the order of the task, or permuted if there is a seed. A larger number is
    a limit: a tenth of the rows is held out to tell when to stop, as the paper does on small sets.
    Making features and reading files is not timed.
    """
    times = NO_TIME
    if passes > 1:
        if not isinstance(task, ArrayTask):
            raise ValueError(f"set {task.name!r} is a stream: it is learned in one pass")
        model.set_params(n_passes=passes, early_stopping=True)
        with Stopwatch() as watch:
            model.fit(task.dataset.X_train, task.dataset.y_train)
        times = watch.times
    else:
        for X, y in task.train_batches(seed):
            with Stopwatch() as watch:
                model.partial_fit(X, y)
            times += watch.times
    # A model that early stopping took back to an earlier pass does not know its work.
    n_counted = model.work_["examples_learned"]
    held_out = round(model.validation_fraction * task.n_train) if passes > 1 else 0
    n_learned = (task.n_train - held_out) * model.n_iter_
    return {
        "n_train": task.n_train,
        "n_classes": task.n_classes,
        "n_classes_seen": model.n_classes_seen_,
        "passes": model.n_iter_,
        "progressive_error": model.progressive_error_,
        "train_seconds": times.cpu,
        "train_microseconds": times.per_example(n_learned)["cpu"],
        "train_evaluations": evaluations(model) / n_counted if n_counted else None,
        "memory_bytes": int(model.memory_bytes_),
    }


def curve_of(points: np.ndarray, *names: str) -> dict[str, list[float]]:
    """Return fields of a progressive curve as they are stored."""
    rounded = {name: [round(value, 5) for value in points[name].tolist()] for name in names}
    return {"examples": points["examples"].tolist(), **rounded}


@dataclass
class Tested:
    """Measurements on test rows, summed over batches."""

    n: int = 0
    wrong: int = 0
    times: Times = NO_TIME
    evaluations: int = 0
    depth: int = 0
    recalled: int = 0
    bound: float = 0.0
    nodes: dict[int, list[int]] = field(default_factory=dict)  # stopped, of which recalled

    def as_dict(self) -> dict[str, Any]:
        return {
            "n_test": self.n,
            "wrong": self.wrong,
            "error": self.wrong / self.n,
            "predict_microseconds": self.times.per_example(self.n)["cpu"],
            "predict_evaluations": self.evaluations / self.n,
        }


def evaluate(model: Any, task: Task, max_rows: int | None = None) -> dict[str, Any]:
    """Test a model and return what was found; of a Recall Tree also what its tree does."""
    found = Tested()
    is_tree = isinstance(model, RecallTreeClassifier)
    has_candidates = is_tree or isinstance(model, OneAgainstSomeClassifier)
    for X, y in task.test_batches():
        left = len(y) if max_rows is None else max_rows - found.n
        if left <= 0:
            break
        X, y = X[:left], y[:left]
        before = evaluations(model)
        with Stopwatch() as watch:
            answers = model.predict(X)
        found.times += watch.times
        found.evaluations += evaluations(model) - before
        found.n += len(y)
        found.wrong += int(np.sum(answers != y))
        if has_candidates:
            recalled = is_recalled(model, X, y)
            found.recalled += int(recalled.sum())
            if is_tree:
                _look_at_stops(model, X, recalled, found)
    result = found.as_dict()
    if has_candidates:
        result["candidate_recall"] = found.recalled / found.n
    return {**result, **_stops(model, found)} if is_tree else result


def is_recalled(model: Any, X: Any, y: np.ndarray) -> np.ndarray:
    """Tell for each row whether its label is among its candidates."""
    recalled = np.zeros(len(y), dtype=bool)
    for start in range(0, len(y), BLOCK_ROWS):
        part = slice(start, start + BLOCK_ROWS)
        candidates = model.candidates(X[part])
        rows = np.repeat(np.arange(candidates.shape[0]), np.diff(candidates.indptr))
        recalled[start + rows[model.classes_[candidates.indices] == y[part][rows]]] = True
    return recalled


def stop_nodes(model: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the node where each row stops, and its depth."""
    fitted, matrix, _ = model._check_new(X)
    nodes, depths = [], []
    for start in range(0, matrix.shape[0], BLOCK_ROWS):
        stop = min(start + BLOCK_ROWS, matrix.shape[0])
        indptr, path = fitted.core.route(slice_rows(matrix, start, stop))
        nodes.append(np.asarray(path)[indptr[1:] - 1])
        depths.append(np.diff(indptr) - 1)
    return np.concatenate(nodes), np.concatenate(depths)


def _look_at_stops(model: Any, X: Any, recalled: np.ndarray, found: Tested) -> None:
    nodes, depths = stop_nodes(model, X)
    found.depth += int(depths.sum())
    found.bound += float(model.tree_.recall_bound[nodes].sum())
    for node, hit in zip(nodes.tolist(), recalled.tolist(), strict=True):
        counts = found.nodes.setdefault(node, [0, 0])
        counts[0] += 1
        counts[1] += hit


def _stops(model: Any, found: Tested) -> dict[str, Any]:
    """Return depth, recall, and the bound of recall, over all rows and node by node."""
    bounds = model.tree_.recall_bound
    met = n_judged = 0
    for node, (stopped, recalled) in found.nodes.items():
        if stopped >= 30:  # fewer do not tell a recall
            n_judged += stopped
            met += stopped * (recalled / stopped >= bounds[node])
    return {
        "mean_depth": found.depth / found.n,
        "mean_bound": found.bound / found.n,
        # Rows that stop where 30 or more do: the share at nodes that keep their bound.
        "bound_holds": met / n_judged if n_judged else None,
        "bound_judged": n_judged / found.n,
        "n_nodes": model.tree_.n_nodes,
        "depth": model.tree_.max_depth,
        "max_candidates": int(model._check_fitted().core.max_candidates_now),
    }
