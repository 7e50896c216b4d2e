"""Learning and predicting with one thread to sixteen: times on the clock, and errors.

Each repeat is a process of its own that trains in one pass and predicts; the numbers of threads
take turns, and the best time of each is kept. Several threads learn mini-batches: the model depends
on whether there are several, not on how many there are. On a machine without the means to read the
sets, ``--npz`` reads arrays that ``--save-npz`` wrote elsewhere; ``python -m benchmarks.threads``
then needs NumPy, SciPy and scikit-learn alone.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import datasets, ours, report, study

SETS = ("webdirectory", "wikipassage", "glyphs", "passages")
PHASES = ("train", "predict")


class Numbers(tuple[int, ...]):
    """Numbers of threads, written as on the command line."""

    def __str__(self) -> str:
        return ",".join(map(str, self))


def numbers(text: str) -> Numbers:
    """Return the numbers in a list such as ``1,2,4``."""
    try:
        found = Numbers(sorted({int(word) for word in text.split(",")}))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: give numbers, such as 1,2,4") from None
    if found[0] != 1 or len(found) < 2:
        raise argparse.ArgumentTypeError(f"{text}: one thread is compared with 2 or more")
    return found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--algorithms", nargs="+", choices=ours.ESTIMATORS, default=list(ours.ESTIMATORS))
    add("--threads", type=numbers, default=numbers("1,2,4,8,16"), help="such as 1,2,4")
    add("--repeats", type=int, default=3, help="repeats; the best is kept")
    add(
        "--one-against-all-limit",
        type=float,
        default=5e8,
        help="leave one-against-all out where training rows x classes exceed this",
    )
    add("--npz", type=Path, help="read the sets from NAME.npz in this folder")
    add("--save-npz", type=Path, help="write the sets to NAME.npz in this folder, and stop")
    add("--markdown", type=Path, help="also write the table here, as Markdown")


def load_sets(options: argparse.Namespace) -> Iterator[datasets.Dataset]:
    """Yield the chosen sets, read from --npz if it is given."""
    if options.npz is None:
        yield from study.load_sets(options, SETS)
        return
    options.sets = options.sets or [s for s in SETS if (options.npz / f"{s}.npz").exists()]
    for name in options.sets:
        dataset = datasets.load_arrays(options.npz / f"{name}.npz")
        yield dataset if options.rows is None else dataset.head(options.rows)


def run(options: argparse.Namespace, console: Any) -> dict[str, Any]:
    """Measure all chosen sets, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in load_sets(options):
        if options.save_npz is not None:
            datasets.save_arrays(dataset, options.save_npz / f"{dataset.name}.npz")
            continue
        arrays = datasets.arrays_path(dataset, options.cache_dir)
        for algorithm in options.algorithms:
            size = len(dataset.y_train) * dataset.n_classes
            if algorithm == "one-against-all" and size > options.one_against_all_limit:
                continue
            found: dict[int, list[ours.Result]] = {n: [] for n in options.threads}
            for repeat in range(options.repeats):
                for n_jobs, repeats in found.items():
                    repeats.append(ours.measure(arrays, algorithm, {"n_jobs": n_jobs}))
                    console.log(line(dataset.name, algorithm, repeat, n_jobs, repeats[-1]))
            results.append(summary(dataset, algorithm, found))
            content = study.publish(
                options,
                results,
                time_unit="microseconds per example, on the clock, best of the repeats; "
                "cpu: of all threads together",
                ratio="time of one thread / time of several",
            )
            if options.markdown:
                options.markdown.write_text(markdown(results))
    if results:
        print(markdown(results))
    return content


def line(dataset: str, algorithm: str, repeat: int, n_jobs: int, result: ours.Result) -> str:
    """Return one line about one measurement."""
    return (
        f"{dataset} {algorithm} {n_jobs} threads, repeat {repeat + 1}: learned in "
        f"{result.train.wall:.2f} s, predicted in {result.predict.wall:.2f} s, "
        f"error {100 * result.error:.2f} %"
    )


def summary(
    dataset: datasets.Dataset, algorithm: str, found: dict[int, list[ours.Result]]
) -> dict[str, Any]:
    """Return times and errors by number of threads, and what more threads change."""
    n_examples = {"train": len(dataset.y_train), "predict": len(dataset.y_test)}
    by_threads: dict[int, dict[str, Any]] = {}
    for n_jobs, repeats in found.items():
        times = {
            phase: [getattr(r, phase).per_example(n_examples[phase]) for r in repeats]
            for phase in PHASES
        }
        by_threads[n_jobs] = {
            **{phase: min(t["wall"] for t in times[phase]) for phase in PHASES},
            "cpu": {phase: min(t["cpu"] for t in times[phase]) for phase in PHASES},
            "error": repeats[0].error,
            "errors_differ": len({r.error for r in repeats}) > 1,
        }
    one = by_threads[1]
    for measured in by_threads.values():
        measured["ratios"] = {phase: one[phase] / measured[phase] for phase in PHASES}
        measured["error_points"] = 100 * (measured["error"] - one["error"])
    return {
        "set": dataset.name,
        "algorithm": algorithm,
        **{f"n_{phase}": n for phase, n in n_examples.items()},
        "threads": by_threads,
    }


def markdown(results: Sequence[dict[str, Any]]) -> str:
    """Return a table with one line per set, algorithm and number of threads."""
    lines = [
        "| set | algorithm | threads | learn µs | | predict µs | | error % | points |",
        "|---|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for result in results:
        for n_jobs, measured in result["threads"].items():
            alone = int(n_jobs) == 1
            cells = [result["set"], result["algorithm"]] if alone else ["", ""]
            cells.append(str(n_jobs))
            for phase in PHASES:
                ratio = "" if alone else f"{measured['ratios'][phase]:.2f}x"
                cells += [report.number(measured[phase]), ratio]
            points = "" if alone else f"{measured['error_points']:+.2f}"
            lines.append(" | ".join(["", *cells, f"{100 * measured['error']:.2f}", points, ""]))
    return "\n".join(line.strip() for line in lines) + "\n"


class Plain:
    """A console of plain lines, where rich is not installed."""

    def log(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.threads",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_arguments(parser)
    options = parser.parse_args(arguments)
    options.command = "threads"
    if max(options.threads) > (os.cpu_count() or 1):
        print(f"this machine has {os.cpu_count()} cores", file=sys.stderr)
    run(options, Plain())


if __name__ == "__main__":
    main()
