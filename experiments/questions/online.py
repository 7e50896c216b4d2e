"""Figure 5a: a text in its own order against the same text permuted, by progressive error."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.measured import curve_of, learn_and_test
from experiments.report.figures import COLOURS
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("wikitext", "standard-library")


#: After so many training examples a text becomes another: English Wikipedia, then Simple English.
CHANGES = {"wikitext": 17_650_000}
#: Errors before and after the change are those of so many examples.
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
#: With fewer examples a text is called short; LTCB has about 10^8.
FEW = 10_000_000


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    rows: list[list[str]] = []
    verdicts: list[str] = []
    drawings = []
    for (name, *_), found in by_set(records).items():
        by_order = group(found, "order")
        for (order,), same in by_order.items():
            rows.append(
                [
                    name,
                    f"{same[0]['result']['n_train']:,}",
                    order,
                    with_error(mean_and_error(values(same, "progressive_error")), digits=2),
                    with_error(mean_and_error(values(same, "error")), digits=2),
                ]
            )
        if len(by_order) == 2:
            verdicts.append(verdict(name, by_order[("in-order",)], by_order[("permuted",)]))
            verdicts.append(what_changed(name, by_order))
        drawings.append((f"online-{name}-{found[0]['result']['n_train']}", name, by_order))
    page.table(["set", "examples", "order", "progressive error", "test error"], rows)
    for text in filter(None, verdicts):
        page.say(text)
    for file, name, by_order in drawings:
        caption = f"Progressive error on {name}, in order and permuted"
        page.figure(file, caption, partial(draw, by_order=by_order))
        if change := change_of(name, by_order):
            caption = f"Error of the last {STRETCH:,} examples on {name}"
            drawing = partial(draw_recent, change=change, by_order=by_order)
            page.figure(f"{file}-recent", caption, drawing)
    return page


def change_of(name: str, by_order: dict[tuple[Any, ...], list[Record]]) -> int | None:
    """Return after how many examples the text changes, if it was learned from its beginning on."""
    first = by_order.get(("in-order",))
    if first is None or name not in CHANGES or first[0]["unit"].get("start"):
        return None
    enough = first[0]["result"]["n_train"] >= CHANGES[name] + STRETCH
    return CHANGES[name] if enough else None


def error_between(record: Record, start: int, stop: int) -> float:
    """Return the progressive error of the examples between two moments, by the nearest points."""
    curve = record["result"]["curve"]
    examples = np.array([0, *curve["examples"]])
    wrong = examples * np.array([0.0, *curve["error"]])
    first, last = (int(np.argmin(np.abs(examples - n))) for n in (start, stop))
    return float((wrong[last] - wrong[first]) / (examples[last] - examples[first]))


def what_changed(name: str, by_order: dict[tuple[Any, ...], list[Record]]) -> str:
    """Say what the change of the text does to the error."""
    change = change_of(name, by_order)
    if change is None:
        return ""
    n_train = by_order[("in-order",)][0]["result"]["n_train"]
    places = (change - STRETCH, change, n_train - STRETCH)
    (before, after, at_last), permuted = (
        [error_between(by_order[(order,)][0], n, n + STRETCH) for n in places]
        for order in ("in-order", "permuted")
    )
    return (
        f"Where the text changes from English Wikipedia to Simple English, after {change:,} "
        f"examples, the error in order is {percent(before, 2)}% over the {STRETCH:,} examples "
        f"before and {percent(after, 2)}% over as many after; over the last ones it is "
        f"{percent(at_last, 2)}%. Permuted, at the same moments: "
        f"{'%, '.join(percent(error, 2) for error in permuted)}%."
    )


def verdict(name: str, in_order: list[Record], permuted: list[Record]) -> str:
    """Say whether order helps, and whether the paper found the same."""
    a, b = in_order[0]["result"], permuted[0]["result"]
    test = n_minus_1_chi_squared(
        a["progressive_wrong"], a["progressive_n"], b["progressive_wrong"], b["progressive_n"]
    )
    gain = b["progressive_error"] - a["progressive_error"]
    if test.p_value >= 1e-4:
        agreement = "At this size, no significant difference; the paper saw 1.3 points on LTCB."
    elif gain > 0:
        agreement = "This agrees with the paper, which saw 1.3 points on LTCB."
        if gain < PAPER_GAIN / 2:
            agreement += f" It is {gain / PAPER_GAIN:.2f} times as much here."
            if a["progressive_n"] < FEW:
                agreement += " A likely reason: less text changes less."
    else:
        agreement = "The paper saw the opposite on LTCB, by 1.3 points."
    return (
        f"**{name}**: the progressive error is {percent(abs(gain), 2)} points "
        f"{'lower' if gain > 0 else 'higher'} in order than permuted "
        f"({format_p(test.p_value)}, N-1 chi-squared). {agreement}"
    )


def draw(figure: Any, by_order: dict[tuple[Any, ...], list[Record]]) -> None:
    """Draw a line per order; a band shows the range over seeds."""
    axes = figure.add_subplot()
    for i, ((order,), found) in enumerate(by_order.items()):
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


def draw_recent(figure: Any, change: int, by_order: dict[tuple[Any, ...], list[Record]]) -> None:
    """Draw the error of the last examples, and where the text changes."""
    axes = figure.add_subplot()
    for i, ((order,), found) in enumerate(by_order.items()):
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
