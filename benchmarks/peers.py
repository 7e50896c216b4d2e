"""Batch programs for many classes (PECOS, omikuji, napkinXC, fastText) on the same rows as ours.

Each program runs in a process of its own with one thread: it trains with its own defaults on the
training rows, weighted in batch, and names a class for every test row. Weighting, and reading or
writing files before training, are not timed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from benchmarks import datasets, ours, report
from benchmarks.measure import Times, peak_rss
from benchmarks.measure import run as run_command
from benchmarks.peer_programs import PEERS
from benchmarks.weighting import WEIGHTINGS

SETS = ("webdirectory", "wikipassage")
OURS = "recalltree"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sets = (*datasets.FILE_SETS, *datasets.GENERATED_SETS)
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder with one folder per set; without it: generated sets")
    add("--sets", nargs="+", choices=sets, metavar="SET", help=f"of {', '.join(sets)}")
    add("--programs", nargs="+", choices=[OURS, *PEERS], default=[OURS, *PEERS])
    add("--weightings", nargs="+", choices=WEIGHTINGS, default=["tfidf", "damped"])
    add("--algorithm", choices=ours.ESTIMATORS, default=next(iter(ours.ESTIMATORS)))
    add("--parameters", type=json.loads, help="JSON object: parameters of recalltree's estimator")
    add("--rows", type=int, help="use the first so many rows of each part only")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, after every program")


def run(
    options: argparse.Namespace,
    canonical_command: Callable[[argparse.Namespace], str],
    console: Console,
) -> dict[str, Any]:
    """Measure every program on every set, and print a table."""
    missing = [
        name for name in options.programs if name in PEERS and not PEERS[name].is_available()
    ]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} not installed: pip install 'recalltree[peers]', or choose "
            "others with --programs"
        )
    if options.sets is None:
        options.sets = list(SETS if options.data_dir else ["generated-sparse"])
    command = canonical_command(options)
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for name in options.sets:
        dataset = datasets.load(name, options.data_dir, options.cache_dir, options.rows)
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for program, weighting in turns(options.programs, options.weightings, dataset):
            console.log(f"{name}: {program}, {weighting}")
            if program == OURS:
                found = _ours(arrays, options.algorithm, options.parameters)
            else:
                found = measure(arrays, program, weighting)
            results.append(
                {
                    "set": name,
                    "program": program,
                    "weighting": weighting,
                    "n_train": len(dataset.y_train),
                    "n_test": len(dataset.y_test),
                    "error": found["error"],
                    "train": found["train"].per_example(len(dataset.y_train)),
                    "predict": found["predict"].per_example(len(dataset.y_test)),
                    "peak_rss": found["peak_rss"],
                }
            )
            content = {
                "command": command,
                "time_unit": "microseconds per example",
                "machine": report.machine(),
                "versions": report.versions(),
                "results": results,
            }
            if options.json:
                report.write_json(options.json, content)
    Console(width=120).print(table(results))
    return content


def turns(
    programs: Sequence[str], weightings: Sequence[str], dataset: datasets.Dataset
) -> list[tuple[str, str]]:
    """Return each program with each weighting that it can be given.

    Ours is given the rows as they are. Dense rows are not weighted, and few programs take them.
    """
    dense = not sp.issparse(dataset.X_train)
    chosen = []
    for program in programs:
        if program == OURS or (dense and PEERS[program].takes_dense):
            chosen.append((program, "plain"))
        elif not dense:
            kinds = weightings if PEERS[program].takes_values else ["plain"]
            chosen += [(program, kind) for kind in kinds]
    return chosen


def measure(arrays: Path, program: str, weighting: str) -> dict[str, Any]:
    """Train and predict in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        arguments = ["--arrays", arrays.resolve(), "--program", program, "--weighting", weighting]
        run_command([sys.executable, "-m", "benchmarks.peers", *arguments, "--output", output])
        found = json.loads(output.read_text())
    return {**found, "train": Times(**found["train"]), "predict": Times(**found["predict"])}


def _ours(arrays: Path, algorithm: str, parameters: dict[str, Any] | None) -> dict[str, Any]:
    found = ours.measure(arrays, algorithm, parameters)
    return {name: getattr(found, name) for name in ("error", "train", "predict", "peak_rss")}


def train_and_predict(dataset: datasets.Dataset, program: str, weighting: str) -> dict[str, Any]:
    """Train and predict in this process."""
    X_train, X_test = dataset.X_train, dataset.X_test
    if sp.issparse(X_train):
        X_train, X_test = WEIGHTINGS[weighting](X_train, X_test)
    with tempfile.TemporaryDirectory() as folder:
        peer = PEERS[program](Path(folder))
        training = peer.train(X_train, dataset.y_train, dataset.n_classes)
        prediction, labels = peer.predict(X_test)
    return {
        "error": float(np.mean(labels != dataset.y_test)),
        "train": asdict(training),
        "predict": asdict(prediction),
        "peak_rss": peak_rss(),
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set, program and weighting."""
    shown = Table()
    for heading in ("set", "program", "weighting"):
        shown.add_column(heading, no_wrap=True)
    for heading in ("error\n%", "train\nµs", "predict\nµs", "peak\nMB"):
        shown.add_column(heading, justify="right")
    for result in results:
        shown.add_row(
            *(result[name] for name in ("set", "program", "weighting")),
            f"{100 * result['error']:.2f}",
            report.number(result["train"]["cpu"]),
            report.number(result["predict"]["cpu"]),
            f"{result['peak_rss'] / 1e6:.0f}",
        )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=Path, required=True)
    parser.add_argument("--program", choices=PEERS, required=True)
    parser.add_argument("--weighting", choices=WEIGHTINGS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    dataset = datasets.load_arrays(options.arrays)
    options.output.write_text(
        json.dumps(train_and_predict(dataset, options.program, options.weighting))
    )


if __name__ == "__main__":
    main()
