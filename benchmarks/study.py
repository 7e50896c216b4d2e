"""Options for sets and the report, and the report's frame, for all commands."""

from __future__ import annotations

import argparse
import json
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import datasets, report

PLACES = {
    "data_dir": "DIR",
    "cache_dir": "DIR",
    "json": "FILE",
    "against": "FOLDER",
    "npz": "FOLDER",
    "save_npz": "FOLDER",
    "markdown": "FILE",
}  # not part of a result


def add_arguments(parser: argparse.ArgumentParser, rows: int | None = None) -> None:
    """Add the options for the sets, of which this many rows are used by default, and the report."""
    files = dict.fromkeys((*datasets.FILE_SETS, *datasets.DENSE_FILE_SETS))
    sets = (*files, *datasets.GENERATED_SETS)
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder with one folder per set; without it: generated sets")
    add("--sets", nargs="+", choices=sets, metavar="SET", help=f"of {', '.join(sets)}")
    add("--rows", type=int, default=rows, help="use only the first N rows of each part")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, whenever there is more of it")


def load_sets(
    options: argparse.Namespace,
    of_files: Sequence[str],
    generated: Sequence[str] = datasets.GENERATED_SETS,
) -> Iterator[datasets.Dataset]:
    """Yield the chosen sets; without a choice these, which the options name from now on."""
    if options.sets is None:
        options.sets = list(of_files if options.data_dir else generated)
    return (
        datasets.load(name, options.data_dir, options.cache_dir, options.rows)
        for name in options.sets
    )


def publish(
    options: argparse.Namespace, results: Sequence[dict[str, Any]], **described: Any
) -> dict[str, Any]:
    """Return the report as plain data, its circumstances with it; write it where --json says."""
    content = {
        "command": canonical_command(options),
        **described,
        "machine": report.machine(),
        "versions": report.versions(),
        "results": list(results),
    }
    if options.json:
        report.write_json(options.json, content)
    return content


def canonical_command(options: argparse.Namespace) -> str:
    """Return the command that repeats the run, without the places of one machine."""
    words = ["python", "-m", "benchmarks", options.command]
    for name, value in vars(options).items():
        if name == "command" or value is None or value is False:
            continue
        values = value if isinstance(value, list) else [PLACES.get(name, value)]
        values = [] if value is True else values
        texts = [json.dumps(v) if isinstance(v, dict) else str(v) for v in values]
        words += [f"--{name.replace('_', '-')}", *texts]
    return shlex.join(words)
