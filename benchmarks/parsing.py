"""Reading rows from text: against Vowpal Wabbit's parser, and against rows that are in memory.

parse   all rows of a file in Vowpal Wabbit's text format, and nothing else is done with them:
        ``open_rows(file, format="vw")`` against ``vw --noop``, without what starting costs
train   one pass of the Recall Tree over rows from svmlight text, plain and compressed, against
        the same rows in memory; the models are the same

Every run has a process of its own, and the kinds of run take turns.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from benchmarks import datasets, study, vowpal
from benchmarks.measure import Stopwatch, Times, best
from benchmarks.measure import run as run_command

SETS = ("wikipassage",)
BATCH_ROWS = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser, rows=100_000)
    parser.add_argument("--repeats", type=int, default=3)


# --- files ----------------------------------------------------------------------------------------


def write_files(dataset: datasets.Dataset, cache_dir: Path) -> dict[str, Path]:
    """Write the training rows as text in every form that is measured, unless they are there."""
    folder = cache_dir.resolve() / f"parsing-{dataset.key}"
    files = {
        "vw": folder / "train.vw",
        "vw-first": folder / "first.vw",
        "svm": folder / "train.svm",
        "svm.gz": folder / "train.svm.gz",
    }
    if all(file.exists() for file in files.values()):
        return files
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(vowpal.format_rows(dataset.X_train, dataset.y_train))
    files["vw"].write_text("".join(lines))
    files["vw-first"].write_text(lines[0])
    svmlight = "".join(line.replace(" | ", " ", 1) for line in lines)
    files["svm"].write_text(svmlight)
    with gzip.open(files["svm.gz"], "wt", compresslevel=6) as file:
        file.write(svmlight)
    return files


# --- one run, in a process of its own -------------------------------------------------------------


def parse(file: Path, bits: int) -> dict[str, Any]:
    """Read all rows of a file."""
    from recalltree.readers import open_rows

    reader = open_rows(file, format="vw", bits=bits, batch_rows=BATCH_ROWS)
    with Stopwatch() as watch:
        for _ in reader:
            pass
    return {"times": asdict(watch.times), "n_rows": reader.n_rows}


def train(file: Path | None, arrays: Path, n_features: int) -> dict[str, Any]:
    """Learn all rows of a file, or of the arrays if there is no file."""
    from recalltree import RecallTreeClassifier
    from recalltree.readers import open_rows

    model = RecallTreeClassifier()
    if file is None:
        dataset = datasets.load_arrays(arrays)
        X, y = sp.csr_matrix(dataset.X_train), dataset.y_train + 1
        X.sort_indices()
        with Stopwatch() as watch:
            model.partial_fit(X, y)
    else:
        with Stopwatch() as watch:
            for batch in open_rows(
                file, format="svmlight", n_features=n_features, batch_rows=BATCH_ROWS
            ):
                model.partial_fit(batch.X, batch.y)
    return {"times": asdict(watch.times), "progressive_error": model.progressive_error_}


def in_child(*arguments: str | Path | int) -> dict[str, Any]:
    """Run this module in a process of its own."""
    usage = run_command([sys.executable, "-m", "benchmarks.parsing", *map(str, arguments)])
    result = json.loads(usage.output.splitlines()[-1])
    return {**result, "times": Times(**result["times"])}


def vowpal_parse(file: Path, bits: int) -> Times:
    command = [*vowpal.PROGRAM, "--noop", "-d", str(file), "-b", str(bits), "--quiet"]
    return run_command(command).times


# --- the study ------------------------------------------------------------------------------------


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure parsing and training on the chosen sets, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, SETS, generated=["generated-sparse"]):
        results.append(measure(dataset, options.cache_dir, options.repeats, console))
        content = study.publish(options, results, time_unit="microseconds per row")
    Console(width=120).print(table(results))
    return content


def measure(
    dataset: datasets.Dataset, cache_dir: Path, repeats: int, console: Console
) -> dict[str, Any]:
    """Return the times of one set, and the ratios that matter."""
    files = write_files(dataset, cache_dir)
    arrays = datasets.arrays_path(dataset, cache_dir).resolve()
    n_rows, bits = len(dataset.y_train), 18
    with_vowpal = vowpal.is_available()
    times: dict[str, list[Times]] = {}
    errors = set()

    def add(kind: str, taken: Times) -> None:
        console.log(f"{dataset.name}: {kind} {taken.cpu:.3f} s CPU, {taken.wall:.3f} s")
        times.setdefault(kind, []).append(taken)

    for _ in range(repeats):
        add("parse", in_child("parse", files["vw"], bits)["times"])
        if with_vowpal:
            raw = vowpal_parse(files["vw"], bits)
            add("vowpal parse", raw - vowpal_parse(files["vw-first"], bits))
        for kind, file in (("memory", ""), ("text", files["svm"]), ("gzip", files["svm.gz"])):
            result = in_child("train", file, arrays, dataset.n_features)
            errors.add(result["progressive_error"])
            add(f"train {kind}", result["times"])
    if len(errors) != 1:
        raise RuntimeError(f"{dataset.name}: the models differ: progressive errors {errors}")
    ratios = {
        "text / memory": ratio(times["train text"], times["train memory"]),
        "gzip / memory": ratio(times["train gzip"], times["train memory"]),
    }
    if with_vowpal:
        ratios["Vowpal Wabbit's parsing / parsing"] = ratio(times["vowpal parse"], times["parse"])
    return {
        "set": dataset.name,
        "n_rows": n_rows,
        "text_bytes": files["vw"].stat().st_size,
        "times": {kind: best(taken).per_example(n_rows) for kind, taken in times.items()},
        "ratios": ratios,
    }


def ratio(above: Sequence[Times], below: Sequence[Times]) -> dict[str, float]:
    """Return the medians of the ratios of runs that took turns."""
    pairs = list(zip(above, below, strict=True))
    return {
        "cpu": statistics.median(a.cpu / b.cpu for a, b in pairs),
        "wall": statistics.median(a.wall / b.wall for a, b in pairs),
    }


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return the times and ratios of all sets."""
    shown = Table()
    for heading in ("set", "", "CPU", "wall"):
        shown.add_column(heading, justify="left" if heading in ("set", "") else "right")
    for result in results:
        for kind, per_row in result["times"].items():
            shown.add_row(
                result["set"],
                f"{kind}, µs per row",
                *(f"{per_row[k]:.2f}" for k in ("cpu", "wall")),
            )
        for kind, value in result["ratios"].items():
            shown.add_row(result["set"], kind, *(f"{value[k]:.2f}" for k in ("cpu", "wall")))
    return shown


def main(arguments: Sequence[str]) -> None:
    kind, file, *rest = arguments
    if kind == "parse":
        result = parse(Path(file), int(rest[0]))
    else:
        result = train(Path(file) if file else None, Path(rest[0]), int(rest[1]))
    print(json.dumps(result))


if __name__ == "__main__":
    main(sys.argv[1:])
