"""Batch programs for many classes (PECOS, omikuji, napkinXC, fastText) on the same rows as ours.

Each program runs in a process of its own with one thread: it trains on the training rows, weighted
in batch, and names a class for every test row. Weighting, and reading or writing files before
training, are not timed. A program has its own defaults, and, where another setting is better on
held-out training rows, that one beside them.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console

from benchmarks import datasets, ours, program_runs, study
from benchmarks.peer_programs import DEFAULTS, PEERS, indicator
from benchmarks.program_runs import OURS, TIMES_AND_MEMORY, Column
from benchmarks.weighting import OF_COUNTS, OF_DENSE, WEIGHTINGS

ERROR: Column = ("error\n%", lambda result: f"{100 * result['error']:.2f}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--programs", nargs="+", choices=[OURS, *PEERS], default=[OURS, *PEERS])
    add("--weightings", nargs="+", choices=WEIGHTINGS, default=list(WEIGHTINGS))
    names = [DEFAULTS, *(name for peer in PEERS.values() for name in peer.settings)]
    add(
        "--settings",
        nargs="+",
        choices=names,
        metavar="SETTING",
        help="measure these, instead of the defaults and the best on held-out training rows; of "
        + "; ".join(names),
    )
    add("--algorithm", choices=ours.ESTIMATORS, default=next(iter(ours.ESTIMATORS)))
    add("--parameters", type=json.loads, help="JSON object: parameters of recalltree's estimator")
    add("--test-rows", type=int, help="use only the first N test rows")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure every program on every set, and print a table."""
    program_runs.require_installed(options.programs, PEERS, "peers")
    results: list[dict[str, Any]] = []

    def publish(*, complete: bool) -> dict[str, Any]:
        unit = "microseconds per example"
        return study.publish(options, results, time_unit=unit, complete=complete)

    for dataset in study.load_sets(options, datasets.FILE_SETS, generated=["generated-sparse"]):
        if options.test_rows is not None:
            dataset = dataset.with_test_rows(options.test_rows)
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for program, weighting in turns(options.programs, options.weightings, dataset):
            held_out: dict[str, float] = {}
            if program != OURS and options.settings is None:
                console.log(f"{dataset.name}: {program}, {weighting}, settings")
                held_out = errors_held_out(arrays, program, weighting)
            for setting in settings(program, options.settings, held_out):
                console.log(f"{dataset.name}: {program}, {weighting}, {setting}")
                if program == OURS:
                    found = _ours(arrays, options.algorithm, options.parameters)
                else:
                    found = measure(arrays, program, weighting, setting)
                line = (dataset.name, program, weighting, setting)
                n_train, n_test = len(dataset.y_train), len(dataset.y_test)
                found = {"held_out_errors": held_out, **found}
                results.append(program_runs.result_of(line, n_train, n_test, found))
                publish(complete=False)
    Console(width=120).print(program_runs.table(results, [ERROR, *TIMES_AND_MEMORY]))
    return publish(complete=True)


def turns(
    programs: Sequence[str], weightings: Sequence[str], dataset: datasets.Dataset
) -> list[tuple[str, str]]:
    """Return each program with each weighting that it can be given.

    Ours is given the rows as they are. A program that takes words only is given counts as words,
    and no dense rows.
    """
    dense = not sp.issparse(dataset.X_train)
    fitting = [kind for kind in weightings if kind in (OF_DENSE if dense else OF_COUNTS)]
    chosen = []
    for program in programs:
        if program == OURS:
            chosen.append((program, "plain"))
        elif PEERS[program].takes_values:
            chosen += [(program, kind) for kind in fitting]
        elif not dense:
            chosen.append((program, "plain"))
    return chosen


def settings(program: str, asked: Sequence[str] | None, held_out: dict[str, float]) -> list[str]:
    """Return the settings to measure: those asked for, or the defaults and the best held out."""
    if program == OURS:
        return [DEFAULTS]
    if asked is not None:
        return [name for name in asked if name == DEFAULTS or name in PEERS[program].settings]
    best = min(held_out, key=lambda name: held_out[name])
    return list(dict.fromkeys([DEFAULTS, best]))


def errors_held_out(arrays: Path, program: str, weighting: str) -> dict[str, float]:
    """Return the error on held-out training rows by setting."""
    return {
        name: measure(arrays, program, weighting, name, held_out=True)["error"]
        for name in (DEFAULTS, *PEERS[program].settings)
    }


def hold_out(dataset: datasets.Dataset) -> datasets.Dataset:
    """Return a set whose test rows are held out from the training rows: every tenth."""
    kept, held = program_runs.hold_out(len(dataset.y_train))
    return replace(
        dataset,
        key=f"{dataset.key}-held-out",
        X_train=dataset.X_train[kept],
        y_train=dataset.y_train[kept],
        X_test=dataset.X_train[held],
        y_test=dataset.y_train[held],
    )


def measure(
    arrays: Path, program: str, weighting: str, setting: str = DEFAULTS, *, held_out: bool = False
) -> dict[str, Any]:
    """Train and predict in a child process: the test rows, or held-out training rows."""
    more = ["--held-out"] if held_out else []
    return program_runs.in_child("benchmarks.peers", arrays, program, weighting, setting, *more)


def _ours(arrays: Path, algorithm: str, parameters: dict[str, Any] | None) -> dict[str, Any]:
    found = ours.measure(arrays, algorithm, parameters)
    return {name: getattr(found, name) for name in ("error", "train", "predict", "peak_rss")}


def train_and_predict(
    dataset: datasets.Dataset, program: str, weighting: str, setting: str = DEFAULTS
) -> dict[str, Any]:
    """Train and predict in this process."""
    X_train, X_test = WEIGHTINGS[weighting](dataset.X_train, dataset.X_test)
    with tempfile.TemporaryDirectory() as folder:
        peer = PEERS[program](Path(folder), setting)
        training = peer.train(X_train, indicator(dataset.y_train, dataset.n_classes))
        prediction, labels = peer.predict(X_test, 1)
    return {
        "error": float(np.mean(labels[:, 0] != dataset.y_test)),
        "train": asdict(training),
        "predict": asdict(prediction),
        "peak_rss": peer.peak_rss(),
    }


def main() -> None:
    parser = program_runs.child_parser(__doc__)
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    dataset = datasets.load_arrays(options.arrays)
    found = train_and_predict(
        hold_out(dataset) if options.held_out else dataset,
        options.program,
        options.weighting,
        options.setting,
    )
    options.output.write_text(json.dumps(found))


if __name__ == "__main__":
    main()
