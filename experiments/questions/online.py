"""Figure 5a: a text in its own order against the same text permuted, by progressive error."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.measured import curve_of, learn_and_test
from experiments.report.figures import COLOURS
from experiments.report.section import (
    FAILS,
    HOLDS,
    Section,
    by_set,
    group,
    percent,
    values,
    with_error,
)
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("wikitext", "standard-library")


#: After this many training examples a text becomes another: English Wikipedia, then Simple English.
CHANGES = {"wikitext": 17_650_000}
#: Errors before and after the change are those of this many examples.
STRETCH = 1_000_000


def units(budget: Budget) -> Iterator[Unit]:
    """Yield the text in order, which has no seed, and permuted by each seed."""
    for name in budget.sets_or(SETS):
        yield {"set": name, **budget.size, "order": "in-order", "seed": 0}
        for seed in range(budget.seeds):
            yield {"set": name, **budget.size, "order": "permuted", "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn the text once and keep how the progressive error went."""
    model, found = learn_and_test(
        bench.task(unit),
        "recall-tree",
        {},
        seed=unit["seed"],
        permuted=unit["order"] == "permuted",
    )
    curve = model.progressive_curve_
    n_examples = int(curve["examples"][-1])
    return {
        **found,
        "progressive_wrong": round(found["progressive_error"] * n_examples),
        "progressive_n": n_examples,
        "curve": curve_of(curve, "error", "recent_error"),
    }


PAPER_GAIN = 0.013
Orders = dict[str, list[Record]]  # in-order or permuted -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    for (name, *_), found in by_set(records).items():
        orders = {order: same for (order,), same in group(found, "order").items()}
        n_train = found[0]["result"]["n_train"]
        page.say(f"**{name}**, {n_train:,} examples:")
        page.table(
            ["order", "progressive error", "test error"],
            [
                [
                    order,
                    with_error(mean_and_error(values(same, "progressive_error")), digits=2),
                    with_error(mean_and_error(values(same, "error")), digits=2),
                ]
                for order, same in orders.items()
            ],
        )
        file = f"online-{name}-{n_train}"
        caption = f"Progressive error on {name}, in order and permuted"
        page.figure(file, caption, partial(draw, orders=orders))
        if len(orders) == 2:
            page.say(verdict(name, orders))
            find(page, name, orders)
        if change := change_of(name, orders):
            page.say(
                f"""After {change:,} examples the text changes from English Wikipedia to Simple
                English Wikipedia. The error within each part, and of the permuted text at the same
                moments:"""
            )
            page.table(["part", "in order", "permuted"], part_rows(orders, change))
            page.say(what_changed(orders, change))
            caption = (
                f"Error of the last {STRETCH:,} examples on {name}; the dotted line: the change"
            )
            drawing = partial(draw_recent, change=change, orders=orders)
            page.figure(f"{file}-recent", caption, drawing)
    return page


def change_of(name: str, orders: Orders) -> int | None:
    """Return after how many examples the text changes, if it was learned from its beginning on."""
    if len(orders) < 2 or name not in CHANGES or orders["in-order"][0]["unit"].get("start"):
        return None
    enough = orders["in-order"][0]["result"]["n_train"] >= CHANGES[name] + STRETCH
    return CHANGES[name] if enough else None


def error_between(record: Record, start: int, stop: int) -> float:
    """Return the progressive error of the examples between two moments, by the nearest points."""
    curve = record["result"]["curve"]
    examples = np.array([0, *curve["examples"]])
    wrong = examples * np.array([0.0, *curve["error"]])
    first, last = (int(np.argmin(np.abs(examples - n))) for n in (start, stop))
    return float((wrong[last] - wrong[first]) / (examples[last] - examples[first]))


def both_between(orders: Orders, start: int, stop: int) -> list[float]:
    """Return the error between two moments, in order and permuted."""
    return [error_between(orders[order][0], start, stop) for order in ("in-order", "permuted")]


def part_rows(orders: Orders, change: int) -> list[list[str]]:
    """Return the errors before and after the change, and close to it."""
    n_train = orders["in-order"][0]["result"]["n_train"]
    last = f"the last {STRETCH:,} of"
    parts = {
        "English Wikipedia": (0, change),
        f"{last} English Wikipedia": (change - STRETCH, change),
        f"the first {STRETCH:,} of Simple English": (change, change + STRETCH),
        f"{last} Simple English": (n_train - STRETCH, n_train),
        "Simple English": (change, n_train),
    }
    return [
        [part, *(percent(error, 2) for error in both_between(orders, *places))]
        for part, places in parts.items()
    ]


def what_changed(orders: Orders, change: int) -> str:
    """Say what the change does to the error."""
    record = orders["in-order"][0]
    before, after = (error_between(record, n, n + STRETCH) for n in (change - STRETCH, change))
    moves = "does not rise" if after <= before else f"rises by {percent(after - before, 2)} points"
    ends = range(change + STRETCH, record["result"]["n_train"] + 1, STRETCH // 2)
    lowest, end = min((error_between(record, n - STRETCH, n), n) for n in ends)
    return (
        f"At the change the error in order {moves}, and then it falls. Simple English is easier: "
        "its articles have about 150 words on average instead of 3,600, and many are in series of "
        "one pattern, such as the towns of a province, which a learner sees together only in "
        f"order. The lowest error over {STRETCH:,} examples is {percent(lowest, 2)}%, "
        f"{end / 1e6:g} million examples into the text. The permuted text mixes both parts at all "
        "times, so it is no baseline for one of them: only the whole texts can be compared."
    )


def difference(orders: Orders) -> tuple[float, float, str]:
    """Return what the order is worth, its standard error, and the significance (first seeds)."""
    a, b = (orders[order][0]["result"] for order in ("in-order", "permuted"))
    test = n_minus_1_chi_squared(
        a["progressive_wrong"], a["progressive_n"], b["progressive_wrong"], b["progressive_n"]
    )
    gain = b["progressive_error"] - a["progressive_error"]
    error = gain / math.sqrt(test.statistic) if test.statistic else 0.0
    return gain, abs(error), format_p(test.p_value)


def verdict(name: str, orders: Orders) -> str:
    """Say whether order helps, and how much beside the paper."""
    gain, error, p = difference(orders)
    return (
        f"On {name} the progressive error is {percent(abs(gain), 2)} ± {percent(error, 2)} points "
        f"{'lower' if gain > 0 else 'higher'} in order than permuted ({p}, N-1 chi-squared; ± is "
        f"the standard error that this test implies). In the paper it was "
        f"{percent(PAPER_GAIN)} points lower on LTCB, {number(PAPER_GAIN / gain)} times as much."
    )


def find(page: Section, name: str, orders: Orders) -> None:
    """Add the paper's claim."""
    gain, error, p = difference(orders)
    is_clear = p.startswith("P <")
    page.find(
        "A text is learned better in its own order than permuted",
        HOLDS if gain > 0 and is_clear else FAILS,
        f"{name}: {percent(gain, 2)} ± {percent(error, 2)} points ({p})",
    )


def draw(figure: Any, orders: Orders) -> None:
    """Draw a line per order; a band shows the range over seeds."""
    axes = figure.add_subplot()
    for i, (order, found) in enumerate(orders.items()):
        curves = [record["result"]["curve"] for record in found]
        examples = np.array(curves[0]["examples"])
        errors = 100 * np.array([curve["error"] for curve in curves])
        dashes = "-" if order == "in-order" else "--"
        axes.plot(examples, errors.mean(axis=0), dashes, color=COLOURS[i], label=order)
        if len(curves) > 1:
            low, high = errors.min(axis=0), errors.max(axis=0)
            axes.fill_between(examples, low, high, color=COLOURS[i], alpha=0.25, linewidth=0)
    axes.set(xscale="log", xlabel="examples learned", ylabel="progressive error so far, %")
    axes.legend()


def draw_recent(figure: Any, change: int, orders: Orders) -> None:
    """Draw the error of the last examples, and where the text changes."""
    axes = figure.add_subplot()
    for i, (order, found) in enumerate(orders.items()):
        moments = np.arange(STRETCH, found[0]["result"]["n_train"] + 1, STRETCH // 2)
        errors = [100 * error_between(found[0], n - STRETCH, n) for n in moments]
        dashes = "-" if order == "in-order" else "--"
        axes.plot(moments / 1e6, errors, dashes, color=COLOURS[i], label=order)
    axes.axvline(change / 1e6, color="black", linewidth=0.8, linestyle=":")
    axes.set(xlabel="examples learned, millions", ylabel=f"error of the last {STRETCH:,}, %")
    axes.legend()


EXPERIMENT = Experiment(
    name="online",
    title="Figure 5a: online operation",
    paper="On LTCB the progressive error was 73.3% in the original order and 74.6% permuted "
    "(P < 0.0001).",
    sets=SETS,
    units=units,
    run=run,
    section=section,
)
