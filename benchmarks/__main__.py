"""The command line: ``python -m benchmarks vowpal --help``."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks import choices, datasets, memory, parsing, peers, report, shares, threads, vowpal
from benchmarks.comparison import ALGORITHMS, PROGRAMS, compare

# One command each.
STUDIES = {
    "choices": choices,
    "memory": memory,
    "parsing": parsing,
    "peers": peers,
    "shares": shares,
    "threads": threads,
}
PLACES = {"data_dir": "DIR", "cache_dir": "DIR", "json": "FILE"}  # not part of a result


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Benchmarks of recalltree."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    add = commands.add_parser(
        "vowpal",
        help="compare with Vowpal Wabbit",
        description="Train in one pass and predict, with one thread, on the same rows.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    ).add_argument
    sets = (*datasets.FILE_SETS, *datasets.GENERATED_SETS)
    add("--data-dir", type=Path, help="folder with one folder per set; without it: generated sets")
    add("--sets", nargs="+", choices=sets, metavar="SET", help=f"of {', '.join(sets)}")
    add("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    add("--programs", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    add("--repeats", type=int, default=3, help="keep the best of so many")
    add("--once-above", type=float, default=60, help="train once if it takes so many seconds")
    add("--rows", type=int, help="use the first so many rows of each part only")
    add(
        "--one-against-all-limit",
        type=float,
        default=5e8,
        help="leave one-against-all out where training rows x classes exceed this",
    )
    add("--parameters", type=json.loads, help="JSON object: parameters of recalltree's estimators")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, after every comparison")
    for name, module in STUDIES.items():
        study = commands.add_parser(
            name,
            help=module.__doc__.splitlines()[0],
            description=module.__doc__,
            formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        )
        module.add_arguments(study)
    return parser


def canonical_command(options: argparse.Namespace) -> str:
    """Return the command that repeats the run, without the places of one machine."""
    words = ["python", "-m", "benchmarks", options.command]
    for name, value in vars(options).items():
        if name == "command" or value is None:
            continue
        values = value if isinstance(value, list) else [PLACES.get(name, value)]
        texts = [json.dumps(v) if isinstance(v, dict) else str(v) for v in values]
        words += [f"--{name.replace('_', '-')}", *texts]
    return shlex.join(words)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    if "vowpal" in options.programs and not vowpal.is_available():
        raise SystemExit(
            "Vowpal Wabbit is not installed: pip install vowpalwabbit, or --programs recalltree"
        )
    if options.sets is None:
        options.sets = list(datasets.FILE_SETS if options.data_dir else datasets.GENERATED_SETS)
    command = canonical_command(options)
    results: list[dict[str, Any]] = []
    skipped: list[str] = []
    content: dict[str, Any] = report.document(results, command)
    for name in options.sets:
        dataset = datasets.load(name, options.data_dir, options.cache_dir, options.rows)
        for algorithm in options.algorithms:
            updates = len(dataset.y_train) * dataset.n_classes
            if algorithm == "one-against-all" and updates > options.one_against_all_limit:
                skipped.append(f"{algorithm} on {name}: {updates:.2g} updates of a class")
                continue
            console.log(f"{name}: {algorithm}")
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
            content = report.document(results, command, skipped)
            if options.json:
                report.write_json(options.json, content)
    report.print_table(results, skipped)
    return content


def main(arguments: list[str]) -> None:
    """Run a command; without arguments, the comparison with Vowpal Wabbit as it is by default."""
    options, console = build_parser().parse_args(arguments or ["vowpal"]), Console(stderr=True)
    try:
        if options.command in STUDIES:
            STUDIES[options.command].run(options, canonical_command, console)
        else:
            run(options, console)
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"error: {error}") from None


if __name__ == "__main__":
    main(sys.argv[1:])
