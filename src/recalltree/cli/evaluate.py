"""``recalltree evaluate``: how well a model does on labelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from recalltree.cli.generated_options import is_given, reader_options
from recalltree.cli.inputs import load_to_use, paths_of, rows_like_the_models
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.messages import one_line, write_pairs
from recalltree.cli.options import (
    SectionOption,
    command,
    jobs_option,
    json_option,
    mmap_option,
    model_option,
    quiet_option,
    rows_argument,
)
from recalltree.cli.progress import Display, Meter

if TYPE_CHECKING:
    from recalltree.inspection import Evaluation, ListEvaluation
    from recalltree.readers import RowReader


def evaluate(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    mmap: bool,
    k: int,
    threshold: float,
    confused: int,
    n_jobs: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Compare a model's answers with the labels of rows.

    ROWS are files, patterns, or - for standard input, which is the default. They are read as the
    model's rows were, unless options say otherwise.
    """
    paths = paths_of(ctx, rows, model)
    clf = load_to_use(model, mmap, n_jobs)
    reader = rows_like_the_models(ctx, clf, paths, values)
    if is_given(ctx, "threshold") and not reader.has_label_lists:
        raise click.UsageError("--threshold is for rows with several labels.", ctx)
    evaluation = evaluate_rows(clf, reader, k, threshold, quiet=quiet)
    found = {**evaluation.as_dict(), "n_skipped": reader.n_skipped}
    pairs = evaluation.most_confused(confused)
    if as_json:
        click.echo(to_json({**found, "confused": pairs} if confused else found))
        return
    write_pairs(_lines_of_lists(found) if reader.has_label_lists else _lines(found))
    if pairs:
        click.echo("\nrows\tlabel\tanswered")
    for pair in pairs:
        click.echo(f"{pair['n_rows']}\t{one_line(pair['label'])}\t{one_line(pair['answer'])}")


def evaluate_rows(
    clf: Any, reader: RowReader, k: int = 5, threshold: float = 0.5, *, quiet: bool
) -> Evaluation | ListEvaluation:
    """Return the evaluation of a model on all rows of a reader, with progress shown."""
    from recalltree.inspection.list_evaluation import evaluation_for

    evaluation = evaluation_for(clf, reader.has_label_lists, k, threshold)
    with Display(Meter(reader), quiet=quiet) as display:
        for batch in reader:
            evaluation.update(batch.X, batch.y, batch.sample_weight)
            display.update(evaluation.n_rows)
    if evaluation.n_rows == 0:
        raise ValueError("no rows to evaluate: the input is empty.")
    return evaluation


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("rows", f"{found['n_rows']:,}")]
    lines += [(name, f"{found[name]:.4f}") for name in found if name.startswith("error@")]
    return lines + _last_lines(found)


def _lines_of_lists(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        ("rows", f"{found['n_rows']:,}"),
        ("labels per row", f"{found['labels_per_row']:.2f}"),
    ]
    if found["rows_without_labels"]:
        lines.append(("rows without labels", f"{found['rows_without_labels']:,}"))
    lines += [(name, f"{found[name]:.4f}") for name in found if "@" in name]
    for average in ("micro", "macro"):
        at = f" at {found['threshold']:g}"
        lines.append((f"{average} F1{at}", f"{found[f'{average}_f1']:.4f}"))
    return lines + _last_lines(found)


def _last_lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("candidate recall", f"{found['candidate_recall']:.4f}")]
    if found["unknown_labels"] > 0:
        lines.append(("labels never learned", f"{found['unknown_labels']:.4f}"))
    lines.append(("µs per row", f"{found['microseconds_per_row']:.2f}"))
    if found["n_skipped"]:
        lines.append(("bad rows skipped", f"{found['n_skipped']:,}"))
    return lines


_OPTIONS = [
    model_option,
    mmap_option,
    SectionOption(
        ["-k"],
        type=click.IntRange(min=1),
        default=5,
        show_default=True,
        help="Count as right also when the label is among the best K: error@K. With several "
        "labels, the largest K of precision@K, and that of recall@K and nDCG@K.",
    ),
    SectionOption(
        ["--threshold"],
        type=click.FloatRange(0, 1),
        default=0.5,
        show_default=True,
        help="With several labels, F1 is that of the labels of at least this probability.",
    ),
    SectionOption(
        ["--confused"],
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="Also list the N pairs of classes that are confused most often. With several labels, "
        "of rows of which one label alone is missing.",
    ),
    jobs_option,
    json_option,
    quiet_option,
]

_EXAMPLES = (
    ("Error, recall of the candidates and time:", "recalltree evaluate -m model.rt test.vw"),
    (
        "For another program:",
        "recalltree evaluate -m model.rt test.vw --json | jq '.\"error@1\"'",
    ),
)

evaluate_command = command(
    "evaluate", evaluate, [rows_argument, *_OPTIONS, *reader_options()], _EXAMPLES
)
