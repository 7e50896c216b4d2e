"""``recalltree explain``: why a row is answered as it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from recalltree.cli.generated_options import reader_options
from recalltree.cli.inputs import load_to_use, paths_of, rows_like_the_models
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.options import (
    SectionOption,
    command,
    json_option,
    mmap_option,
    model_option,
    rows_argument,
)


def explain(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    mmap: bool,
    k: int,
    features_shown: int,
    as_json: bool,
    **values: Any,
) -> None:
    """Show the reasons for the answers of rows.

    For each row, the candidates with their scores and the features that contribute most; for a tree
    also the route with its recall bounds. ROWS are files, patterns, or - for standard input, which
    is the default.
    """
    paths = paths_of(ctx, rows, model)
    clf = load_to_use(model, mmap, None)
    reader = rows_like_the_models(ctx, clf, paths, values, require_labels=False, keep_names=True)
    n_rows = 0
    for batch in reader:
        for i in range(len(batch)):
            names = None if batch.feature_names is None else batch.feature_names[i]
            explanation = clf.explain(batch.X[i : i + 1], k, features_shown, names)
            if as_json:
                click.echo(to_json(explanation.as_dict()))
            else:
                click.echo(("\n" if n_rows else "") + str(explanation))
            n_rows += 1
    if n_rows == 0:
        raise ValueError("no rows to explain: the input is empty.")


_OPTIONS = [
    model_option,
    mmap_option,
    SectionOption(
        ["-k"],
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="How many of the best candidates to show.",
    ),
    SectionOption(
        ["--top-features", "features_shown"],
        type=click.IntRange(min=0),
        default=10,
        show_default=True,
        help="How many features to show for each of them.",
    ),
    json_option,
]

_EXAMPLES = (
    ("One row:", "head -1 test.vw | recalltree explain -m model.rt"),
    ("For another program:", "recalltree explain -m model.rt --json test.vw"),
)

explain_command = command(
    "explain", explain, [rows_argument, *_OPTIONS, *reader_options()], _EXAMPLES
)
