"""One-against-some by number of classes: work and time per example, on average and at most.

As in `cost`, classes are drawn from one set, or generated; here with all their rows. The first half
of these is learned unmeasured, then rows are timed; the last ones are learned and predicted one by
one, to know how much work one example takes at most. Learning, unless it takes long, and prediction
are timed several times, and the shortest is kept.
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
from experiments.data.class_subsets import DOCUMENTS, choose_dataset, units_by_classes
from experiments.experiment import Experiment
from experiments.measured import evaluations, is_recalled
from experiments.methods import NAMES, make_model
from experiments.report.figures import look
from experiments.report.section import Section, group, percent, values
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("wikipassage", DOCUMENTS)
ALGORITHMS = ("one-against-some", "recall-tree")
SMALLEST = 1_000
N_ONE_BY_ONE = 2_000
N_TEST = 20_000
N_LEARNINGS, N_TIMINGS = 3, 5
LONG = 20.0  # seconds

COUNTED = ("evaluations", "entries")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every number of classes; on a set from files, also all of its classes."""
    smallest = min(SMALLEST, budget.max_classes or SMALLEST)
    return units_by_classes(budget, SETS, ALGORITHMS, smallest)


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Measure one method with one number of classes."""
    data = choose_dataset(unit, bench, n_test=N_TEST)
    order = np.random.default_rng(unit["seed"]).permutation(len(data.y_train))
    n_one_by_one = min(N_ONE_BY_ONE, len(order) // 4)
    half = len(order) // 2
    first, timed = order[:half], order[half : len(order) - n_one_by_one]
    single = order[len(order) - n_one_by_one :]
    X, y = data.X_train[timed], data.y_train[timed]
    learnings = []
    for _ in range(N_LEARNINGS):
        model = make_model(unit["algorithm"], unit["seed"])
        model.partial_fit(data.X_train[first], data.y_train[first])
        before = counts(model)
        with Stopwatch() as learning:
            model.partial_fit(X, y)
        learnings.append(learning.times.per_example(len(timed))["cpu"])
        if learning.times.cpu > LONG:
            break
    learned = (counts(model) - before) / len(timed)
    at_most = most_work(model, data.X_train[single], data.y_train[single])
    X_test, y_test = data.X_test[:N_TEST], data.y_test[:N_TEST]
    before = counts(model)
    timings = []
    for _ in range(N_TIMINGS):
        with Stopwatch() as answering:
            answers = model.predict(X_test)
        timings.append(answering.times.per_example(len(y_test))["cpu"])
    answered = (counts(model) - before) / (N_TIMINGS * len(y_test))
    answer_at_most = most_work(model, X_test[:n_one_by_one])
    wrong = int(np.sum(answers != y_test))
    return {
        "n_train": len(order),
        "n_classes_seen": model.n_classes_seen_,
        "n_test": len(y_test),
        "wrong": wrong,
        "error": wrong / len(y_test),
        "candidate_recall": float(is_recalled(model, X_test, y_test).mean()),
        "train_microseconds": min(learnings),
        "predict_microseconds": min(timings),
        **{f"train_{name}": float(learned[i]) for i, name in enumerate(COUNTED)},
        **{f"predict_{name}": float(answered[i]) for i, name in enumerate(COUNTED)},
        **{f"train_most_{name}": int(at_most[i]) for i, name in enumerate(COUNTED)},
        **{f"predict_most_{name}": int(answer_at_most[i]) for i, name in enumerate(COUNTED)},
        "one_by_one": n_one_by_one,
        "memory_bytes": int(model.memory_bytes_),
    }


def counts(model: Any) -> np.ndarray:
    """Return the linear evaluations and the entries of histograms so far."""
    return np.array([evaluations(model), model.work_["histogram_touches"]], dtype=np.int64)


def most_work(model: Any, X: Any, y: np.ndarray | None = None) -> np.ndarray:
    """Return the most work that one row took: to be learned, or predicted if there is no label."""
    most = np.zeros(len(COUNTED), dtype=np.int64)
    for i in range(X.shape[0]):
        before = counts(model)
        row = X[i : i + 1]
        if y is None:
            model.predict(row)
        else:
            model.partial_fit(row, y[i : i + 1])
        most = np.maximum(most, counts(model) - before)
    return most


MEASURES = {
    "train_microseconds": "training, µs",
    "predict_microseconds": "prediction, µs",
    "train_evaluations": "training, linear evaluations",
    "predict_evaluations": "prediction, linear evaluations",
    "train_entries": "training, histogram entries",
    "predict_entries": "prediction, histogram entries",
}
#: Largest number of evaluations for one example.
MOST = {"evaluations": 150, "entries": 4_000}
#: And of the growth of time per example, from so many classes to so many.
GROWTH, FROM, TO = 2.0, 1_000, 100_000

Cells = dict[tuple[Any, ...], list[Record]]  # (algorithm, classes asked for) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """Per example, averaged over half of the rows (training) or the test rows (prediction). In
        brackets: the most that one of up to 2,000 single examples took. Recall: share of the test
        rows whose label is among the candidates. Documents are generated, 100 for each class or as
        many as the limit allows. With only 10 for each class time grew by factors of 2.4 to 3.4 in
        two runs with an earlier version, because examples of few classes then find fewer entries
        to read."""
    )
    for (name, rows), found in group(records, "set", "rows").items():
        cells = group(found, "algorithm", "n_classes")
        cells = dict(sorted(cells.items(), key=lambda item: (_place(item[0][0]), item[0][1])))
        page.say(f"**{name}**{'' if rows is None else f', at most {rows:,} training rows'}:")
        page.table(
            ["method", "classes", "training rows", *MEASURES.values(), "error", "recall", "MB"],
            [row(key[0], same) for key, same in cells.items()],
        )
        page.figure(
            f"scaling-{name}", f"Work and time per example on {name}", partial(draw, cells=cells)
        )
        page.say(growth(page, name, cells))
        page.say(most(name, cells))
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


def growth(page: Section, name: str, cells: Cells) -> str:
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
        if not _place(algorithm):
            page.answer(
                f"Does time per example at most double from {FROM:,} to {TO:,} classes?",
                "yes" if is_within == "yes" else "no",
                f"{name}: {number(times[0])} times in training, {number(times[1])} in prediction",
            )
        listed = "; ".join(f"{MEASURES[m]} {number(f)}" for m, f in factors.items())
        said.append(
            f"{NAMES[algorithm]}, factors from {round(mean(few, 'n_classes_seen')):,} to "
            f"{round(mean(many, 'n_classes_seen')):,} classes: {listed}."
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
        kept = "within" if max(steps) <= limit else "above"
        what = "linear evaluations" if counted == "evaluations" else "histogram entries"
        said.append(
            f"at most {steps[0]:,} {what} to learn and {steps[1]:,} to predict one example "
            f"({kept} the limit of {limit:,})"
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


EXPERIMENT = Experiment(
    name="scaling",
    title="One-against-some: work and time by number of classes",
    question="Does the work of one example stay bounded, and its time within a factor of "
    "two, from 1,000 to 100,000 classes?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"seeds": 1, "max_classes": 100_000},
)
