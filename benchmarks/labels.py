"""Programs for several labels per row (PECOS, omikuji, napkinXC, fastText, Vowpal Wabbit) and ours.

Each program runs in a process of its own with one thread: it trains on the training rows, weighted
in batch, and names the best labels of every test row. Weighting, and reading or writing files
before training, are not timed. Programs that compare every row with every label get the first
``--slow-rows`` training rows, and ours runs once more on these.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks import datasets, label_sets, program_runs, study
from benchmarks.label_programs import PROGRAMS, SLOW
from benchmarks.label_sets import LabelSet
from benchmarks.measure import OverLimitError, Stopwatch, Times, peak_rss
from benchmarks.peer_programs import DEFAULTS
from benchmarks.program_runs import LINE, OURS, TIMES_AND_MEMORY, Column
from benchmarks.weighting import WEIGHTINGS

#: Parameters beside one pass in the rows' order.
OUR_SETTINGS: dict[str, dict[str, Any]] = {
    DEFAULTS: {},
    "two passes": {"n_passes": 2, "shuffle": True},
    "three passes": {"n_passes": 3, "shuffle": True, "feature_dropout": 0.3},
}
BEST = 5  # labels are named for each row
METRICS = {"P@1": 1, "P@3": 3, "P@5": 5, "R@5": 5, "nDCG@5": 5, "PSP@5": 5}
COLUMNS: list[Column] = [
    ("rows", lambda result: f"{result['n_train']:,}"),
    *((name, lambda result, name=name: f"{100 * result['metrics'][name]:.2f}") for name in METRICS),
    *TIMES_AND_MEMORY,
]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder with subjects/; without it: a generated set")
    add("--sets", nargs="+", choices=label_sets.SETS, help="without it: subjects, or generated")
    add("--rows", type=int, help="use only the first N training rows")
    add("--test-rows", type=int, default=40_000, help="use the first N test rows; 0 is all")
    add("--slow-rows", type=int, default=20_000, help="training rows of programs that need it")
    add("--programs", nargs="+", choices=[OURS, *PROGRAMS], default=[OURS, *PROGRAMS])
    add("--weightings", nargs="+", choices=("tfidf", "root-idf"), default=["tfidf", "root-idf"])
    names = [*OUR_SETTINGS, *(name for peer in PROGRAMS.values() for name in peer.settings)]
    add("--settings", nargs="+", choices=names, metavar="SETTING", help="; ".join(names))
    where = "held-out: on every tenth training row, which is held out"
    add("--test-on", choices=("test", "held-out"), default="test", help=where)
    add("--parameters", type=json.loads, help="JSON object: parameters of recalltree's estimator")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, whenever there is more of it")
    add("--resume", action="store_true", help="keep what --json has already, and add to it")
    add("--cpu-limit", type=float, help="end a program that takes more seconds of CPU time")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure every program on every set, and print a table."""
    program_runs.require_installed(options.programs, PROGRAMS, "peers,bench")
    if options.sets is None:
        options.sets = ["subjects"] if options.data_dir else [label_sets.GENERATED]
    results, described = _begun(options)

    def publish(*, complete: bool) -> dict[str, Any]:
        unit = "microseconds per example"
        return study.publish(options, results, time_unit=unit, complete=complete, **described)

    for name in options.sets:
        whole = label_sets.load(name, options.data_dir, options.cache_dir)
        whole = whole.hold_out() if options.test_on == "held-out" else whole
        whole = whole.head(options.rows, options.test_rows or None)
        for program, weighting, setting, is_slow in turns(options):
            dataset = whole.head(options.slow_rows) if is_slow else whole
            line = (name, program, weighting, setting)
            sizes = (dataset.n_train, dataset.n_test)
            of_ours = (options.parameters or {}) if program == OURS else {}
            if any(_is_of(result, line, sizes, of_ours) for result in results):
                continue
            console.log(f"{name}, {dataset.n_train} rows: {program}, {weighting}, {setting}")
            arrays = options.cache_dir / f"{dataset.key}.npz"
            if not arrays.exists():
                label_sets.save_arrays(dataset, arrays)
            try:
                found = measure(arrays, *line[1:], of_ours, options.cpu_limit)
                result = program_runs.result_of(line, *sizes, found)
            except OverLimitError:
                note = f"ended after {options.cpu_limit:.0f} s"
                result = {**dict(zip(LINE, line, strict=True)), "note": note}
                result |= {"n_train": dataset.n_train, "n_test": dataset.n_test}
            results.append({**result, "parameters": of_ours})
            publish(complete=False)
    Console(width=140).print(program_runs.table(results, COLUMNS))
    return publish(complete=True)


def _begun(options: argparse.Namespace) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the results of a report that is resumed, and the commands that made them."""
    if not options.resume:
        return [], {}
    if options.json is None:
        raise ValueError("--resume needs --json FILE, the report to be resumed")
    if not options.json.exists():
        return [], {}
    begun = json.loads(options.json.read_text())
    commands = [*begun.get("earlier_commands", []), begun["command"]]
    return begun["results"], {"earlier_commands": list(dict.fromkeys(commands))}


def _is_of(
    result: dict[str, Any],
    line: tuple[str, ...],
    sizes: tuple[int, int],
    parameters: dict[str, Any],
) -> bool:
    """Return true for a result of this line, these numbers of rows and these parameters."""
    found = tuple(result[name] for name in LINE), (result["n_train"], result["n_test"])
    return found == (line, sizes) and result["parameters"] == parameters


def turns(options: argparse.Namespace) -> list[tuple[str, str, str, bool]]:
    """Return each program with each weighting and setting, and whether it gets few rows."""
    chosen: list[tuple[str, str, str, bool]] = []
    for program in options.programs:
        settings = OUR_SETTINGS if program == OURS else [DEFAULTS, *PROGRAMS[program].settings]
        takes_values = program != OURS and PROGRAMS[program].takes_values
        for weighting in options.weightings if takes_values else ["plain"]:
            chosen += [
                (program, weighting, setting, (program, setting) in SLOW)
                for setting in settings
                if options.settings is None or setting in (DEFAULTS, *options.settings)
            ]
    if OURS in options.programs and any(is_slow for *_, is_slow in chosen):
        chosen.append((OURS, "plain", DEFAULTS, True))
    return chosen


def measure(
    arrays: Path,
    program: str,
    weighting: str,
    setting: str,
    parameters: dict[str, Any] | None = None,
    cpu_limit: float | None = None,
) -> dict[str, Any]:
    """Train and predict in a child process."""
    more = ("--parameters", json.dumps(parameters or {}))
    chosen = (program, weighting, setting)
    return program_runs.in_child("benchmarks.labels", arrays, *chosen, *more, cpu_limit=cpu_limit)


def train_and_predict(
    dataset: LabelSet,
    program: str,
    weighting: str,
    setting: str = DEFAULTS,
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Train and predict in this process."""
    if program == OURS:
        training, prediction, labels = _ours(
            dataset, {**OUR_SETTINGS[setting], **(parameters or {})}
        )
        used = peak_rss()
    else:
        if PROGRAMS[program].takes_values:
            X_train, X_test = WEIGHTINGS[weighting](dataset.X_train, dataset.X_test)
        else:
            X_train, X_test = dataset.words_train, dataset.words_test
        with tempfile.TemporaryDirectory() as folder:
            peer = PROGRAMS[program](Path(folder), setting)
            training = peer.train(X_train, dataset.Y_train)
            prediction, labels = peer.predict(X_test, BEST)
            used = peer.peak_rss()
    return {
        "metrics": metrics(dataset, labels),
        "train": asdict(training),
        "predict": asdict(prediction),
        "peak_rss": used,
    }


def _ours(dataset: LabelSet, parameters: dict[str, Any]) -> tuple[Times, Times, np.ndarray]:
    from recalltree import OneAgainstSomeClassifier

    once = {"n_passes": 1, "shuffle": False, "n_jobs": 1, "random_state": 0}
    model = OneAgainstSomeClassifier(**{**once, **parameters})
    with Stopwatch() as training:
        model.fit(dataset.X_train, dataset.Y_train)
    with Stopwatch() as prediction:
        labels, _ = model.predict_topk(dataset.X_test, k=BEST)
    return training.times, prediction.times, np.asarray(labels)


def metrics(dataset: LabelSet, labels: np.ndarray) -> dict[str, float]:
    """Return each metric of the labels that were named, the best first; -1 is no label."""
    from recalltree.metrics import (
        inverse_propensity,
        ndcg_at_k,
        precision_at_k,
        ps_precision_at_k,
        recall_at_k,
    )

    propensity = inverse_propensity(dataset.Y_train)
    named = [[label for label in row if label >= 0] for row in labels.tolist()]

    def of(name: str, k: int) -> float:
        if name.startswith("PSP"):
            return float(ps_precision_at_k(dataset.Y_test, named, propensity, k))
        kinds = {"P": precision_at_k, "R": recall_at_k, "nDCG": ndcg_at_k}
        return float(kinds[name.split("@")[0]](dataset.Y_test, named, k))

    return {name: of(name, k) for name, k in METRICS.items()}


def main() -> None:
    parser = program_runs.child_parser(__doc__)
    parser.add_argument("--parameters", type=json.loads, default={})
    options = parser.parse_args()
    dataset = label_sets.load_arrays(options.arrays)
    chosen = (options.program, options.weighting, options.setting, options.parameters)
    options.output.write_text(json.dumps(train_and_predict(dataset, *chosen)))


if __name__ == "__main__":
    main()
