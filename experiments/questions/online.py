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
        drawings.append((f"online-{name}-{found[0]['result']['n_train']}", name, by_order))
    page.table(["set", "examples", "order", "progressive error", "test error"], rows)
    for text in verdicts:
        page.say(text)
    for file, name, by_order in drawings:
        caption = f"Progressive error on {name}, in order and permuted"
        page.figure(file, caption, partial(draw, by_order=by_order))
    return page


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
            agreement += (
                " It is less here; a likely reason is that less text changes less: LTCB has a "
                f"billion characters, and here are {a['progressive_n']:,} examples."
            )
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
