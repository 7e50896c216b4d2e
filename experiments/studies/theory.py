"""The theory, checked: Theorem 1 along a tree, the proposition, and the figure of the planes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import ArrayTask
from experiments.measured import make_model
from experiments.store import Unit
from experiments.theory import boosting, planes
from experiments.theory.proposition import answers_of_one_against_all

SETS: tuple[str, ...] = ("glyphs",)
N_SPLITS = 1_023
PLANE_POINTS = 10_000
#: Four of the sixteen classes are candidates, so that the tree has something to do. Two methods in
#: batch show what the representations could do: all classes' linear scores learned together, and a
#: decision tree.
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    "recall-tree": ("recall-tree", {"max_candidates": 4, "max_depth": 6}),
    "one-against-all": ("one-against-all", {}),
    "tree-alone": (
        "recall-tree",
        {"max_candidates": 1, "max_depth": 6, "path_features": "none"},
    ),
    "softmax (batch)": ("softmax", {}),
    "decision tree (batch)": ("decision-tree", {}),
}


def units(budget: Budget) -> Iterator[Unit]:
    """Yield the three parts."""
    for name in budget.sets_or(SETS):
        same = {"set": name, **budget.size}
        for seed in range(budget.seeds):
            yield {"kind": "theorem", **same, "n_splits": N_SPLITS, "seed": seed}
            yield {"kind": "proposition", **same, "seed": seed}
    for distribution in planes.DISTRIBUTIONS:
        for method in METHODS:
            for seed in range(budget.seeds):
                yield {
                    "kind": "plane",
                    "distribution": distribution,
                    "method": method,
                    "points": min(PLANE_POINTS, budget.rows or PLANE_POINTS),
                    "passes": max(10, budget.passes),
                    "seed": seed,
                }


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Do one part."""
    if unit["kind"] == "plane":
        return _plane(unit)
    task = bench.task(unit)
    if not isinstance(task, ArrayTask) or not isinstance(task.dataset.X_train, np.ndarray):
        raise ValueError(f"set {task.name!r} is not dense: choose one that is, such as glyphs")
    X, y = next(task.train_batches(unit["seed"]))
    if unit["kind"] == "theorem":
        return _theorem(X, y, unit)
    return _proposition(X, y, task, unit)


def _theorem(X: np.ndarray, y: np.ndarray, unit: Unit) -> dict[str, Any]:
    history = boosting.grow(X, y, unit["n_splits"], boosting.linear_splitter(unit["seed"]))
    rows = [asdict(split) for split in history]
    return {
        "n_train": len(y),
        "entropy": boosting.label_entropy(y),
        "splits": {name: [_rounded(row[name]) for row in rows] for name in rows[0]},
    }


def _rounded(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.6g}")


def _proposition(X: np.ndarray, y: np.ndarray, task: ArrayTask, unit: Unit) -> dict[str, Any]:
    """A tree with one candidate, and the linear predictor on its path features, row by row."""
    model = make_model("recall-tree", unit["seed"], max_candidates=1, path_features="none")
    model.partial_fit(X, y)
    X_test, y_test = task.dataset.X_test, task.dataset.y_test
    tree, linear = model.predict(X_test), answers_of_one_against_all(model, X_test)
    return {
        "n_train": len(y),
        "n_test": len(y_test),
        "n_nodes": model.tree_.n_nodes,
        "disagreements": int(np.sum(tree != linear)),
        "error_tree": float(np.mean(tree != y_test)),
        "error_one_against_all": float(np.mean(linear != y_test)),
    }


def _plane_model(unit: Unit) -> Any:
    algorithm, parameters = METHODS[unit["method"]]
    if algorithm == "softmax":
        return LogisticRegression(C=1e4, max_iter=1000)
    if algorithm == "decision-tree":
        return DecisionTreeClassifier(random_state=unit["seed"])
    return make_model(algorithm, unit["seed"], n_passes=unit["passes"], **parameters)


def _plane(unit: Unit) -> dict[str, Any]:
    random = np.random.default_rng([unit["seed"], 1])
    model = _plane_model(unit)
    X, X_test = random.random((unit["points"], 2)), random.random((PLANE_POINTS, 2))
    distribution, seed = unit["distribution"], unit["seed"]
    model.fit(X, planes.label(distribution, X, seed))
    wrong = int(np.sum(model.predict(X_test) != planes.label(distribution, X_test, seed)))
    points = planes.grid()
    return {
        "error": wrong / len(X_test),
        "wrong": wrong,
        "n_test": len(X_test),
        "truth": planes.as_map(planes.label(distribution, points, seed)),
        "map": planes.as_map(model.predict(points)),
    }
