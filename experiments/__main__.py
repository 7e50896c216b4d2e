"""The command line: ``python -m experiments --help``."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.datasets import default_cache_dir
from rich.console import Console
from rich.table import Column, Table

from experiments import runner
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import SETS, Places
from experiments.experiment import Experiment
from experiments.methods import NAMES
from experiments.questions import EXPERIMENTS
from experiments.store import RESULTS, Store

BUDGET_HELP = {
    "seeds": "how many seeds; error bars are over them",
    "rows": "use only the first N training rows",
    "test_rows": "use at most N test rows; 0 is all",
    "start": "skip the first N words of a text",
    "passes": "passes over small sets at most, with early stopping",
    "probes": "probes of the search; 0 leaves tuning out",
    "full_updates": "one-against-all samples negatives, or is left out, where training rows x "
    "classes x passes exceed this",
    "negative_samples": "how many negatives it then samples",
    "max_classes": "use at most N classes, drawn from a set (bernstein, cost, scaling)",
}
CHOICES = ("sets", "algorithms", "variants")
INTERRUPTED = 130


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description="The paper's experiments, one command each."
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help=argparse.SUPPRESS)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="list the experiments and the data sets")
    add_run(commands.add_parser("run", help="run an experiment, or continue with it"))
    report = commands.add_parser("report", help="write docs/results.md from the stored results")
    report.add_argument("--docs", type=Path, help="write into this folder instead of docs")
    prepare = commands.add_parser("prepare", help="make a set from its raw files")
    prepare.add_argument("set", choices=["ltcb"])
    prepare.add_argument("--dump", type=Path, required=True, help="enwik8.zip, enwik9.zip or so")
    prepare.add_argument("--data-dir", type=Path, required=True, help="ltcb/ is made in it")
    return parser


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``run``; what is not given is the experiment's own default."""
    add = parser.add_argument
    add("experiment", choices=EXPERIMENTS, metavar="NAME", help=f"of {', '.join(EXPERIMENTS)}")
    add("--data-dir", type=Path, help="folder with one folder per set")
    add("--cache-dir", type=Path, default=default_cache_dir(), help="for what is derived from sets")
    add("--sets", nargs="+", metavar="SET", help=f"of {', '.join(SETS)}")
    add(
        "--algorithms",
        nargs="+",
        metavar="A",
        choices=NAMES,
        help=f"of those of the experiment: {', '.join(NAMES)}",
    )
    add(
        "--variants",
        nargs="+",
        metavar="V",
        help="of an ablation, path-features, sharding, vowpal: these",
    )
    add("--again", action="store_true", help="also do what is already done")
    add("--jobs", type=int, default=1, metavar="N", help="units at a time, each a process [1]")
    for field in fields(Budget):
        if field.name in BUDGET_HELP:
            kind = float if field.name == "full_updates" else int
            name = f"--{field.name.replace('_', '-')}"
            add(name, type=kind, metavar="N", help=f"{BUDGET_HELP[field.name]} [{field.default}]")


def budget_of(options: argparse.Namespace, experiment: Experiment) -> Budget:
    """Return the budget: what was given, else the experiment's defaults, else those of all."""
    given = {name: getattr(options, name) for name in BUDGET_HELP}
    known = {name: value for name, value in given.items() if value is not None}
    if known.get("test_rows") == 0:
        known["test_rows"] = None
    for name, value in known.items():
        least = 0 if name in ("probes", "start") else 1
        if value is not None and value < least:
            raise ValueError(f"--{name.replace('_', '-')} {value}: it must be {least} or more")
    chosen = {
        name: tuple(getattr(options, name))
        for name in CHOICES
        if getattr(options, name) is not None
    }
    return Budget(**chosen, **{**experiment.defaults, **known})


def canonical_command(options: argparse.Namespace) -> str:
    """Return the command that repeats the run, without the places of one machine."""
    words = ["python", "-m", "experiments", "run", options.experiment]
    if options.data_dir is not None:
        words += ["--data-dir", "DIR"]
    for name in (*CHOICES, *BUDGET_HELP):
        value: Any = getattr(options, name)
        if value is not None:
            values = value if isinstance(value, list) else [value]
            words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return shlex.join(words)


def show_list(console: Console) -> None:
    """Print the experiments and the sets."""
    shown = Table(
        Column("experiment", no_wrap=True), "what it is about", "sets", title="Experiments"
    )
    for experiment in EXPERIMENTS.values():
        shown.add_row(experiment.name, experiment.title, ", ".join(experiment.sets))
    console.print(shown)
    shown = Table("set", "task", "where it comes from", title="Data sets")
    for entry in SETS.values():
        shown.add_row(entry.name, entry.task, entry.source)
    console.print(shown)


def run(options: argparse.Namespace, console: Console) -> None:
    """Run an experiment."""
    experiment = EXPERIMENTS[options.experiment]
    bench = Bench(
        Places(options.data_dir, options.cache_dir),
        budget_of(options, experiment),
        Store(experiment.name, options.results),
    )
    if options.jobs < 1:
        raise ValueError(f"--jobs {options.jobs}: it must be 1 or more")
    n_done = runner.run(
        experiment, bench, canonical_command(options), console, options.again, options.jobs
    )
    console.print(f"{n_done} units done; python -m experiments report writes the page")


def prepare(options: argparse.Namespace, console: Console) -> None:
    """Make the stream of words of a Wikipedia dump."""
    from experiments.data import ltcb

    n_read = 0
    with console.status("reading") as status:

        def tell(n_words: int) -> None:
            nonlocal n_read
            n_read += n_words
            status.update(f"reading, twice in all: {n_read:,} words")

        n_ids = ltcb.prepare(options.dump, options.data_dir / "ltcb", progress=tell)
    console.print(f"{n_ids:,} words in {options.data_dir / 'ltcb'}")


def main(arguments: Sequence[str]) -> None:
    """Run a command."""
    options, console = build_parser().parse_args(arguments), Console(stderr=True, highlight=False)
    try:
        if options.command == "list":
            show_list(Console())
        elif options.command == "run":
            run(options, console)
        elif options.command == "prepare":
            prepare(options, console)
        else:
            from experiments.report import page

            folder = {} if options.docs is None else {"docs": options.docs}
            console.print(f"written: {page.write(EXPERIMENTS.values(), options.results, **folder)}")
    except (FileNotFoundError, ValueError) as error:
        raise SystemExit(f"error: {error}") from None
    except KeyboardInterrupt:
        console.print("interrupted: what was finished is kept, the same command continues")
        raise SystemExit(INTERRUPTED) from None


if __name__ == "__main__":
    main(sys.argv[1:])
