"""``recalltree predict``: rows in, answers out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

from recalltree.cli.generated_options import reader_options
from recalltree.cli.inputs import load_to_use, paths_of, rows_like_the_models
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.messages import one_line
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
from recalltree.labels import lines_of_pairs


def predict(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    mmap: bool,
    k: int,
    labels_only: bool,
    n_jobs: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Answer rows, one line for each.

    A line has the best label, its probability, the second best label and so on, with tabs between
    them. ROWS are files, patterns, or - for standard input, which is also read if none is named;
    they may have labels, which are not looked at.
    """
    if labels_only and as_json:
        raise click.UsageError("--labels-only and --json exclude each other.", ctx)
    paths = paths_of(ctx, rows, model)
    clf = load_to_use(model, mmap, n_jobs)
    if k > len(clf.classes_):
        raise click.UsageError(f"-k {k}: the model has {len(clf.classes_)} classes.", ctx)
    reader = rows_like_the_models(ctx, clf, paths, values, require_labels=False)
    lines = _json_lines if as_json else _label_lines if labels_only else _pair_lines
    written = _OneLine()
    n_rows = 0
    with Display(Meter(reader), quiet=quiet) as display:
        for batch in reader:
            click.echo(lines(clf, batch, k, written))
            n_rows += len(batch)
            display.update(n_rows)


class _OneLine(dict[Any, str]):
    """Labels as they are written into a line, each made once."""

    def __missing__(self, label: Any) -> str:
        text = self[label] = one_line(label)
        return text


def _pair_lines(clf: Any, batch: Any, k: int, written: _OneLine) -> str:
    labels, probabilities = clf.predict_topk(batch.X, k)
    texts = list(map(written.__getitem__, labels.ravel().tolist()))
    return lines_of_pairs(texts, probabilities)


def _label_lines(clf: Any, batch: Any, k: int, written: _OneLine) -> str:
    # One label takes no scores: the quickest way.
    labels = clf.predict(batch.X)[:, None] if k == 1 else clf.predict_topk(batch.X, k)[0]
    return "\n".join("\t".join([written[label] for label in row]) for row in labels.tolist())


def _json_lines(clf: Any, batch: Any, k: int, written: _OneLine) -> str:
    return "\n".join(_answers(clf, batch, k))


def _answers(clf: Any, batch: Any, k: int) -> Iterator[str]:
    labels, probabilities = clf.predict_topk(batch.X, k)
    for i, (names, values) in enumerate(zip(labels.tolist(), probabilities.tolist(), strict=True)):
        answer: dict[str, Any] = {"labels": names, "probabilities": values}
        if batch.tags is not None:
            answer["tag"] = batch.tags[i]
        yield to_json(answer)


_OPTIONS = [
    model_option,
    mmap_option,
    SectionOption(
        ["-k"],
        type=click.IntRange(min=1),
        default=1,
        show_default=True,
        help="How many labels to write for each row, the best first.",
    ),
    SectionOption(["--labels-only"], is_flag=True, help="Write labels without probabilities."),
    jobs_option,
    json_option,
    quiet_option,
]

_EXAMPLES = (
    ("The five best labels of each row:", "recalltree predict -m model.rt -k 5 < rows > out"),
    (
        "The most frequent answers:",
        "recalltree predict -m model.rt --labels-only rows.vw | sort | uniq -c | sort -rn | head",
    ),
)

predict_command = command(
    "predict", predict, [rows_argument, *_OPTIONS, *reader_options()], _EXAMPLES
)
