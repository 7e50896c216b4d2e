"""One-against-some with one thread and with two: times on the clock, and errors.

Each repeat is a process of its own that trains in one pass and predicts; the numbers of threads
take turns, and the best of each is kept. With several threads, training is Hogwild's: the model is
not the same every time, so that its error is given as mean, least and largest.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import datasets, ours, report, study

SETS = ("webdirectory", "glyphs")
PHASES = ("train", "predict")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--threads", type=int, default=2, help="compare one thread with so many")
    add("--repeats", type=int, default=5, help="keep the best of so many")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all chosen sets, and print a table."""
    if options.threads < 2:
        raise ValueError(f"--threads {options.threads}: at least 2 are compared with one")
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, SETS):
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        found: dict[int, list[ours.Result]] = {1: [], options.threads: []}
        for repeat in range(options.repeats):
            console.log(f"{dataset.name}: {repeat + 1} of {options.repeats}")
            for n_jobs, repeats in found.items():
                repeats.append(ours.measure(arrays, "one-against-some", {"n_jobs": n_jobs}))
        results.append(summary(dataset, found))
        content = study.publish(
            options,
            results,
            time_unit="microseconds per example, on the clock, best of the repeats; "
            "cpu: of all threads together",
            ratio="time of one thread / time of several",
        )
    Console(width=100).print(table(results))
    return content


def summary(dataset: datasets.Dataset, found: dict[int, list[ours.Result]]) -> dict[str, Any]:
    """Return times and errors by number of threads, and what more threads change."""
    n_examples = {"train": len(dataset.y_train), "predict": len(dataset.y_test)}
    by_threads = {}
    for n_jobs, repeats in found.items():
        errors = [r.error for r in repeats]
        times = {
            phase: [getattr(r, phase).per_example(n_examples[phase]) for r in repeats]
            for phase in PHASES
        }
        by_threads[n_jobs] = {
            **{phase: min(t["wall"] for t in times[phase]) for phase in PHASES},
            "cpu": {phase: min(t["cpu"] for t in times[phase]) for phase in PHASES},
            "error": {
                "mean": float(np.mean(errors)),
                "least": min(errors),
                "largest": max(errors),
            },
        }
    one, several = by_threads[1], by_threads[max(by_threads)]
    return {
        "set": dataset.name,
        **{f"n_{phase}": n for phase, n in n_examples.items()},
        "threads": by_threads,
        "ratios": {phase: one[phase] / several[phase] for phase in PHASES},
        "error_points": 100 * (several["error"]["mean"] - one["error"]["mean"]),
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set and number of threads."""
    shown = Table()
    shown.add_column("set")
    for heading in ("threads", "train µs", "ratio", "predict µs", "ratio", "error %", "± points"):
        shown.add_column(heading, justify="right")
    for result in results:
        for n_jobs, measured in result["threads"].items():
            error, times = measured["error"], []
            for phase in PHASES:
                ratio = "" if n_jobs == 1 else f"{result['ratios'][phase]:.2f}x"
                times += [report.number(measured[phase]), ratio]
            spread = 50 * (error["largest"] - error["least"])
            shown.add_row(
                result["set"], str(n_jobs), *times, f"{100 * error['mean']:.2f}", f"{spread:.2f}"
            )
        shown.add_section()
    return shown
