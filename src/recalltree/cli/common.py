"""What several commands have: their arguments, and rows read as the model's rows were."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from recalltree.cli.messages import is_terminal_input
from recalltree.cli.models import extra_of, load_model
from recalltree.cli.reader_options import given_options, open_like, reader_options
from recalltree.cli.sections import SectionCommand, SectionOption
from recalltree.readers import RowReader

Function = Callable[..., Any]

rows_argument = click.Argument(["rows"], nargs=-1, metavar="[ROWS]...", type=click.Path())
model_option = SectionOption(
    ["-m", "--model"],
    required=True,
    metavar="MODEL",
    type=click.Path(allow_dash=True),
    help="File of the model; - is a pipe.",
)
json_option = SectionOption(["--json", "as_json"], is_flag=True, help="Write JSON.")
quiet_option = SectionOption(["-q", "--quiet"], is_flag=True, help="No progress, no messages.")
jobs_option = SectionOption(
    ["-j", "--n-jobs"], type=click.INT, help="Threads; -1 is all cores. By default 1."
)


def command(
    name: str,
    function: Function,
    parameters: Sequence[click.Parameter],
    examples: tuple[tuple[str, str], ...],
) -> SectionCommand:
    """Return a command; its help begins with the first lines of the function's docstring."""
    return SectionCommand(
        name=name,
        callback=click.pass_context(function),
        params=list(parameters),
        help=function.__doc__,
        examples=examples,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


def paths_of(ctx: click.Context, rows: Sequence[str], model: str | None) -> list[str]:
    """Return where to read rows from: standard input if nothing is named.

    Raises
    ------
    click.UsageError
        If that is a terminal, or if the model comes from there too.
    """
    paths = list(rows) or ["-"]
    if "-" in paths:
        if model == "-":
            raise click.UsageError("model and rows cannot both come from standard input.", ctx)
        if not rows and is_terminal_input():
            raise click.UsageError("give files of rows, or rows on standard input.", ctx)
    return paths


def mmap_option(default: bool) -> SectionOption:
    """Return the option that chooses between mapping and reading a model."""
    return SectionOption(
        ["--mmap/--no-mmap"],
        default=default,
        show_default=True,
        help="Map the model's file instead of reading it: begins at once and shares memory with "
        "other processes, but each row takes longer.",
    )


def load_to_use(model: str, mmap: bool, n_jobs: int | None) -> Any:
    """Return a model that is to predict, with so many threads."""
    clf = load_model(model, mmap=mmap)
    if n_jobs is not None:
        clf.set_params(n_jobs=n_jobs)
    return clf


def rows_like_the_models(
    ctx: click.Context, clf: Any, paths: Sequence[str], values: dict[str, Any], **more: Any
) -> RowReader:
    """Return rows to predict, read as the rows were that the model learned from."""
    given = given_options(ctx, values)
    return open_like(paths, extra_of(clf).get("rows"), given, frozen=True, **more)


__all__ = [
    "command",
    "jobs_option",
    "json_option",
    "load_to_use",
    "mmap_option",
    "model_option",
    "paths_of",
    "quiet_option",
    "reader_options",
    "rows_argument",
    "rows_like_the_models",
]
