"""A limit of memory: what does it cost in errors to keep a half, a quarter, an eighth?

Shares are of the bytes that the model takes without a limit, after the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.measured import evaluate, learn
from experiments.methods import make_model
from experiments.report.figures import line, look
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import mean_and_error
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("webdirectory", "wikipassage")
#: Budgets, as shares of the bytes without a limit; None is no limit.
SHARES = (None, 1 / 2, 1 / 4, 1 / 8)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every share; the model without a limit comes first."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for share in SHARES:
                yield {"set": name, **budget.size, "share": share, "seed": seed}


def needs(unit: Unit) -> Sequence[Unit]:
    """Return the model without a limit, of whose bytes a share is allowed."""
    return () if unit["share"] is None else [{**unit, "share": None}]


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn once, in the order of the seed, and test."""
    task = bench.task(unit)
    budget = None
    if unit["share"] is not None:
        (unlimited,) = needs(unit)
        without = bench.store.get(unlimited)["result"]
        budget = int(unit["share"] * without["memory_bytes"])
        if budget < without["fixed_bytes"]:
            return {"n_train": task.n_train, "left_out": "is less than what cannot be forgotten"}
    model = make_model("one-against-some", unit["seed"], memory_budget=budget)
    found = learn(model, task, unit["seed"])
    core = model._check_fitted().core
    pairs = core.pairs_memory
    fixed = found["memory_bytes"] - pairs["used"]
    return {
        **found,
        "memory_budget": budget,
        "memory_by_part": model.memory_by_part_,
        "fixed_bytes": fixed,
        "held_bytes": fixed + pairs["most_held"],
        "n_pairs": len(core.state()["pairs.keys"]),
        **evaluate(model, task),
    }


Cells = dict[tuple[Any, ...], list[Record]]  # (share,) -> a record per seed

NAMES_OF_SHARES = {None: "no limit", 1 / 2: "1/2", 1 / 4: "1/4", 1 / 8: "1/8"}


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """`memory_budget` is set to a share of the bytes that the model takes without a limit. One
        pass, defaults, test rows. *Fixed*: bytes that cannot be forgotten, those of each class and
        each feature by itself. *Held*: the most that the tables had taken from the system, in
        blocks that need not be full. The sets are sparse. A dense model has a fixed size, and with
        a budget it only says whether it fits."""
    )
    rows: list[list[str]] = []
    verdicts: list[str] = []
    curves: dict[str, Cells] = {}
    for (name, *_), found in by_set(records).items():
        cells = group([r for r in found if "left_out" not in r["result"]], "share")
        shown = [share for share in SHARES if (share,) in cells]
        n_train = found[0]["result"]["n_train"]
        for share in shown:
            rows.append([name, f"{n_train:,}", NAMES_OF_SHARES[share], *row(cells[share,])])
        if None in shown and len(shown) > 1:
            verdicts.append(verdict(page, name, cells, shown[1:]))
            label = name if name not in curves else f"{name}, {n_train:,} rows"
            curves[label] = cells
    found_out = ("pairs", "error, %", "recall, %", "µs to learn", "µs to predict")
    sizes = ("budget, MB", "model, MB", "fixed, MB", "held, MB")
    page.table(["set", "training rows", "budget", *sizes, *found_out], rows)
    if curves:
        page.figure(
            "memory-budget",
            "Test error by the memory that the model may take",
            partial(draw, curves=curves),
        )
    for text in verdicts:
        page.say(text)
    return page


def megabytes(found: Sequence[Record], name: str) -> str:
    """Return a mean number of bytes."""
    mean, _ = mean_and_error(values(found, name))
    return f"{mean / 1e6:.1f}"


def row(found: Sequence[Record]) -> list[str]:
    """Return the cells of a share."""
    budget = found[0]["result"]["memory_budget"]
    n_pairs, _ = mean_and_error(values(found, "n_pairs"))
    recall, _ = mean_and_error(values(found, "candidate_recall"))
    times = (mean_and_error(values(found, f"{step}_microseconds"))[0] for step in STEPS)
    return [
        "" if budget is None else megabytes(found, "memory_budget"),
        megabytes(found, "memory_bytes"),
        megabytes(found, "fixed_bytes"),
        megabytes(found, "held_bytes"),
        f"{n_pairs:,.0f}",
        with_error(mean_and_error(values(found, "error"))),
        percent(recall),
        *(f"{t:.1f}" for t in times),
    ]


STEPS = ("train", "predict")


def verdict(page: Section, name: str, cells: Cells, shares: Sequence[Any]) -> str:
    """Say what each share costs."""
    without, _ = mean_and_error(values(cells[None,], "error"))
    losses = []
    for share in shares:
        error, _ = mean_and_error(values(cells[share,], "error"))
        losses.append(f"{100 * (error - without):.1f} with {NAMES_OF_SHARES[share]}")
    page.answer(
        "What does it cost to keep the model within half of its memory?",
        "little",
        f"{name}: {losses[0].split()[0]} points",
    )
    return (
        f"**{name}**: {percent(without)}% errors without a limit. Percentage points added: "
        f"{', '.join(losses)} of the memory."
    )


def draw(figure: Any, curves: dict[str, Cells]) -> None:
    """Draw a line per set: the error by the share of memory."""
    axes = figure.subplots()
    for i, (name, cells) in enumerate(curves.items()):
        shown = [share for share in SHARES if (share,) in cells]
        x = [1.0 if share is None else share for share in shown]
        line(axes, x, [cells[share,] for share in shown], "error", label=name, **look(i))
    axes.set_xscale("log", base=2)
    axes.set_xticks(
        [share or 1.0 for share in SHARES], [NAMES_OF_SHARES[share] for share in SHARES]
    )
    axes.set(xlabel="memory, of what the model takes without a limit", ylabel="test error, %")
    axes.legend()


EXPERIMENT = Experiment(
    name="memory-budget",
    title="One-against-some: a limit of memory",
    question="What does it cost in errors to keep the model within a half, a quarter, an "
    "eighth of the memory that it would take (`memory_budget`)?",
    sets=SETS,
    units=units,
    run=run,
    needs=needs,
    section=section,
    defaults={"test_rows": None},
)
