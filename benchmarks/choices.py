"""The Recall Tree under every combination of the choices that the paper and its code leave open.

Each combination learns a set in one pass over its rows, in a process of its own, and is tested.
All candidates learn from every example, as in the paper (``min_gradient=0``).
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import datasets, ours, report, study

#: The parameters that are varied; the defaults come first.
CHOICES = {
    "router_weighting": ("total_entropy", "entropy", "unit"),
    "routing_order": ("route_first", "update_first"),
    "path_features": ("none", "leaf", "path"),
}
SETS = ("glyphs", "webdirectory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    parser.add_argument("--parameters", type=json.loads, help="JSON object: further parameters")


def combinations() -> Iterator[dict[str, str]]:
    """Yield every combination; the first is that of the defaults."""
    for values in itertools.product(*CHOICES.values()):
        yield dict(zip(CHOICES, values, strict=True))


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all combinations on the chosen sets, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, SETS):
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for choice in combinations():
            console.log(f"{dataset.name}: {', '.join(choice.values())}")
            parameters = {"min_gradient": 0.0, **(options.parameters or {}), **choice}
            found = ours.measure(arrays, "recall-tree", parameters)
            results.append(
                {
                    "set": dataset.name,
                    "n_train": len(dataset.y_train),
                    **choice,
                    "error": found.error,
                    "progressive_error": found.progressive_error,
                    "candidate_recall": found.candidate_recall,
                    "train": found.train.per_example(len(dataset.y_train)),
                    "predict": found.predict.per_example(len(dataset.y_test)),
                    "memory_bytes": found.memory_bytes,
                }
            )
        content = study.publish(options, results, time_unit="microseconds per example")
    Console(width=120).print(table(results))
    return content


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set and combination."""
    shown = Table()
    for heading in ("set", *CHOICES):
        shown.add_column(heading.replace("_", "\n"), no_wrap=True)
    for heading in (
        "error\n%",
        "recall\n%",
        "progressive\nerror %",
        "train\nµs",
        "predict\nµs",
        "MB",
    ):
        shown.add_column(heading, justify="right")
    for result in results:
        shown.add_row(
            result["set"],
            *(result[name] for name in CHOICES),
            *(
                f"{100 * result[name]:.1f}"
                for name in ("error", "candidate_recall", "progressive_error")
            ),
            report.number(result["train"]["cpu"]),
            report.number(result["predict"]["cpu"]),
            f"{result['memory_bytes'] / 1e6:.1f}",
        )
    return shown
