"""Classes that appear late: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments.names import NAMES, named
from experiments.report.figures import bars
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record
from experiments.studies.late_classes import ALGORITHMS, LAST_SHARE, LATE_SHARE, STREAMS

PARTS = {"late": "late classes", "others": "other classes"}

Cells = dict[tuple[Any, ...], list[Record]]  # (algorithm, stream) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        f"""Classes drawn at random, with {percent(LATE_SHARE, 0)}% of the rows, are kept for the
        last {percent(LAST_SHARE, 0)}% of the stream, mixed there with rows of the others. *spread*
        is the same rows in a random order: each class has the same examples, and they come in
        proportion over the whole stream. Test error, one pass, defaults:"""
    )
    rows: list[list[str]] = []
    verdicts: list[str] = []
    drawings = []
    for (name, *_), found in by_set(records).items():
        cells = group(found, "algorithm", "stream")
        n_train = found[0]["result"]["n_train"]
        for algorithm in ALGORITHMS:
            pair = [cells.get((algorithm, stream)) for stream in STREAMS]
            if pair[0] and pair[1]:
                rows.append([name, f"{n_train:,}", named(algorithm, pair[0][0]), *_cells(pair)])
        verdicts.append(verdict(name, cells))
        drawings.append((f"late-classes-{name}-{n_train}", name, cells))
    headings = [f"{part}, {stream}" for part in PARTS.values() for stream in STREAMS]
    page.table(["set", "training rows", "method", *headings], rows)
    for text in filter(None, verdicts):
        page.say(text)
    for file, name, cells in drawings:
        caption = f"Test error on the late classes and the others of {name}"
        page.figure(file, caption, partial(draw, cells=cells))
    return page


def _cells(pair: Sequence[Any]) -> list[str]:
    return [
        with_error(mean_and_error(values(found, f"{part}_error")))
        for part in PARTS
        for found in pair
    ]


def verdict(name: str, cells: Cells) -> str:
    """Say whether one-against-some learns late classes as well."""
    pair = [cells.get(("one-against-some", stream)) for stream in STREAMS]
    if not (pair[0] and pair[1]):
        return ""
    wrong = [sum(values(found, "late_wrong")) for found in pair]
    tested = [sum(values(found, "late_n_test")) for found in pair]
    spread, late = (w / n for w, n in zip(wrong, tested, strict=True))
    test = n_minus_1_chi_squared(wrong[0], tested[0], wrong[1], tested[1])
    if test.p_value >= 0.05:
        said = "learned as well"
    else:
        said = "learned better" if late < spread else "not learned as well"
    others = [
        sum(values(found, "others_wrong")) / sum(values(found, "others_n_test")) for found in pair
    ]
    n_seeds = len(pair[0])
    return (
        f"**{name}**: one-against-some makes {percent(late)}% errors on classes that come late, "
        f"{percent(spread)}% if they are spread ({format_p(test.p_value)}, N-1 chi-squared, "
        f"{n_seeds} {'seed' if n_seeds == 1 else 'seeds'} together): late classes are {said}. On "
        f"the others it makes {percent(others[1])}% and {percent(others[0])}%."
    )


def draw(figure: Any, cells: Cells) -> None:
    """Draw two panels: a pair of bars per method."""
    figure.set_size_inches(7.5, 3.2)
    panels = figure.subplots(1, 2, sharey=True)
    shown = [a for a in ALGORITHMS if all((a, stream) in cells for stream in STREAMS)]
    for axes, (part, title) in zip(panels, PARTS.items(), strict=True):
        for i, stream in enumerate(STREAMS):
            found = [cells[a, stream] for a in shown]
            bars(axes, (i, len(STREAMS)), found, f"{part}_error", stream)
        labels = [NAMES[a].replace("-against-", "-\nagainst-").replace(" ", "\n") for a in shown]
        axes.set_xticks(range(len(shown)), labels)
        axes.set(title=title)
    panels[0].set_ylabel("test error, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(STREAMS))
