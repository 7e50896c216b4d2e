"""Figure 5a: a text in its own order against the same text permuted, by progressive error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.store import Unit
from experiments.studies.common import learn_and_test

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
        "curve": {
            "examples": curve["examples"].tolist(),
            "error": [round(value, 5) for value in curve["error"].tolist()],
            "recent_error": [round(value, 5) for value in curve["recent_error"].tolist()],
        },
    }
