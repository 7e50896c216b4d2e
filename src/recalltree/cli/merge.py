"""``recalltree merge``: one model of several that learned different rows."""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic

import click

from recalltree.cli.inputs import check_output
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.messages import counted, say
from recalltree.cli.options import (
    SectionOption,
    command,
    jobs_option,
    json_option,
    quiet_option,
)
from recalltree.cli.progress import Display, ShareMeter, as_time
from recalltree.parameters import DEFAULT_MERGE_RULE, MERGE_RULES


def merge(
    ctx: click.Context,
    /,
    models: Sequence[str],
    base: str | None,
    model: str,
    rule: str,
    n_jobs: int | None,
    quiet: bool,
    as_json: bool,
) -> None:
    """Make one model of several that learned different rows.

    MODELS are files of one algorithm with the same parameters. Counts add up as if one model had
    seen all rows; weights are averaged by --rule. If the models continued from a common one, name
    it with --base, so that it does not count several times.
    """
    from recalltree.merging import merge as merge_models

    check_output(model)
    began = monotonic()
    with Display(ShareMeter(), quiet=quiet) as display:
        merged = merge_models(
            list(models), base=base, rule=rule, n_jobs=n_jobs, progress=display.update
        )
        merged.save(model)
    seconds = monotonic() - began
    say(
        f"{counted(len(models), 'model')} merged in {as_time(seconds)}: "
        f"{counted(merged.n_examples_, 'example')}, {merged.n_classes_seen_:,} classes",
        quiet=quiet,
    )
    if as_json:
        click.echo(
            to_json(
                {
                    "n_models": len(models),
                    "n_examples": merged.n_examples_,
                    "n_classes": merged.n_classes_seen_,
                    "seconds": seconds,
                }
            )
        )


_OPTIONS = [
    SectionOption(
        ["-m", "--model"],
        required=True,
        metavar="MODEL",
        type=click.Path(),
        help="Where to write the merged model.",
    ),
    SectionOption(
        ["--base"],
        metavar="MODEL",
        type=click.Path(),
        help="The model from which all of them continued. Without it, they started empty.",
    ),
    SectionOption(
        ["--rule"],
        type=click.Choice(list(MERGE_RULES)),
        default=DEFAULT_MERGE_RULE,
        show_default=True,
        help="How to average weights.",
    ),
    jobs_option,
    json_option,
    quiet_option,
]

_EXAMPLES = (
    (
        "Two models that learned different files:",
        "recalltree merge a.rt b.rt -m merged.rt",
    ),
    (
        "Two models that continued from a third with --resume:",
        "recalltree merge a.rt b.rt --base before.rt -m merged.rt",
    ),
)

merge_command = command(
    "merge",
    merge,
    [
        click.Argument(["models"], nargs=-1, required=True, metavar="MODELS...", type=click.Path()),
        *_OPTIONS,
    ],
    _EXAMPLES,
)

__all__ = ["merge_command"]
