"""Dense rows with many classes: ours against class means, nearest neighbours and softmaxes.

Each program runs in a process of its own with one thread. It learns the training rows, weighted in
batch where the table says so, and answers for the test rows twice: the best class, which is timed
and gives the error, and the best hundred, which tell how often the class is among them. In the end
it is shown a new class with eight rows.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import datasets, report, study
from benchmarks.dense_programs import CANDIDATES, PROGRAMS
from benchmarks.measure import OverLimitError, Stopwatch, Times, peak_rss
from benchmarks.measure import run as run_command
from benchmarks.weighting import OF_DENSE, WEIGHTINGS

FEW = 24  # candidates, beside CANDIDATES of them
ROWS_OF_NEW_CLASS = 8
OURS = "recalltree"  # whitens by itself


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--programs", nargs="+", choices=PROGRAMS, metavar="PROGRAM", default=list(PROGRAMS))
    add("--weightings", nargs="+", choices=OF_DENSE, default=["plain", "whitened"])
    add("--test-rows", type=int, help="use only the first N test rows")
    add("--limit", type=int, help="minutes of CPU time after which a program is given up")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure every program on every set, and print a table."""
    missing = [name for name in options.programs if not PROGRAMS[name]().is_available()]
    if missing:
        raise ValueError(
            f"{', '.join(missing)}: not installed: pip install 'recalltree[dense-peers]', or "
            "choose others with --programs"
        )
    results: list[dict[str, Any]] = []
    for dataset in study.load_sets(options, datasets.DENSE_FILE_SETS, ["generated-dense"]):
        if options.test_rows is not None:
            dataset = dataset.with_test_rows(options.test_rows)
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for program in options.programs:
            for weighting in ["plain"] if program.startswith(OURS) else options.weightings:
                console.log(f"{dataset.name}: {program}, {weighting}")
                described = {
                    "set": dataset.name,
                    "program": program,
                    "weighting": weighting,
                    "n_train": len(dataset.y_train),
                    "n_test": len(dataset.y_test),
                }
                try:
                    found = measure(arrays, program, weighting, options.limit)
                except OverLimitError:
                    results.append({**described, "given_up_after_minutes": options.limit})
                    study.publish(options, results, time_unit="microseconds per example")
                    continue
                results.append(
                    {
                        **described,
                        **found,
                        "learn": Times(**found["learn"]).per_example(len(dataset.y_train)),
                        "answers": {
                            n: {
                                "recall": answers["recall"],
                                "times": Times(**answers["times"]).per_example(len(dataset.y_test)),
                            }
                            for n, answers in found["answers"].items()
                        },
                    }
                )
                study.publish(options, results, time_unit="microseconds per example")
    Console(width=140).print(table(results))
    return study.publish(options, results, time_unit="microseconds per example")


def measure(arrays: Path, program: str, weighting: str, limit: int | None) -> dict[str, Any]:
    """Learn and answer in a child process, within so many minutes of CPU time."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        arguments = ["--arrays", arrays.resolve(), "--program", program, "--weighting", weighting]
        command = [sys.executable, "-m", "benchmarks.dense", *arguments, "--output", output]
        run_command(command, None if limit is None else 60 * limit)
        return json.loads(output.read_text())


def learn_and_answer(dataset: datasets.Dataset, name: str, weighting: str) -> dict[str, Any]:
    """Learn and answer in this process."""
    X_train, X_test = WEIGHTINGS[weighting](dataset.X_train, dataset.X_test)
    program = PROGRAMS[name]()
    importlib.import_module(program.module)
    rss_before = peak_rss()
    with Stopwatch() as learning:
        program.learn(X_train, dataset.y_train, dataset.n_classes)
    program.answer(X_test[:FEW], 1)  # what is made on first use
    answers = {}
    for n in (1, FEW, CANDIDATES):
        with Stopwatch() as clock:
            named = program.answer(X_test, min(n, dataset.n_classes))
        found = (named == dataset.y_test[:, None]).any(axis=1)
        # Some programs name the best class alone.
        if named.shape[1] == min(n, dataset.n_classes):
            answers[str(n)] = {"recall": float(found.mean()), "times": asdict(clock.times)}
    model_bytes = program.model_bytes()
    added = program.add_class(X_train[:ROWS_OF_NEW_CLASS], dataset.n_classes)
    return {
        "error": 1.0 - answers["1"]["recall"],
        "answers": answers,
        "learn": asdict(learning.times),
        "new_class": None if added is None else added.cpu * 1e6,
        "model_bytes": model_bytes,
        "peak_rss": peak_rss(),
        "rss_before": rss_before,
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set, program and weighting."""
    shown = Table(caption="Times are CPU time of one thread.", caption_justify="left")
    for heading in ("set", "program", "weighting"):
        shown.add_column(heading, no_wrap=True)
    answers = ("predict\nµs", "in 24\n%", "24 best\nµs", "in 100\n%", "100 best\nµs")
    for heading in ("error\n%", "learn\nµs", *answers, "new class\nµs", "model\nMB", "peak\nMB"):
        shown.add_column(heading, justify="right")
    for result in results:
        if limit := result.get("given_up_after_minutes"):
            names = (result[name] for name in ("set", "program", "weighting"))
            shown.add_row(*names, f"over {limit} minutes")
            continue
        cells = [report.number(result["answers"]["1"]["times"]["cpu"])]
        for n in (FEW, CANDIDATES):
            if found := result["answers"].get(str(n)):
                cells += [f"{100 * found['recall']:.1f}", report.number(found["times"]["cpu"])]
            else:
                cells += ["", ""]
        shown.add_row(
            *(result[name] for name in ("set", "program", "weighting")),
            f"{100 * result['error']:.2f}",
            report.number(result["learn"]["cpu"]),
            *cells,
            "retrain" if result["new_class"] is None else report.number(result["new_class"]),
            "" if result["model_bytes"] is None else f"{result['model_bytes'] / 1e6:.1f}",
            f"{result['peak_rss'] / 1e6:.0f}",
        )
    return shown


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=Path, required=True)
    parser.add_argument("--program", choices=PROGRAMS, required=True)
    parser.add_argument("--weighting", choices=OF_DENSE, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    dataset = datasets.load_arrays(options.arrays)
    found = learn_and_answer(dataset, options.program, options.weighting)
    options.output.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
