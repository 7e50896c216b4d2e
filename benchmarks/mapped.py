"""Prediction from mapped files, as a multiple of the time of a model in memory.

Two times are given: that of the first batch after ``load``, which may build an index, and that of
later batches. Processor time of one thread, warm caches, both kinds of model in turn.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import recalltree
from benchmarks import datasets, report, study
from benchmarks.ours import ESTIMATORS


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--algorithms", nargs="+", choices=ESTIMATORS, default=list(ESTIMATORS))
    add("--scores", type=float, default=5e7, help="of one-against-all, rows x classes at most")
    add("--repeats", type=int, default=5, help="repeats; the best is kept")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all algorithms on all chosen sets, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, datasets.FILE_SETS):
        for algorithm in options.algorithms:
            console.log(f"{dataset.name}: {algorithm}")
            results.append(measure(dataset, algorithm, options))
            content = study.publish(
                options,
                results,
                time_unit="microseconds per row, processor time, best of the repeats",
                ratio="time of the mapped model / time of the model in memory",
            )
    Console(width=100).print(table(results))
    return content


def measure(
    dataset: datasets.Dataset, algorithm: str, options: argparse.Namespace
) -> dict[str, Any]:
    """Return the times of one algorithm on one set."""
    X = dataset.X_test
    own = {}
    if algorithm == "one-against-all":
        # All classes are scored, whatever they learned from: so they may learn from few.
        own["negative_samples"] = 16
        X = X[: max(100, int(options.scores // dataset.n_classes))]
    clf = getattr(recalltree, ESTIMATORS[algorithm])(**own)
    clf.fit(dataset.X_train, dataset.y_train)
    times: dict[str, list[float]] = {"memory": [], "first": [], "later": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.rt")
        clf.save(path)
        for _ in range(options.repeats):
            mapped = recalltree.load(path)
            answers = [
                batch(model, X, times[which])
                for which, model in (("memory", clf), ("first", mapped), ("later", mapped))
            ]
            for answer in answers[1:]:
                np.testing.assert_array_equal(answer, answers[0])
    best = {which: min(seconds) for which, seconds in times.items()}
    return {
        "set": dataset.name,
        "algorithm": algorithm,
        "n_rows": X.shape[0],
        "memory": 1e6 * best["memory"] / X.shape[0],
        "first": best["first"] / best["memory"],
        "later": best["later"] / best["memory"],
    }


def batch(clf: Any, X: Any, times: list[float]) -> Any:
    """Return the answers to one batch, and add its processor time."""
    start = time.process_time()
    answers = clf.predict(X)
    times.append(time.process_time() - start)
    return answers


def table(results: list[dict[str, Any]]) -> Table:
    """Return one line per set and algorithm."""
    shown = Table()
    for heading in ("set", "algorithm"):
        shown.add_column(heading)
    for heading in ("rows", "memory µs", "first batch", "later batches"):
        shown.add_column(heading, justify="right")
    for r in results:
        ratios = (f"{r['first']:.2f}x", f"{r['later']:.2f}x")
        shown.add_row(
            r["set"], r["algorithm"], f"{r['n_rows']:,}", report.number(r["memory"]), *ratios
        )
    return shown
