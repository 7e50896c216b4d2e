"""A stream whose classes change their meaning half-way: does the error come back, and how soon?

The labels of the second half are permuted: what was learned of the old ones is wrong. Two other
streams tell what could be hoped for: "undisturbed", the same rows with the labels of the first half
throughout, and "restarted", a model that starts from scratch at the change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.methods import NAMES, make_model
from experiments.report.figures import COLOURS
from experiments.report.section import Section, by_set, group, percent
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("glyphs",)
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all")
#: Half-lives of a count, in multiples of the stream's length; one-against-all has no counts.
HALF_LIVES = (None, 0.01, 0.03, 0.1, 0.3)
N_WINDOWS = 100


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every half-life on the stream that changes, and what to compare with."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for algorithm in budget.algorithms_or(ALGORITHMS):
                same = {"set": name, **budget.size, "algorithm": algorithm, "seed": seed}
                yield {**same, "stream": "undisturbed", "half_life": None}
                for half_life in HALF_LIVES if algorithm != "one-against-all" else (None,):
                    for stream in ("restarted", "changed"):
                        yield {**same, "stream": stream, "half_life": half_life}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn a stream, window by window, and keep the progressive error of each."""
    task = bench.task(unit)
    X, y = next(task.train_batches(unit["seed"]))
    half = len(y) // 2
    if unit["stream"] != "undisturbed":
        labels = np.unique(y)
        moved = np.random.default_rng([unit["seed"], 1]).permutation(len(labels))
        y = y.copy()
        y[half:] = labels[moved[np.searchsorted(labels, y[half:])]]
    start = half if unit["stream"] == "restarted" else 0
    parameters = {}
    if unit["half_life"] is not None:
        parameters["count_decay"] = max(1.0, unit["half_life"] * len(y))
    model = make_model(unit["algorithm"], unit["seed"], **parameters)
    edges = np.linspace(0, len(y), N_WINDOWS + 1).round().astype(int)
    edges = edges[edges >= start]
    ends: list[int] = []
    wrong_so_far = [0.0]
    for begin, end in pairwise(edges):
        model.partial_fit(X[begin:end], y[begin:end])
        ends.append(int(end))
        wrong_so_far.append(model.progressive_error_ * (end - start))
    sizes = np.diff(edges)
    return {
        "n_train": len(y),
        "change_at": half,
        "first": start,
        "ends": ends,
        "window_error": [round(v, 5) for v in (np.diff(wrong_so_far) / sizes).tolist()],
    }


#: Recovered: so soon after the change, as a part of the stream, the error is at most so many times
#: that of a model that began at the change.
WITHIN, RECOVERED = 0.1, 1.1

Curves = dict[tuple[Any, ...], list[Record]]  # (algorithm, stream, half-life) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        f"""The labels of the second half are permuted. A *restarted* model knows nothing when the
        change comes; the labels of an *undisturbed* one do not change. The table has the
        progressive error 5, 10 and 20% of the stream after the change and at the end, each over a
        fiftieth of the stream. A model has recovered if its error 10% after the change is at most
        {RECOVERED:g} times that of a restarted model without decay. The last column compares with
        a restarted model that has the same half-life: a ratio above 1 is due to the weights, which
        do not fade."""
    )
    rows: list[list[str]] = []
    verdicts: list[str] = []
    drawings = []
    for (name, *_), found in by_set(records).items():
        curves = group(found, "algorithm", "stream", "half_life")
        n_train = found[0]["result"]["n_train"]
        for key in order_of(curves):
            rows.append([name, f"{n_train:,}", *row(key, curves)])
        verdicts += [verdict(page, name, algorithm, curves) for algorithm in ALGORITHMS]
        drawings.append((f"drift-{name}-{n_train}", name, curves))
    when = ("after 5%", "after 10%", "after 20%", "at the end")
    times = ("after 10%, times a restarted model's", "with the same half-life")
    page.table(
        ["set", "rows", "method", "stream", "half-life", *when, *times],
        rows,
    )
    for file, name, curves in drawings:
        page.figure(
            file,
            f"Progressive error on {name}, whose labels are permuted half-way",
            partial(draw, curves=curves),
        )
    for text in filter(None, verdicts):
        page.say(text)
    return page


def order_of(curves: Curves) -> list[tuple[Any, ...]]:
    """Return the keys in the order in which they are shown."""
    wanted = [
        (algorithm, stream, half_life)
        for algorithm in ALGORITHMS
        for stream in ("undisturbed", "restarted", "changed")
        for half_life in HALF_LIVES
    ]
    return [key for key in wanted if key in curves]


def window_error(found: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """Return where windows end, as shares of the stream, and the mean error in each."""
    result = found[0]["result"]
    errors = np.mean([record["result"]["window_error"] for record in found], axis=0)
    return np.array(result["ends"]) / result["n_train"], errors


def error_at(found: Sequence[Record], share: float) -> float:
    """Return the error in the two windows that end at a share of the stream."""
    ends, errors = window_error(found)
    last = int(np.argmin(np.abs(ends - share)))
    return float(errors[last - 1 : last + 1].mean())


def times_restarted(key: tuple[Any, ...], curves: Curves, half_life: float | None) -> float | None:
    """Return how many times the error of a restarted model a model has after `WITHIN`."""
    restarted = curves.get((key[0], "restarted", half_life))
    if restarted is None:
        return None
    return error_at(curves[key], 0.5 + WITHIN) / error_at(restarted, 0.5 + WITHIN)


def row(key: tuple[Any, ...], curves: Curves) -> list[str]:
    """Return a line of the table."""
    algorithm, stream, half_life = key
    cells = [percent(error_at(curves[key], 0.5 + after)) for after in (0.05, 0.1, 0.2, 0.5)]
    times = [times_restarted(key, curves, h) for h in (None, half_life)]
    return [
        NAMES[algorithm],
        stream,
        "none" if half_life is None else f"{half_life:g} of the stream",
        *cells,
        *("" if t is None or stream != "changed" else f"{t:.2f}" for t in times),
    ]


def verdict(page: Section, name: str, algorithm: str, curves: Curves) -> str:
    """Say whether a method recovers in time, and with which half-life it is best."""
    changed = {
        key: factor
        for key in curves
        if key[:2] == (algorithm, "changed")
        and (factor := times_restarted(key, curves, None)) is not None
    }
    if not changed:
        return ""
    best = min(changed, key=lambda key: changed[key])
    hoped = error_at(curves[algorithm, "restarted", None], 0.5 + WITHIN)
    half_life = "no decay" if best[2] is None else f"a half-life of {best[2]:g} of the stream"
    recovers = "It recovers" if changed[best] <= RECOVERED else "It does not recover"
    if algorithm == "one-against-some":
        page.answer(
            "Does it recover within a tenth of the stream when all labels change?",
            "yes" if changed[best] <= RECOVERED else "no",
            f"{name}: {changed[best]:.2f} times the error of a restarted model, with {half_life}",
        )
    by_weights = times_restarted(best, curves, best[2])
    slow = ""
    if best[2] is not None and by_weights is not None and by_weights > RECOVERED:
        left = percent(0.5 ** (WITHIN / best[2]))
        slow = (
            f" Old counts are not the only reason: {left}% of them are left by then, and it still "
            f"makes {by_weights:.2f} times the errors of a restarted model with the same half-life."
            " The weights of predictors and routers do not fade."
        )
    return (
        f"**{name}**, {NAMES[algorithm]}: a tenth of the stream after the change the error is "
        f"{percent(error_at(curves[best], 0.5 + WITHIN))}% with {half_life}, the best of those "
        f"tried; a restarted model has {percent(hoped)}%. {recovers} within a tenth of the stream "
        f"({changed[best]:.2f} times; the limit is {RECOVERED:g}).{slow}"
    )


def draw(figure: Any, curves: Curves) -> None:
    """Draw a panel per method: the error in each window."""
    shown = [a for a in ALGORITHMS if any(key[0] == a for key in curves)]
    figure.set_size_inches(7.5, 2.6 * len(shown) + 1.0)
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False).ravel()
    for axes, algorithm in zip(panels, shown, strict=True):
        for key in order_of(curves):
            if key[0] != algorithm or (key[1] == "restarted" and key[2] is not None):
                continue
            ends, errors = window_error(curves[key])
            _, stream, half_life = key
            if stream == "changed":
                i = HALF_LIVES.index(half_life)
                label = "no decay" if half_life is None else f"half-life {half_life:g}"
                look = {"color": COLOURS[i]}
            else:
                label, look = stream, {"color": "#777777"}
                look["linestyle"] = "--" if stream == "restarted" else ":"
            axes.plot(100 * ends, 100 * errors, label=label, **look)
        axes.set(title=NAMES[algorithm], ylabel="progressive error, %", ylim=(0, 102))
    panels[-1].set_xlabel("part of the stream learned, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)


EXPERIMENT = Experiment(
    name="drift",
    title="One-against-some: a stream that changes",
    question="Does the error come back within a tenth of the stream when all classes "
    "change their meaning, and do fading counts (`count_decay`) help?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
)
