"""The command line: ``python -m benchmarks vowpal --help``."""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

from rich.console import Console

from benchmarks import (
    datasets,
    dense,
    dense_growth,
    engines,
    instructions,
    labels,
    mapped,
    memory,
    merging,
    parsing,
    peers,
    picture,
    ray_training,
    report,
    study,
    tables,
    threads,
    vowpal,
)
from benchmarks.comparison import ALGORITHMS, PROGRAMS, compare

# One command each.
STUDIES = {
    "dense": dense,
    "dense-growth": dense_growth,
    "engines": engines,
    "instructions": instructions,
    "labels": labels,
    "mapped": mapped,
    "memory": memory,
    "merging": merging,
    "parsing": parsing,
    "peers": peers,
    "picture": picture,
    "ray-training": ray_training,
    "tables": tables,
    "threads": threads,
}


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Benchmarks of recalltree."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    comparison = commands.add_parser(
        "vowpal",
        help="compare with Vowpal Wabbit",
        description="Train in one pass and predict, with one thread, on the same rows.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    study.add_arguments(comparison)
    add = comparison.add_argument
    add("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    add("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    add("--repeats", type=int, default=3, help="repeats; the best is kept")
    add(
        "--once-above",
        type=float,
        default=60,
        help="train only once if it takes more than this many seconds",
    )
    add(
        "--one-against-all-limit",
        type=float,
        default=5e8,
        help="leave one-against-all out where training rows x classes exceed this",
    )
    add("--parameters", type=json.loads, help="JSON object: parameters of recalltree's estimators")
    for name, module in STUDIES.items():
        command = commands.add_parser(
            name,
            help=module.__doc__.splitlines()[0],
            description=module.__doc__,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        module.add_arguments(command)
    return parser


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if "vowpal" in options.programs and not vowpal.is_available():
        raise SystemExit(
            "Vowpal Wabbit is not installed: pip install vowpalwabbit, or --programs recalltree"
        )
    results: list[dict[str, Any]] = []
    skipped: list[str] = []

    def publish() -> dict[str, Any]:
        return study.publish(
            options,
            results,
            time_unit="microseconds per example",
            ratio="Vowpal Wabbit's net time / recalltree's time",
            skipped=skipped,
        )

    for dataset in study.load_sets(options, datasets.FILE_SETS):
        for algorithm in options.algorithms:
            updates = len(dataset.y_train) * dataset.n_classes
            if algorithm == "one-against-all" and updates > options.one_against_all_limit:
                skipped.append(f"{algorithm} on {dataset.name}: {updates:.2g} updates of a class")
                continue
            console.log(f"{dataset.name}: {algorithm}")
            results.append(
                compare(
                    dataset,
                    algorithm,
                    options.cache_dir,
                    programs=options.programs,
                    repeats=options.repeats,
                    once_above=options.once_above,
                    parameters=options.parameters,
                )
            )
            publish()
    report.print_table(results, skipped)
    return publish()


def main(arguments: list[str]) -> None:
    """Run a command; without arguments, the comparison with Vowpal Wabbit as it is by default."""
    options, console = build_parser().parse_args(arguments or ["vowpal"]), Console(stderr=True)
    try:
        if options.command in STUDIES:
            STUDIES[options.command].run(options, console)
        else:
            run(options, console)
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
