"""The Recall Tree under every combination of the choices that the paper and its code leave open.

Each combination learns a set in one pass over its rows, in a process of its own, and is tested.
"""

from __future__ import annotations

import argparse
import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import datasets, ours, report

#: The parameters that are varied; the defaults come first.
CHOICES = {
    "router_weighting": ("total_entropy", "entropy", "unit"),
    "routing_order": ("route_first", "update_first"),
    "path_features": ("none", "leaf", "path"),
}
SETS = ("glyphs", "webdirectory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sets = (*datasets.FILE_SETS, *datasets.GENERATED_SETS)
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder with one folder per set; without it: generated sets")
    add("--sets", nargs="+", choices=sets, metavar="SET", help=f"of {', '.join(sets)}")
    add("--rows", type=int, help="use the first so many rows of each part only")
    add("--parameters", type=json.loads, help="JSON object: further parameters")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, after every set")


def combinations() -> Iterator[dict[str, str]]:
    """Yield every combination; the first is that of the defaults."""
    for values in itertools.product(*CHOICES.values()):
        yield dict(zip(CHOICES, values, strict=True))


def run(
    options: argparse.Namespace,
    canonical_command: Callable[[argparse.Namespace], str],
    console: Console,
) -> dict[str, Any]:
    """Measure all combinations on the chosen sets, and print a table."""
    if options.sets is None:
        options.sets = list(SETS if options.data_dir else datasets.GENERATED_SETS)
    command = canonical_command(options)
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for name in options.sets:
        dataset = datasets.load(name, options.data_dir, options.cache_dir, options.rows)
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for choice in combinations():
            console.log(f"{name}: {', '.join(choice.values())}")
            found = ours.measure(arrays, "recall-tree", {**(options.parameters or {}), **choice})
            results.append(
                {
                    "set": name,
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
        content = document(results, command)
        if options.json:
            report.write_json(options.json, content)
    Console(width=120).print(table(results))
    return content


def document(results: Sequence[dict[str, Any]], command: str) -> dict[str, Any]:
    """Return the whole report as plain data."""
    return {
        "command": command,
        "time_unit": "microseconds per example",
        "machine": report.machine(),
        "versions": report.versions(),
        "results": list(results),
    }


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
