"""One-against-some by number of classes: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.names import NAMES
from experiments.report.figures import look
from experiments.report.section import Section, group, percent, values
from experiments.store import Record
from experiments.studies.scaling import ALGORITHMS

MEASURES = {
    "train_microseconds": "training, µs",
    "predict_microseconds": "prediction, µs",
    "train_evaluations": "training, linear evaluations",
    "predict_evaluations": "prediction, linear evaluations",
    "train_entries": "training, histogram entries",
    "predict_entries": "prediction, histogram entries",
}
#: What is asked of one example, at most.
MOST = {"evaluations": 150, "entries": 4_000}
#: And of the growth of time per example, from so many classes to so many.
GROWTH, FROM, TO = 2.0, 1_000, 100_000

Cells = dict[tuple[Any, ...], list[Record]]  # (algorithm, classes asked for) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """Per example, on average over half of the rows (training) and over test rows
        (prediction), and in brackets the most that one of up to 2,000 single examples took. Recall:
        share of the test rows whose label is among the candidates. Documents are generated, 100 for
        each class or as many as the limit allows. With 10 for each, examples of 1,000 classes find
        only 400 entries to read and those of 100,000 find 1,000; the time then grows with these, by
        factors of 2.4 to 3.4 in two runs with an earlier core."""
    )
    for (name, rows), found in group(records, "set", "rows").items():
        cells = group(found, "algorithm", "n_classes")
        cells = dict(sorted(cells.items(), key=lambda item: (_place(item[0][0]), item[0][1])))
        page.say(f"**{name}**{'' if rows is None else f', at most {rows:,} training rows'}:")
        page.table(
            ["method", "classes", "training rows", *MEASURES.values(), "error", "recall", "MB"],
            [row(key[0], same) for key, same in cells.items()],
        )
        page.say(growth(name, cells))
        page.say(most(name, cells))
        page.figure(
            f"scaling-{name}", f"Work and time per example on {name}", partial(draw, cells=cells)
        )
    return page


def _place(algorithm: str) -> int:
    return ALGORITHMS.index(algorithm)


def mean(records: Sequence[Record], name: str) -> float:
    """Return the mean of a figure over seeds."""
    return float(np.mean(values(records, name)))


def row(algorithm: str, same: list[Record]) -> list[str]:
    """Return a line of the table."""
    cells = []
    for measure in MEASURES:
        step, counted = measure.split("_", 1)
        text = number(mean(same, measure))
        if counted in MOST:
            text += f" ({max(values(same, f'{step}_most_{counted}')):,})"
        cells.append(text)
    return [
        NAMES[algorithm],
        f"{round(mean(same, 'n_classes_seen')):,}",
        f"{round(mean(same, 'n_train')):,}",
        *cells,
        percent(mean(same, "error")),
        percent(mean(same, "candidate_recall")),
        number(mean(same, "memory_bytes") / 1e6),
    ]


def growth(name: str, cells: Cells) -> str:
    """Say how many times more an example takes with many classes than with 1,000."""
    said = []
    for algorithm in ALGORITHMS:
        sizes = sorted(size for a, size in cells if a == algorithm and FROM <= size <= TO)
        if len(sizes) < 2:
            continue
        few, many = (cells[algorithm, sizes[i]] for i in (0, -1))
        factors = {
            measure: mean(many, measure) / mean(few, measure)
            for measure in MEASURES
            if mean(few, measure)
        }
        times = [factors[f"{step}_microseconds"] for step in ("train", "predict")]
        is_within = "yes" if max(times) <= GROWTH else "no"
        if is_within == "yes" and mean(many, "n_classes_seen") < 0.9 * TO:
            is_within = f"not tried up to {TO:,}"
        listed = "; ".join(f"{MEASURES[m]} {number(f)}" for m, f in factors.items())
        asked = f" (at most {GROWTH:g} in time asked: {is_within})" if not _place(algorithm) else ""
        said.append(
            f"{NAMES[algorithm]}, {round(mean(many, 'n_classes_seen')):,} classes against "
            f"{round(mean(few, 'n_classes_seen')):,}, factors{asked}: {listed}."
        )
    return f"Growth on {name}: " + " ".join(said) if said else ""


def most(name: str, cells: Cells) -> str:
    """Say whether the work of one example is bounded as it should be."""
    found = [r for (a, _), same in cells.items() if a == "one-against-some" for r in same]
    if not found:
        return ""
    said = []
    for counted, limit in MOST.items():
        steps = [max(values(found, f"{step}_most_{counted}")) for step in ("train", "predict")]
        kept = "kept" if max(steps) <= limit else "not kept"
        what = "linear evaluations" if counted == "evaluations" else "histogram entries"
        said.append(
            f"at most {steps[0]:,} {what} to learn and {steps[1]:,} to predict one example "
            f"({limit:,} asked: {kept})"
        )
    return f"One-against-some on {name} takes {', and '.join(said)}."


def draw(figure: Any, cells: Cells) -> None:
    """Draw time, evaluations and entries by number of classes."""
    figure.set_size_inches(7.5, 7.5)
    panels = figure.subplots(3, 2, sharex=True).ravel()
    for axes, (measure, label) in zip(panels, MEASURES.items(), strict=True):
        for i, algorithm in enumerate(ALGORITHMS):
            found = [same for key, same in cells.items() if key[0] == algorithm]
            if found:
                classes = [mean(same, "n_classes_seen") for same in found]
                shown = [mean(same, measure) for same in found]
                axes.plot(classes, shown, label=NAMES[algorithm], **look(i))
        axes.set(xscale="log", ylabel=label)
        axes.set_ylim(0, 1.1 * axes.dataLim.ymax)
    for axes in panels[-2:]:
        axes.set_xlabel("classes")
    panels[0].legend()
