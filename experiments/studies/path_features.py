"""Figure 5b: error against the number of candidates, with the different path features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.store import Unit
from experiments.studies.common import learn_and_test

SETS: tuple[str, ...] = ("glyphs",)
CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
#: Name of a kind of path features -> parameters.
KINDS: dict[str, dict[str, Any]] = {
    "none": {"path_features": "none"},
    "leaf": {"path_features": "leaf"},
    "path": {"path_features": "path"},
    "leaf crossed with x": {"path_features": "leaf", "path_interactions": True},
    "path crossed with x": {"path_features": "path", "path_interactions": True},
}


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every number of candidates with every kind of path features."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for n_candidates in CANDIDATES:
                for kind in KINDS:
                    yield {
                        "set": name,
                        **budget.size,
                        "passes": budget.passes,
                        "path_features": kind,
                        "max_candidates": n_candidates,
                        "seed": seed,
                    }


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree."""
    parameters = {**KINDS[unit["path_features"]], "max_candidates": unit["max_candidates"]}
    _, found = learn_and_test(
        bench.task(unit), "recall-tree", parameters, seed=unit["seed"], passes=unit["passes"]
    )
    return found
