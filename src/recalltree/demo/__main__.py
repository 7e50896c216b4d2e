"""The command line: ``python -m recalltree.demo --help``."""

from __future__ import annotations

import platform
import sys
from textwrap import indent

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from recalltree.demo.completions import BEGINNINGS, Completer
from recalltree.demo.contest import (
    N_SAMPLED_PREDICTIONS,
    Result,
    Task,
    compete,
    contestants,
    most_frequent,
)
from recalltree.demo.tokens import Corpus, read_corpus

INTERRUPTED = 130  # the exit code of a program that Ctrl-C ended


@click.command()
@click.option(
    "--tokens",
    "n_tokens",
    type=click.IntRange(min=1),
    default=400_000,
    show_default=True,
    help="Most tokens to read.",
)
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Chooses the files, their order and the negative samples.",
)
@click.option("--quiet", is_flag=True, help="Show nothing but the table.")
def main(n_tokens: int, seed: int, quiet: bool) -> None:
    """Predict the next token in the source of Python's standard library.

    Each distinct token is a class. Three methods learn the same stream online, and then the
    Recall Tree completes some lines. Ctrl-C ends the learning early and shows what there is.
    """
    console = Console(highlight=False, quiet=quiet)
    progress = Console(highlight=False, quiet=quiet, stderr=True)
    corpus, task = prepare(n_tokens, seed, progress)
    describe(corpus, task, console)

    models = contestants(seed, verbose=int(not quiet))
    results: list[Result] = []
    for name, model in models.items():
        progress.print(f"[bold]{name}[/bold]")
        results.append(compete(name, model, task))
        if not results[-1].is_finished:
            break
    Console(highlight=False).print(table([*results, most_frequent(task)]))
    explain(task, console)
    show_completions(Completer(next(iter(models.values())), corpus.names), console)
    if not results[-1].is_finished:
        Console(stderr=True).print(f"Interrupted while learning: {results[-1].name}.")
        sys.exit(INTERRUPTED)


def prepare(n_tokens: int, seed: int, progress: Console) -> tuple[Corpus, Task]:
    """Read the corpus and make its features."""
    with progress.status("Reading the standard library ..."):
        try:
            corpus = read_corpus(n_tokens, seed)
        except FileNotFoundError as error:
            raise click.ClickException(str(error)) from None
        return corpus, Task.of(corpus)


def describe(corpus: Corpus, task: Task, console: Console) -> None:
    """Print what there is to learn."""
    console.print(
        f"\n[bold]Next-token prediction over the standard library of Python "
        f"{platform.python_version()}[/bold]\n"
        f"{len(corpus.train)} files to learn: {len(task.y):,} tokens, "
        f"{task.n_classes:,} distinct ones, each of them a class.\n"
        f"{len(corpus.test)} other files to test: {len(task.y_test):,} tokens.\n"
        f"One pass, one token after the other, one thread.\n"
    )


def table(results: list[Result]) -> Table:
    """Return the results as a table."""
    shown = Table(title="Who predicts the next token?", title_justify="left")
    shown.add_column("")
    for heading in ("test\nerror", "online\nerror", "learn\nµs/token", "predict\nµs/token", "MB"):
        shown.add_column(heading, justify="right")
    for result in results:
        shown.add_row(
            result.name if result.is_finished else f"{result.name} (interrupted)",
            _percent(result.test_error),
            _percent(result.online_error),
            _number(result.learning_time),
            _number(result.prediction_time),
            _number(None if result.memory is None else result.memory / 1e6),
        )
    return shown


def explain(task: Task, console: Console) -> None:
    """Print what the numbers of the table are."""
    n_sampled = min(N_SAMPLED_PREDICTIONS, len(task.y_test))
    console.print(
        f"test    files that were not learned; {_percent(task.unseen)} of their tokens are new\n"
        "online  each token predicted just before it was learned\n"
        "Times are CPU time. One-against-some has its defaults, the other three the\n"
        f"hinge loss. One-against-all compares all {task.n_classes:,} classes in each prediction:\n"
        f"its errors are estimated, on {n_sampled:,} test tokens and some of those learned.\n"
    )


def show_completions(completer: Completer, console: Console) -> None:
    """Print how the model continues with code."""
    console.print(
        "[bold]How one-against-some continues with code[/bold] (what it adds follows the »)"
    )
    for beginning in BEGINNINGS:
        completion = completer.complete(beginning)
        others = ", ".join(completion.best[1:])
        rest = (completion.rest, "bold green"), (f"   # or {others}", "dim")
        code = indent(f"\n{beginning} » ", "    ")
        console.print(Text.assemble(code, *rest))


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}%"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


if __name__ == "__main__":
    main()
