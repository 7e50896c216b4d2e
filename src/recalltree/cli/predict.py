"""``recalltree predict``: rows in, answers out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from time import monotonic
from typing import Any

import click

from recalltree.cli.generated_options import is_given, reader_options
from recalltree.cli.inputs import load_to_predict, paths_of, rows_like_the_models
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


def predict(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    mmap: bool,
    k: int,
    threshold: float | None,
    labels_only: bool,
    n_jobs: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Predict the labels of rows, one line for each row.

    A line has the best label, its probability, the second best label and so on, separated by tabs.
    With --threshold, it has all labels that are probable enough, perhaps none. ROWS are files,
    patterns, or - for standard input, which is the default; labels in them are ignored.
    """
    if labels_only and as_json:
        raise click.UsageError(
            "--labels-only and --json exclude each other; give one of them.", ctx
        )
    paths = paths_of(ctx, rows, model)
    clf = load_to_predict(model, mmap, n_jobs)
    if threshold is None and k > len(clf.classes_):
        raise click.UsageError(
            f"-k {k}: the model has {len(clf.classes_)} classes; give that many or fewer.", ctx
        )
    reader = rows_like_the_models(ctx, clf, paths, values, require_labels=False)
    if threshold is not None:
        most = k if is_given(ctx, "k") else None
        answers = partial(_probable_answers, clf, threshold=threshold, most=most)
    else:
        answers = partial(_best_answers, clf, k=k)
    if as_json:
        lines = partial(_json_lines, answers)
    elif labels_only and reader.has_label_lists:
        lines = partial(_list_lines, answers, reader.written_labels)
    elif threshold is not None:
        lines = partial(_ragged_lines, answers, labels_only)
    else:
        lines = partial(_label_lines if labels_only else _pair_lines, clf, k, _OneLine())
    from recalltree.estimators.prediction import rows_at_once

    n_rows = 0
    with Display(Meter(reader), quiet=quiet) as display:
        for batch in _without_waiting(reader, rows_at_once(clf)):
            click.echo(lines(batch))
            n_rows += len(batch)
            display.update(n_rows)


#: Rows that come within this many seconds are answered together, up to this many values.
_PATIENCE = 0.05
_MOST_VALUES = 2**24


def _without_waiting(reader: Any, n_rows: int) -> Iterator[Any]:
    """Yield about `n_rows` rows at a time where they come quickly: many rows share some work."""
    from recalltree.readers.batches import joined_to_predict

    held: list[Any] = []
    deadline = 0.0
    try:
        for batch in reader:
            if not held:
                deadline = monotonic() + _PATIENCE
            held.append(batch)
            is_full = sum(map(len, held)) >= n_rows or sum(b.X.size for b in held) >= _MOST_VALUES
            left = deadline - monotonic()
            if is_full or left <= 0 or not reader.comes_within(left):
                yield joined_to_predict(held)
                held = []
    except Exception:  # a bad row: those before it are answered
        if held:
            yield joined_to_predict(held)
        raise
    if held:
        yield joined_to_predict(held)


#: The labels of a row, the best first, and their probabilities.
Answer = tuple[list[Any], list[float]]
Answers = Callable[[Any], Iterator[Answer]]

#: Probabilities held at a time, where every class has one.
_MOST_PROBABILITIES = 2**22
_FEWEST_ROWS = 64


class _OneLine(dict[Any, str]):
    """Labels as they are written into a line, each made once."""

    def __missing__(self, label: Any) -> str:
        text = self[label] = one_line(label)
        return text


def _pair_lines(clf: Any, k: int, written: _OneLine, batch: Any) -> str:
    from recalltree.labels import lines_of_pairs

    labels, probabilities = clf.predict_topk(batch.X, k)
    texts = list(map(written.__getitem__, labels.ravel().tolist()))
    return lines_of_pairs(texts, probabilities)


def _label_lines(clf: Any, k: int, written: _OneLine, batch: Any) -> str:
    # One label takes no scores: the quickest way.
    labels = clf.predict(batch.X)[:, None] if k == 1 else clf.predict_topk(batch.X, k)[0]
    return "\n".join("\t".join([written[label] for label in row]) for row in labels.tolist())


def _ragged_lines(answers: Answers, labels_only: bool, batch: Any) -> str:
    lines = []
    for labels, probabilities in answers(batch):
        words = [one_line(label) for label in labels]
        if not labels_only:
            pairs = zip(words, probabilities, strict=True)
            words = [f"{label}\t{probability:.6g}" for label, probability in pairs]
        lines.append("\t".join(words))
    return "\n".join(lines)


def _list_lines(answers: Answers, written: Callable[[list[Any]], str], batch: Any) -> str:
    return "\n".join(one_line(written(labels)) for labels, _ in answers(batch))


def _json_lines(answers: Answers, batch: Any) -> str:
    lines = []
    for i, (labels, probabilities) in enumerate(answers(batch)):
        answer: dict[str, Any] = {"labels": labels, "probabilities": probabilities}
        if batch.tags is not None and batch.tags[i]:
            answer["tag"] = batch.tags[i]
        lines.append(to_json(answer))
    return "\n".join(lines)


def _best_answers(clf: Any, batch: Any, k: int) -> Iterator[Answer]:
    labels, probabilities = clf.predict_topk(batch.X, k)
    yield from zip(labels.tolist(), probabilities.tolist(), strict=True)


def _probable_answers(clf: Any, batch: Any, threshold: float, most: int | None) -> Iterator[Answer]:
    """Yield the labels of a probability of at least the threshold, the best first."""
    import numpy as np

    classes = clf.classes_
    size = max(_FEWEST_ROWS, _MOST_PROBABILITIES // len(classes))
    for start in range(0, len(batch), size):
        found = clf.predict_proba(batch.X[start : start + size], sparse=True)
        for begin, end in pairwise(found.indptr.tolist()):
            values = found.data[begin:end]
            kept = np.flatnonzero(values >= threshold)
            best = kept[np.argsort(-values[kept], kind="stable")][:most]
            yield classes[found.indices[begin + best]].tolist(), values[best].tolist()


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
    SectionOption(
        ["--threshold"],
        type=click.FloatRange(0, 1),
        metavar="P",
        help="Write the labels of at least this probability, at most K of them if -k is given.",
    ),
    SectionOption(
        ["--labels-only"],
        is_flag=True,
        help="Write labels without probabilities; where rows have several labels, in their format.",
    ),
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
