"""Cost against the number of classes: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.names import NAMES
from experiments.report.figures import look
from experiments.report.section import SIZE, Section, group, values
from experiments.statistics import PowerLaw, fit_power_law
from experiments.store import Record
from experiments.studies.cost import ALGORITHMS

MEASURES = {
    "train_microseconds": "training, µs per example",
    "predict_microseconds": "prediction, µs per example",
    "train_evaluations": "training, hyperplane evaluations per example",
    "predict_evaluations": "prediction, hyperplane evaluations per example",
}
UNITS = ("microseconds", "evaluations")
#: Growth is fitted from here on: below, what does not depend on the classes prevails.
FIT_FROM = 1_000

Points = dict[tuple[str, str], tuple[list[float], list[float]]]  # (method, measure) -> K, value


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    for (name, *_), found in group(records, *SIZE).items():
        measured = [r for r in found if "left_out" not in r["result"]]
        left_out = sorted(
            {r["unit"]["n_classes"] for r in found} - _classes(measured, "one-against-all")
        )
        points = points_of(measured)
        if not points:
            continue
        page.say(f"**{name}**, by number of classes:")
        page.table(["classes", "method", *MEASURES.values(), "MB"], table_rows(measured))
        if left_out:
            page.say(
                "One-against-all was left out where it would take too long: "
                f"{', '.join(f'{n:,}' for n in left_out)} classes."
            )
        laws = fits(points)
        if laws:
            page.say(growth(laws))
            page.say(crossings(name, laws, points))
        caption = f"Cost per example on {name} by number of classes"
        page.figure(f"cost-{name}", caption, partial(draw, points=points))
    return page


def _classes(records: Sequence[Record], algorithm: str) -> set[int]:
    return {r["unit"]["n_classes"] for r in records if r["unit"]["algorithm"] == algorithm}


def table_rows(records: Sequence[Record]) -> list[list[str]]:
    """Return a line per number of classes and method."""
    lines = []
    groups = group(records, "n_classes", "algorithm")
    for n_classes, algorithm in sorted(groups):
        same = groups[n_classes, algorithm]
        cells = [number(float(np.mean(values(same, measure)))) for measure in MEASURES]
        memory = number(float(np.mean(values(same, "memory_bytes"))) / 1e6)
        lines.append([f"{n_classes:,}", NAMES[algorithm], *cells, memory])
    return lines


def points_of(records: Sequence[Record]) -> Points:
    """Return the mean of each measure by the number of classes seen."""
    points: Points = {}
    groups = group(records, "n_classes", "algorithm")
    for n_classes, algorithm in sorted(groups):
        same = groups[n_classes, algorithm]
        for measure in MEASURES:
            xs, ys = points.setdefault((algorithm, measure), ([], []))
            xs.append(float(np.mean(values(same, "n_classes_seen"))))
            ys.append(float(np.mean(values(same, measure))))
    return points


def fits(points: Points) -> dict[tuple[str, str], PowerLaw]:
    """Return the growth of each measure where there are enough points to tell."""
    laws = {}
    for key, (xs, ys) in points.items():
        large = [(x, y) for x, y in zip(xs, ys, strict=True) if x >= FIT_FROM / 2] or []
        if len(large) >= 2 and min(y for _, y in large) > 0:
            laws[key] = fit_power_law([x for x, _ in large], [y for _, y in large])
    return laws


def growth(laws: dict[tuple[str, str], PowerLaw]) -> str:
    """Say how each measure grows."""
    said = []
    for (algorithm, measure), law in laws.items():
        error = f" ± {law.exponent_error:.2f}" if law.exponent_error else ""
        what = MEASURES[measure].split(" per example")[0]
        said.append(f"{NAMES[algorithm]}, {what}: K^{law.exponent:.2f}{error}")
    text = (
        f"Fitted growth from about {FIT_FROM:,} classes on: {'; '.join(said)}. A cost of "
        "poly(log K) looks like a small power of K here; linear cost is K^1."
    )
    times, counts = (laws.get(("recall-tree", f"predict_{unit}")) for unit in UNITS)
    if times and counts and times.exponent > counts.exponent + 0.1:
        text += (
            " The Recall Tree's time grows faster than the work it counts: the likely reason is "
            "that the weights of more classes lie in slower memory."
        )
    return text


def crossings(name: str, laws: dict[tuple[str, str], PowerLaw], points: Points) -> str:
    """Say from how many classes on the Recall Tree is the faster."""
    said = []
    for measure in ("train_microseconds", "predict_microseconds"):
        pair = [laws.get((algorithm, measure)) for algorithm in ("recall-tree", "one-against-all")]
        if pair[0] is None or pair[1] is None:
            continue
        at = pair[0].crossing(pair[1])
        smallest = min(points["recall-tree", measure][0])
        what = "training" if measure.startswith("train") else "prediction"
        if at is None or at < smallest:
            said.append(f"in {what} below {smallest:,.0f} classes, the fewest tried")
        else:
            said.append(f"in {what} at about {number(at)} classes")
    if not said:
        return ""
    return (
        f"On {name} the fitted lines cross {' and '.join(said)}. In the paper, one-against-all "
        "was still faster with 1,000 classes."
    )


def draw(figure: Any, points: Points) -> None:
    """Draw time and evaluations, for training and prediction, on logarithmic axes."""
    figure.set_size_inches(7.5, 6.0)
    panels = figure.subplots(2, 2).ravel()
    for axes, (measure, label) in zip(panels, MEASURES.items(), strict=True):
        for i, algorithm in enumerate(ALGORITHMS):
            if (algorithm, measure) in points:
                axes.plot(*points[algorithm, measure], label=NAMES[algorithm], **look(i))
        short = label.replace("hyperplane ", "").replace(" per example", "")
        axes.set(xscale="log", yscale="log", xlabel="classes", ylabel=short)
    panels[0].legend()
