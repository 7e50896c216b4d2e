"""One-against-some beside the other methods, one pass, defaults: on sets and on a text.

On a set, test error. On a text in its own order, progressive error: each word is predicted just
before it is learned. On a set one-against-some may also be tuned: some settings, in several passes
too, are tried on a held-out tenth of the training rows, and the best is trained on all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch

from experiments.averaged_embeddings import AveragedEmbeddings
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import SETS as CATALOGUE
from experiments.data.task import Task
from experiments.measured import NO_TIME, evaluate, learn, make_model
from experiments.store import Unit
from experiments.studies import one_against_all
from experiments.studies.common import VALIDATION_SHARE, learn_and_test
from experiments.studies.one_against_some_ablation import DENSE, KINDS, SPARSE
from recalltree.estimators.progressive_curve import ProgressiveCurve

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikipassage", "wikitext")
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all", "lom-tree")
EMBEDDINGS = "averaged-embeddings"
TEXT_ALGORITHMS = ("one-against-some", "recall-tree", "lom-tree", EMBEDDINGS)
#: What is set besides on a text: for one-against-some a rate between the best two (0.5 and 0.7) on
#: words 12 to 15 million, which are not learned here; for the Recall Tree the default, which is not
#: the paper's.
TEXT_SETTINGS: dict[str, dict[str, Any]] = {
    "one-against-some": {"learning_rate": 0.6},
    "recall-tree": {"min_gradient": 0.1},
}
#: What tuning tries, by kind of data: the first is the defaults.
TRIED: dict[str, list[dict[str, Any]]] = {
    DENSE: [
        {},
        {"n_passes": 3},
        {"n_passes": 3, "n_trees": 8, "max_candidates": 140},
        {"n_passes": 3, "n_trees": 8, "max_candidates": 140, "learning_rate": 0.7},
        {"n_passes": 6, "n_trees": 8, "max_candidates": 140},
        {"n_passes": 6, "n_trees": 12, "max_candidates": 200},
    ],
    SPARSE: [
        {},
        {"n_passes": 3},
        {"n_passes": 3, "max_candidates": 48, "max_entries": 2048},
        {"n_passes": 3, "learning_rate": 0.7},
        {"n_passes": 3, "max_labels": 2048, "max_entries": 4000, "feature_dropout": 0.4},
        {
            "n_passes": 4,
            "max_labels": 2048,
            "max_entries": 4000,
            "feature_dropout": 0.4,
            "learning_rate": 0.8,
        },
        {
            "n_passes": 4,
            "max_labels": 2048,
            "max_entries": 4000,
            "feature_dropout": 0.3,
            "learning_rate": 0.7,
        },
    ],
}
#: Rates of the embeddings: the best is taken, an advantage. On a short beginning of a text higher
#: ones are better than on all of it.
RATES = (0.05, 0.1, 0.25, 0.5)


@dataclass
class Progress:
    """How many words the embeddings learned, and how many they got wrong before."""

    n_examples: int = 0
    progressive_errors: int = 0

    def add(self, wrong: np.ndarray) -> None:
        self.n_examples += len(wrong)
        self.progressive_errors += int(wrong.sum())

    @property
    def progressive_weight(self) -> int:
        return self.n_examples


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every method on every set; a text has one order and so no seeds."""
    for name in budget.sets_or(SETS):
        is_text = CATALOGUE[name].is_text
        for algorithm in budget.algorithms_or(TEXT_ALGORITHMS if is_text else ALGORITHMS):
            for seed in range(1 if is_text else budget.seeds):
                yield {
                    "kind": "progressive" if is_text else "test",
                    "set": name,
                    "algorithm": algorithm,
                    **budget.size,
                    "seed": seed,
                    **budget.sampling_of(algorithm),
                }
        if budget.probes and is_text:
            yield from _settings(name, budget)
        elif budget.probes and "one-against-some" in budget.algorithms_or(ALGORITHMS):
            yield from _tuning(name, budget)


def _settings(name: str, budget: Budget) -> Iterator[Unit]:
    """Yield a text with other settings than the defaults."""
    for algorithm in budget.algorithms_or(TEXT_ALGORITHMS):
        if parameters := TEXT_SETTINGS.get(algorithm):
            same = {"set": name, "algorithm": algorithm, **budget.size}
            yield {"kind": "set", **same, "seed": 0, "parameters": parameters}


def _tuning(name: str, budget: Budget) -> Iterator[Unit]:
    """Yield the settings that are tried on a set, and the training with the best."""
    same = {"set": name, "algorithm": "one-against-some", **budget.size}
    tried = TRIED[KINDS[name]][: budget.probes]
    for number, parameters in enumerate(tried):
        yield {"kind": "probe", **same, "probe": number, "parameters": parameters}
    for seed in range(budget.seeds):
        yield {"kind": "tuned", **same, "probes": len(tried), "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn in one pass and test, or learn a text in its order."""
    task = bench.task(unit)
    if unit["algorithm"] == EMBEDDINGS:
        return _embeddings(task, unit["seed"])
    if unit["kind"] in ("progressive", "set"):
        return _text(task, unit)
    if unit["kind"] == "probe":
        return _learn_in_passes(task.hold_out(VALIDATION_SHARE, 0), unit["parameters"], seed=0)
    if unit["kind"] == "tuned":
        return _tuned(task, unit, bench)
    sampled: dict[str, Any] = {}
    max_test_rows = None
    if unit["algorithm"] == "one-against-all":
        sampled, max_test_rows = one_against_all.sampling(
            task, 1, unit["full_updates"], unit["negative_samples"]
        )
    _, found = learn_and_test(
        task, unit["algorithm"], sampled, seed=unit["seed"], max_test_rows=max_test_rows
    )
    return {**found, **sampled}


def _learn_in_passes(task: Task, parameters: dict[str, Any], seed: int) -> dict[str, Any]:
    model = make_model("one-against-some", seed, **parameters)
    X, y = next(iter(task.train_batches(seed)))
    with Stopwatch() as watch:
        model.fit(X, y)
    return {
        "n_train": task.n_train,
        "parameters": parameters,
        "passes": model.n_iter_,
        "train_seconds": watch.times.cpu,
        "train_microseconds": watch.times.per_example(task.n_train)["cpu"],
        "memory_bytes": int(model.memory_bytes_),
        **evaluate(model, task),
    }


def _tuned(task: Task, unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train with the settings that had the least error on the held-out rows."""
    same = {k: v for k, v in unit.items() if k not in ("kind", "probes", "seed")}
    tried = [
        bench.store.get({"kind": "probe", **same, "probe": number, "parameters": parameters})
        for number, parameters in enumerate(TRIED[KINDS[unit["set"]]][: unit["probes"]])
    ]
    best = min((record["result"] for record in tried), key=lambda result: result["error"])
    found = _learn_in_passes(task, best["parameters"], unit["seed"])
    return {**found, "validation_error": best["error"]}


def _text(task: Task, unit: Unit) -> dict[str, Any]:
    model = make_model(unit["algorithm"], unit["seed"], **unit.get("parameters", {}))
    found = learn(model, task)
    return {
        **found,
        "n_judged": found["n_train"],
        "curve": _curve(model.progressive_curve_),
    }


def _curve(points: np.ndarray) -> dict[str, list[float]]:
    return {
        "examples": points["examples"].tolist(),
        "error": [round(value, 5) for value in points["error"].tolist()],
    }


def _embeddings(task: Task, seed: int) -> dict[str, Any]:
    """Learn the text with every rate, and take the best."""
    counts = sum(np.bincount(y, minlength=task.n_classes) for _, y in task.train_batches())
    tried = {rate: _learn_embeddings(task, counts, rate, seed) for rate in RATES}
    rate = min(tried, key=lambda rate: tried[rate]["progressive_error"])
    rates = {str(rate): found["progressive_error"] for rate, found in tried.items()}
    return {**tried[rate], "learning_rate": rate, "rates": rates}


def _learn_embeddings(task: Task, counts: Any, rate: float, seed: int) -> dict[str, Any]:
    model = AveragedEmbeddings(task.n_features, counts, rate, seed=seed)
    curve, so_far = ProgressiveCurve(), Progress()
    times = NO_TIME
    for X, y in task.train_batches():
        start = 0
        while start < len(y):
            rows = slice(start, start + curve.room(so_far.n_examples))
            with Stopwatch() as watch:
                answers = model.predict_and_learn(X[rows], y[rows])
            times += watch.times
            so_far.add(answers != y[rows])
            curve.record(so_far)
            start = rows.stop
    return {
        "n_train": task.n_train,
        "n_classes": task.n_classes,
        "progressive_error": so_far.progressive_errors / so_far.n_examples,
        "train_seconds": times.cpu,
        "train_microseconds": times.per_example(task.n_train)["cpu"],
        "n_judged": so_far.n_examples,
        "memory_bytes": model.embeddings.nbytes + model.deciders.nbytes,
        "curve": _curve(curve.as_array(so_far)),
    }
