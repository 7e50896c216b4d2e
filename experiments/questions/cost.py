"""Cost against the number of classes: time and evaluations per example, and where lines cross.

Classes are drawn from one set, so that everything but their number stays the same; a generated set
goes further. The first half of the rows is learned unmeasured, so that the classes are known; the
second half is timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.measure import Stopwatch
from benchmarks.report import number

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.class_subsets import GAUSSIANS, N_TEST, choose_dataset, units_by_classes
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.measured import evaluate, evaluations
from experiments.methods import NAMES, make_model
from experiments.report.figures import line, look
from experiments.report.section import Section, answer_of, by_set, group, values
from experiments.statistics import PowerLaw, fit_power_law
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("wikipassage", GAUSSIANS)
ALGORITHMS = ("recall-tree", "one-against-all")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every number of classes with both methods."""
    for unit in units_by_classes(budget, SETS, ALGORITHMS):
        if unit["algorithm"] == "one-against-all":
            unit["full_updates"] = budget.full_updates
        yield unit


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Measure one method with one number of classes; nothing if it would take too long."""
    dataset = choose_dataset(unit, bench)
    n_rows = len(dataset.y_train)
    if unit["algorithm"] == "one-against-all" and n_rows * dataset.n_classes > unit["full_updates"]:
        return {"left_out": f"{n_rows:,} rows x {dataset.n_classes:,} classes"}
    model = make_model(unit["algorithm"], unit["seed"])
    half = n_rows // 2
    model.partial_fit(dataset.X_train[:half], dataset.y_train[:half])
    before = evaluations(model)
    with Stopwatch() as watch:
        model.partial_fit(dataset.X_train[half:], dataset.y_train[half:])
    n_timed = n_rows - half
    n_evaluations = evaluations(model) - before
    found = evaluate(model, ArrayTask(dataset), N_TEST)
    return {
        "n_train": n_rows,
        "n_classes_seen": model.n_classes_seen_,
        "train_microseconds": watch.times.per_example(n_timed)["cpu"],
        "train_evaluations": n_evaluations / n_timed,
        "memory_bytes": int(model.memory_bytes_),
        **found,
    }


MEASURES = {
    "train_microseconds": "training, µs per example",
    "predict_microseconds": "prediction, µs per example",
    "train_evaluations": "training, hyperplane evaluations per example",
    "predict_evaluations": "prediction, hyperplane evaluations per example",
}
HEADINGS = ("classes", "training rows", "method", *MEASURES.values(), "MB")
UNITS = ("microseconds", "evaluations")
#: Growth is fitted from here on: below, what does not depend on the classes prevails.
FIT_FROM = 1_000
#: A larger power of K is not called poly(log K).
SMALL = 0.2

WHY_EARLIER = """In the paper one-against-all is still faster with 1,000 classes. The lines cross
earlier here probably because a candidate in the authors' program costs much more than a class of
one-against-all: it has path features and a call of its own. Here both are scored by the same
instructions, and path features are off."""

Lines = dict[str, list[list[Record]]]  # method -> the records of each number of classes


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    for (name, *_), found in by_set(records).items():
        measured = [r for r in found if "left_out" not in r["result"]]
        tried = _classes(measured, "one-against-all")
        lines = lines_of(measured)
        if not lines:
            continue
        page.say(f"**{name}**, by number of classes:")
        page.table(HEADINGS, table_rows(measured))
        caption = f"Cost per example on {name} by number of classes"
        page.figure(f"cost-{name}", caption, partial(draw, lines=lines))
        if tried and len(measured) < len(found):
            page.say(f"With more than {max(tried):,} classes one-against-all would take too long.")
        laws = fits(lines)
        if laws:
            page.say(f"Growth with the number of classes K, fitted from about {FIT_FROM:,} on:")
            page.table(["cost", *(NAMES[a] for a in ALGORITHMS)], growth_rows(laws))
            page.say_once(growth(laws))
            page.say(crossings(name, lines))
            find(page, name, laws, lines)
    page.say(WHY_EARLIER)
    return page


def _classes(records: Sequence[Record], algorithm: str) -> set[int]:
    return {r["unit"]["n_classes"] for r in records if r["unit"]["algorithm"] == algorithm}


def mean(records: Sequence[Record], name: str) -> float:
    """Return the mean of a figure over seeds."""
    return float(np.mean(values(records, name)))


def table_rows(records: Sequence[Record]) -> list[list[str]]:
    """Return a line per number of classes and method."""
    lines = []
    groups = group(records, "n_classes", "algorithm")
    for n_classes, algorithm in sorted(groups):
        same = groups[n_classes, algorithm]
        cells = [number(mean(same, measure)) for measure in MEASURES]
        classes, rows = (f"{round(mean(same, x)):,}" for x in ("n_classes_seen", "n_train"))
        lines.append(
            [classes, rows, NAMES[algorithm], *cells, number(mean(same, "memory_bytes") / 1e6)]
        )
    return lines


def lines_of(records: Sequence[Record]) -> Lines:
    """Return the records of each method by number of classes, a list of seeds for each."""
    groups = group(records, "algorithm", "n_classes")
    lines: Lines = {}
    for algorithm, n_classes in sorted(groups):
        lines.setdefault(algorithm, []).append(groups[algorithm, n_classes])
    return lines


def classes_of(line: list[list[Record]]) -> list[float]:
    """Return the numbers of classes seen."""
    return [mean(same, "n_classes_seen") for same in line]


def fits(lines: Lines) -> dict[tuple[str, str], PowerLaw]:
    """Return the growth of each measure where there are enough points to tell."""
    laws = {}
    for algorithm, found in lines.items():
        large = [same for same in found if mean(same, "n_classes_seen") >= FIT_FROM / 2]
        if len(large) < 2:
            large = found
        for measure in MEASURES:
            costs = [mean(same, measure) for same in large]
            if len(large) >= 2 and min(costs) > 0:
                laws[algorithm, measure] = fit_power_law(classes_of(large), costs)
    return laws


def growth_rows(laws: dict[tuple[str, str], PowerLaw]) -> list[list[str]]:
    """Return how each measure grows with the number of classes."""

    def cell(law: PowerLaw | None) -> str:
        if law is None:
            return ""
        error = f" ± {law.exponent_error:.2f}" if law.exponent_error else ""
        return f"K^{law.exponent:.2f}{error}"

    return [
        [label, *(cell(laws.get((algorithm, measure))) for algorithm in ALGORITHMS)]
        for measure, label in MEASURES.items()
    ]


def growth(laws: dict[tuple[str, str], PowerLaw]) -> str:
    """Say what the growth means."""
    text = "Linear cost is K^1; poly(log K) looks like a small power of K."
    times, counts = (laws.get(("recall-tree", f"predict_{unit}")) for unit in UNITS)
    if times and counts and times.exponent > counts.exponent + 0.1:
        text += (
            " The Recall Tree's time grows faster than its evaluations, probably because the "
            "weights of more classes miss the caches more often."
        )
    return text


def find(page: Section, name: str, laws: dict[tuple[str, str], PowerLaw], lines: Lines) -> None:
    """Add the paper's claims about cost."""
    counted = [laws.get(("recall-tree", f"{step}_evaluations")) for step in ("train", "predict")]
    if counted[0] and counted[1]:
        page.find(
            "Training and prediction take time poly(log K)",
            answer_of([law.exponent < SMALL for law in counted if law]),
            f"{name}: evaluations grow as "
            + " and ".join(f"K^{law.exponent:.2f}" for law in counted if law),
        )
    both = [found for found in crossing_costs(lines) if found]
    if both:
        small = [
            all_classes[FIT_FROM] < tree[FIT_FROM]
            for tree, all_classes in both
            if FIT_FROM in tree and FIT_FROM in all_classes
        ]
        if small:
            tree, all_classes = both[-1]
            page.find(
                "With 1,000 classes one-against-all is still faster",
                answer_of(small),
                f"{name}: prediction {number(all_classes[FIT_FROM])} µs against "
                f"{number(tree[FIT_FROM])} µs",
            )


def crossing(tree: dict[int, float], all_classes: dict[int, float]) -> str:
    """Say from how many classes on the first of two costs, by number of classes, is the less.

    >>> crossing({100: 9.0, 316: 11.0, 1000: 15.0}, {100: 8.0, 316: 19.0, 1000: 61.0})
    'between 100 and 316 classes'
    >>> crossing({100: 9.0, 316: 11.0}, {100: 10.0, 316: 19.0, 1000: 61.0})
    'below 100 classes, the fewest tried'
    >>> crossing({100: 9.0, 316: 11.0}, {100: 1.0, 316: 3.0})
    'beyond 316 classes, the most tried with both'
    """
    both = sorted(tree.keys() & all_classes.keys())
    dearer = [i for i, n in enumerate(both) if tree[n] >= all_classes[n]]
    if not dearer:
        return f"below {both[0]:,} classes, the fewest tried"
    if dearer[-1] == len(both) - 1:
        return f"beyond {both[-1]:,} classes, the most tried with both"
    return f"between {both[dearer[-1]]:,} and {both[dearer[-1] + 1]:,} classes"


def crossing_costs(lines: Lines) -> list[list[dict[int, float]]]:
    """Return the time of both methods by number of classes, in training and in prediction."""
    if not set(ALGORITHMS) <= lines.keys():
        return []
    return [
        [
            {r[0]["unit"]["n_classes"]: mean(r, f"{step}_microseconds") for r in lines[method]}
            for method in ALGORITHMS
        ]
        for step in ("train", "predict")
    ]


def crossings(name: str, lines: Lines) -> str:
    """Say where the two lines cross in training and in prediction."""
    steps = zip(("training", "prediction"), crossing_costs(lines), strict=False)
    said = [f"in {step} {crossing(*costs)}" for step, costs in steps]
    return f"On {name} the lines of time cross {' and '.join(said)}." if said else ""


def draw(figure: Any, lines: Lines) -> None:
    """Draw time and evaluations, for training and prediction, on logarithmic axes."""
    figure.set_size_inches(7.5, 6.0)
    panels = figure.subplots(2, 2, sharex=True).ravel()
    for axes, (measure, label) in zip(panels, MEASURES.items(), strict=True):
        for i, algorithm in enumerate(ALGORITHMS):
            if found := lines.get(algorithm):
                style = {"label": NAMES[algorithm], "scale": 1.0, **look(i)}
                line(axes, classes_of(found), found, measure, **style)
        axes.set(xscale="log", yscale="log", ylabel=label.replace("hyperplane ", ""))
    for axes in panels[2:]:
        axes.set_xlabel("classes")
    panels[0].legend()


EXPERIMENT = Experiment(
    name="cost",
    title="Cost against the number of classes",
    paper="Training and prediction take time poly(log K); one-against-all was still faster with "
    "1,000 classes (ALOI).",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"rows": 200_000, "seeds": 1, "max_classes": 100_000},
)
