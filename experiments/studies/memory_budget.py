"""A limit of memory: what does it cost in errors to keep a half, a quarter, an eighth?

Shares are of the bytes that the model takes without a limit, after the same rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.measured import evaluate, learn, make_model
from experiments.store import Unit

SETS: tuple[str, ...] = ("webdirectory", "wikipassage")
#: Of the bytes without a limit; None is no limit.
SHARES = (None, 1 / 2, 1 / 4, 1 / 8)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every share; the model without a limit comes first."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for share in SHARES:
                yield {"set": name, **budget.size, "share": share, "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn once, in the order of the seed, and test."""
    task = bench.task(unit)
    budget = None
    if unit["share"] is not None:
        without = bench.store.get({**unit, "share": None})["result"]
        budget = int(unit["share"] * without["memory_bytes"])
        if budget < without["fixed_bytes"]:
            return {"n_train": task.n_train, "left_out": "is less than what cannot be forgotten"}
    model = make_model("one-against-some", unit["seed"], memory_budget=budget)
    found = learn(model, task, unit["seed"])
    core = model._fitted_core()
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
