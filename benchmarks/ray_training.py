"""Training by tasks of Ray, against one process that reads the same files.

The training rows are written as svmlight text, one file for each worker. Starting Ray and its
workers is not counted. Times are given on the clock and as CPU time of all processes: on a machine
with other work, two processes are given more of it than one, and the clock alone says little. With
--without-ray, one process does what the workers would do, one after the other: the CPU time of all
rows, against that of the longest shard, the merge, and copying and saving models.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import recalltree
from benchmarks import datasets, report, study
from benchmarks.engines import cpu_of_all
from recalltree.readers import open_rows, write_rows
from recalltree.training import learn_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--workers", type=int, default=2)
    add("--rounds", type=int, nargs="+", default=[1, 4], help="merges in the pass")
    add("--without-ray", action="store_true", help="the parts of one round, in one process")
    add("--repeats", type=int, default=3, help="repeats; the one with the least CPU time is kept")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all chosen sets, and print a table."""
    if options.without_ray:
        return run_without_ray(options)
    import ray

    ray.init("local", num_cpus=options.workers, include_dashboard=False, log_to_driver=False)
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, ("wikipassage",), ("generated-sparse",)):
        with tempfile.TemporaryDirectory() as folder:
            results += measure(dataset, options, Path(folder), console)
        content = study.publish(
            options,
            results,
            time_unit="seconds of the pass, best of the repeats by CPU time",
            ratio="time of one process / time of the workers",
        )
    ray.shutdown()
    Console(width=100).print(table(results))
    return content


def run_without_ray(options: argparse.Namespace) -> dict[str, Any]:
    """Measure the parts of one round on all chosen sets, and print a table."""
    results = []
    shown = Table()
    for heading in ("set", "rows", "all s", "longest shard", "merge", "copies", "save", "ratio"):
        shown.add_column(heading, justify="right")
    for dataset in study.load_sets(options, ("wikipassage",), ("generated-sparse",)):
        with tempfile.TemporaryDirectory() as folder:
            found = parts_of_a_round(dataset, options.workers, Path(folder))
        results.append(found)
        shown.add_row(*(v if isinstance(v, str) else report.number(v) for v in found.values()))
    Console(width=100).print(shown)
    return study.publish(options, results, time_unit="seconds of CPU", ratio="all / the others")


def parts_of_a_round(dataset: datasets.Dataset, n_workers: int, folder: Path) -> dict[str, Any]:
    write_files(dataset, n_workers, folder)
    paths = sorted(folder.glob("*.svm"))
    every, _ = cpu_time(lambda: _learned(dataset, paths))
    learned = [cpu_time(lambda p=path: _learned(dataset, [p])) for path in paths]
    models = [model for _, model in learned]
    merging, merged = cpu_time(lambda: recalltree.merge(models))
    copies, _ = cpu_time(lambda: pickle.loads(pickle.dumps(merged, 5)))
    copies *= 2  # the base goes out, models come back
    saving, _ = cpu_time(lambda: merged.save(folder / "model.rt"))
    longest = max(seconds for seconds, _ in learned)
    return {
        "set": dataset.name,
        "n_rows": dataset.X_train.shape[0],
        "all": every,
        "longest": longest,
        "merge": merging,
        "copies": copies,
        "save": saving,
        "ratio": every / (longest + merging + copies + saving),
    }


def _learned(dataset: datasets.Dataset, paths: list[Path]) -> Any:
    clf = recalltree.OneAgainstSomeClassifier(random_state=0)
    reader = open_rows(paths, n_features=dataset.X_train.shape[1])
    for _ in learn_from(clf, reader):
        pass
    return clf


def cpu_time(job: Callable[[], Any]) -> tuple[float, Any]:
    began = time.process_time()
    result = job()
    return time.process_time() - began, result


def write_files(dataset: datasets.Dataset, n_workers: int, folder: Path) -> None:
    """Write the training rows, one file for each worker."""
    for i, ids in enumerate(np.array_split(np.arange(dataset.X_train.shape[0]), n_workers)):
        with (folder / f"{i}.svm").open("wb") as file:
            write_rows(file, dataset.X_train[ids], dataset.y_train[ids], format="svmlight")


def measure(
    dataset: datasets.Dataset, options: argparse.Namespace, folder: Path, console: Console
) -> list[dict[str, Any]]:
    n_rows = dataset.X_train.shape[0]
    write_files(dataset, options.workers, folder)
    found: dict[int, list[dict[str, float]]] = {0: [], **{n: [] for n in options.rounds}}
    for repeat in range(options.repeats + 1):
        console.log(f"{dataset.name}: {repeat} of {options.repeats}")
        for rounds, times in found.items():
            times.append(timed(dataset, folder, rounds, options.workers))
    results = []
    for rounds, times in found.items():
        best = min(times[1:], key=lambda t: t["cpu"])  # in the first, workers start
        results.append({"set": dataset.name, "n_rows": n_rows, "rounds": rounds, **best})
    return results


def timed(dataset: datasets.Dataset, folder: Path, rounds: int, n_workers: int) -> dict[str, float]:
    """Learn all rows, by one process if there are no rounds; return the times and the error."""
    learn = _by_one_process if rounds == 0 else _by_tasks
    with tempfile.TemporaryDirectory() as out:
        path = Path(out, "model.rt")
        cpu, wall = cpu_of_all(), time.perf_counter()
        learn(dataset, folder, path, rounds, n_workers)
        wall, cpu = time.perf_counter() - wall, cpu_of_all() - cpu
        error = 1.0 - float(recalltree.load(path).score(dataset.X_test, dataset.y_test))
    return {"wall": wall, "cpu": cpu, "error": error}


def _by_one_process(
    dataset: datasets.Dataset, folder: Path, path: Path, rounds: int, n_workers: int
) -> None:
    _learned(dataset, sorted(folder.glob("*.svm"))).save(path)


def _by_tasks(
    dataset: datasets.Dataset, folder: Path, path: Path, rounds: int, n_workers: int
) -> None:
    from recalltree.ray import fit

    n_rows, n_features = dataset.X_train.shape
    fit(
        recalltree.OneAgainstSomeClassifier(random_state=0),
        f"{folder}/*.svm",
        num_workers=n_workers,
        sync_every=-(-n_rows // rounds),
        checkpoint=path,
        n_features=n_features,
        first_rows=0,
        quiet=True,
    )


def table(results: list[dict[str, Any]]) -> Table:
    """Return one line per set and number of rounds."""
    shown = Table()
    for heading in ("set", "rounds"):
        shown.add_column(heading)
    for heading in ("rows", "wall s", "ratio", "cpu s", "ratio", "error %"):
        shown.add_column(heading, justify="right")
    one = {r["set"]: r for r in results if r["rounds"] == 0}
    for r in results:
        ratios = [f"{one[r['set']][kind] / r[kind]:.2f}x" for kind in ("wall", "cpu")]
        shown.add_row(
            r["set"],
            str(r["rounds"] or "one process"),
            f"{r['n_rows']:,}",
            report.number(r["wall"]),
            ratios[0],
            report.number(r["cpu"]),
            ratios[1],
            f"{100 * r['error']:.2f}",
        )
    return shown
