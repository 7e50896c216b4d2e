"""Choices that the paper leaves open: router weighting, order of routing, path features, decay.

The defaults follow what is found here, so it is found on rows held out from the training rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import SETS as CATALOGUE
from experiments.store import Unit
from experiments.studies.common import VALIDATION_SHARE, learn_and_test

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikitext", "standard-library")
WEIGHTINGS = ("total_entropy", "entropy", "unit")
ORDERS = ("route_first", "update_first")
PATH_FEATURES = ("none", "leaf", "path")
#: Half-lives of a count, in multiples of the training rows.
HALF_LIVES = (0.03, 0.1, 0.3, 1.0, 3.0)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield path features and weightings, each crossed with orders, then half-lives."""
    for name in budget.sets_or(SETS):
        # A text has one order, and the tree draws nothing at random.
        for seed in range(1 if CATALOGUE[name].is_text else budget.seeds):
            same = {"set": name, **budget.size, "passes": budget.passes, "seed": seed}
            for path_features, order in itertools.product(PATH_FEATURES, ORDERS):
                yield {
                    "kind": "path",
                    **same,
                    "path_features": path_features,
                    "routing_order": order,
                }
            for weighting, order in itertools.product(WEIGHTINGS, ORDERS):
                yield {
                    "kind": "routing",
                    **same,
                    "router_weighting": weighting,
                    "routing_order": order,
                }
            for half_life in HALF_LIVES:
                yield {"kind": "decay", **same, "half_life": half_life}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree; texts are learned in their own order, for decay is about change."""
    task = bench.task(unit).hold_out(VALIDATION_SHARE, seed=0)
    if unit["kind"] == "decay":
        parameters = {"count_decay": unit["half_life"] * task.n_train}
    else:
        chosen = ("path_features", "router_weighting", "routing_order")
        parameters = {name: unit[name] for name in chosen if name in unit}
    _, found = learn_and_test(
        task,
        "recall-tree",
        parameters,
        seed=unit["seed"],
        permuted=not CATALOGUE[task.name].is_text,
        passes=unit["passes"],
    )
    return found
