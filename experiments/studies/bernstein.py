"""Section 4.5: the multiplier λ of the empirical Bernstein bound.

A λ beyond all counts makes every bound 0: nothing is ever compared, and every example goes down to
the deepest node. That is what Vowpal Wabbit, with which the paper's figures were made, does if its
λ is 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import ArrayTask, Task
from experiments.store import Unit
from experiments.studies.common import learn_and_test
from experiments.studies.cost import choose_dataset

SETS: tuple[str, ...] = ("wikitext", "wikipassage")
ALWAYS_DESCEND = 1e12
LAMBDAS = (0.0, 0.1, 1.0, 10.0, ALWAYS_DESCEND)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every λ with every seed; a seed is an order of the rows, and a choice of classes."""
    few = {} if budget.max_classes is None else {"n_classes": budget.max_classes}
    for name in budget.sets_or(SETS):
        for bound_lambda in LAMBDAS:
            for seed in range(budget.seeds):
                same = {"set": name, **budget.size, **few}
                yield {**same, "bound_lambda": bound_lambda, "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree."""
    if "n_classes" in unit:
        # As many test rows as the unit says, of the chosen classes.
        dataset = choose_dataset({**unit, "test_rows": None}, bench)
        task: Task = ArrayTask.of(dataset, unit["test_rows"])
    else:
        task = bench.task(unit)
    parameters = {"bound_lambda": unit["bound_lambda"]}
    _, found = learn_and_test(task, "recall-tree", parameters, seed=unit["seed"])
    return found
