"""Classes that appear late: are they learned as well as if they had come earlier?

Some classes are kept for the last tenth of the stream, mixed there with rows of the others. The
same rows in a random order are what to compare with: every class has the same examples in both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments import sampled_negatives
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.methods import NAMES, make_model, named
from experiments.report.figures import bars
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("glyphs", "webdirectory")
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all", "lom-tree")
STREAMS = ("spread", "late")
#: The last so large a part of the stream has the late classes.
LAST_SHARE = 0.1
#: They have so large a part of all rows: half of the rows where they appear.
LATE_SHARE = 0.05


def units(budget: Budget) -> Iterator[Unit]:
    """Yield both streams for every method."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for algorithm in budget.algorithms_or(ALGORITHMS):
                for stream in STREAMS:
                    yield {
                        "set": name,
                        **budget.size,
                        "algorithm": algorithm,
                        "stream": stream,
                        "seed": seed,
                        **budget.sampling_of(algorithm),
                    }


def late_classes(y: np.ndarray, seed: int) -> np.ndarray:
    """Draw classes until they have `LATE_SHARE` of the rows.

    >>> late = late_classes(np.repeat(np.arange(100), 5), seed=0)
    >>> len(late)
    5
    """
    random = np.random.default_rng([seed, 1])
    classes, counts = np.unique(y, return_counts=True)
    order = random.permutation(len(classes))
    n_rows = np.cumsum(counts[order])
    n_late = int(np.searchsorted(n_rows, LATE_SHARE * len(y))) + 1
    return classes[order[:n_late]]


def order_of_rows(is_late: np.ndarray, stream: str, seed: int) -> np.ndarray:
    """Return a random order; of the stream "late", with the late rows in its last part.

    >>> is_late = np.arange(100) < 5
    >>> np.flatnonzero(is_late[order_of_rows(is_late, "late", 0)]).min() >= 90
    np.True_
    """
    random = np.random.default_rng([seed, 2])
    order = random.permutation(len(is_late))
    if stream == "spread":
        return order
    late, others = order[is_late[order]], order[~is_late[order]]
    n_first = min(len(others), round((1 - LAST_SHARE) * len(order)))
    last = random.permutation(np.concatenate([others[n_first:], late]))
    return np.concatenate([others[:n_first], last])


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn a stream once; test the late classes and the others apart."""
    task = bench.task(unit)
    if not isinstance(task, ArrayTask):
        raise ValueError(f"set {task.name!r} does not fit in memory: choose another")
    data, seed = task.dataset, unit["seed"]
    late = late_classes(data.y_train, seed)
    is_late = np.isin(data.y_train, late)
    order = order_of_rows(is_late, unit["stream"], seed)
    parameters, max_test_rows = _sampling(unit, task)
    model = make_model(unit["algorithm"], seed, **parameters)
    model.partial_fit(data.X_train[order], data.y_train[order])
    test_is_late = np.isin(data.y_test, late)
    found: dict[str, Any] = {
        "n_train": len(order),
        "n_late_classes": len(late),
        "n_late_rows": int(is_late.sum()),
        **parameters,
    }
    for what, where in (("late", test_is_late), ("others", ~test_is_late)):
        rows = np.flatnonzero(where)[:max_test_rows]
        wrong = int(np.sum(model.predict(data.X_test[rows]) != data.y_test[rows]))
        found |= {f"{what}_n_test": len(rows), f"{what}_wrong": wrong}
        found[f"{what}_error"] = wrong / len(rows) if len(rows) else None
    return found


def _sampling(unit: Unit, task: ArrayTask) -> tuple[dict[str, Any], int | None]:
    if unit["algorithm"] != "one-against-all":
        return {}, None
    return sampled_negatives.sampling(task, 1, unit["full_updates"], unit["negative_samples"])


PARTS = {"late": "late classes", "others": "other classes"}

Cells = dict[tuple[Any, ...], list[Record]]  # (algorithm, stream) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        f"""Random classes with {percent(LATE_SHARE, 0)}% of the rows come only in the last
        {percent(LAST_SHARE, 0)}% of the stream, mixed with rows of the other classes (*late*), or
        over the whole stream (*spread*). Their examples are the same. Test error, one pass,
        defaults:"""
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
        verdicts.append(verdict(page, name, cells))
        drawings.append((f"late-classes-{name}-{n_train}", name, cells))
    headings = [f"{part}, {stream}" for part in PARTS.values() for stream in STREAMS]
    page.table(["set", "training rows", "method", *headings], rows)
    for file, name, cells in drawings:
        caption = f"Test error on the late classes and the others of {name}"
        page.figure(file, caption, partial(draw, cells=cells))
    for text in filter(None, verdicts):
        page.say(text)
    return page


def _cells(pair: Sequence[Any]) -> list[str]:
    return [
        with_error(mean_and_error(values(found, f"{part}_error")))
        for part in PARTS
        for found in pair
    ]


def verdict(page: Section, name: str, cells: Cells) -> str:
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
    page.answer(
        "Are classes that appear late learned as well as others?",
        "no" if said.startswith("not") else "yes",
        f"{name}: {percent(late)}% errors if late, {percent(spread)}% if spread",
    )
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


EXPERIMENT = Experiment(
    name="late-classes",
    title="One-against-some: classes that appear late",
    question="Are classes that first appear in the last tenth of the stream learned as "
    "well as if they had come earlier, in proportion to their examples?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"test_rows": None},
)
