"""The rows of some classes of a set: how much everything costs by their number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.datasets import Dataset

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.generated import generate_documents, generate_gaussians
from experiments.data.task import ArrayTask
from experiments.store import Unit

GAUSSIANS, DOCUMENTS = "gaussians", "documents"
#: Generated sets, and their rows per class, of which there are fewer if the budget is smaller.
#: Documents have so many that the words of 1,000 classes have met as many of them as are read.
GENERATED = {GAUSSIANS: (generate_gaussians, 20), DOCUMENTS: (generate_documents, 100)}
N_TEST = 2_000


def numbers_of_classes(largest: int | None) -> list[int]:
    """Return two numbers per power of ten, from 100.

    >>> numbers_of_classes(10_000)
    [100, 316, 1000, 3162, 10000]
    """
    steps = [round(10 ** (2 + i / 2)) for i in range(20)]
    return [n for n in steps if largest is None or n <= largest]


def units_by_classes(
    budget: Budget, sets: tuple[str, ...], algorithms: tuple[str, ...], smallest: int = 0
) -> Iterator[dict[str, Any]]:
    """Yield every number of classes, from the smallest, with every method."""
    for name in budget.sets_or(sets):
        for n_classes in numbers_of_classes(budget.max_classes):
            if n_classes < smallest:
                continue
            for algorithm in budget.algorithms_or(algorithms):
                for seed in range(budget.seeds):
                    yield {
                        "set": name,
                        "algorithm": algorithm,
                        "n_classes": n_classes,
                        "rows": budget.rows,
                        "test_rows": None,
                        "seed": seed,
                    }


def choose_classes(dataset: Dataset, n_classes: int, seed: int) -> Dataset:
    """Return the rows of some classes, drawn at random."""
    random = np.random.default_rng([seed, n_classes])
    chosen = random.permutation(dataset.n_classes)[:n_classes]
    is_chosen = np.zeros(dataset.n_classes, dtype=bool)
    is_chosen[chosen] = True
    in_train, in_test = is_chosen[dataset.y_train], is_chosen[dataset.y_test]
    return replace(
        dataset,
        X_train=dataset.X_train[np.flatnonzero(in_train)],
        y_train=dataset.y_train[in_train],
        X_test=dataset.X_test[np.flatnonzero(in_test)],
        y_test=dataset.y_test[in_test],
        n_classes=len(chosen),
    )


def choose_dataset(unit: Unit, bench: Bench, n_test: int = N_TEST) -> Dataset:
    """Return the rows of as many classes as the unit says, of the set that it names."""
    n_classes, rows = unit["n_classes"], unit["rows"]
    if unit["set"] in GENERATED:
        generate, per_class = GENERATED[unit["set"]]
        n_train = max(2 * n_classes, min(rows or per_class * n_classes, per_class * n_classes))
        return generate(n_classes, n_train, n_test, unit["seed"])
    # All rows are needed to find those of the chosen classes; the limit applies to these.
    task = bench.task({**unit, "rows": None})
    if not isinstance(task, ArrayTask):
        raise ValueError(
            f"set {unit['set']!r} does not fit in memory: classes are chosen from sets that do"
        )
    chosen = choose_classes(task.dataset, n_classes, unit["seed"])
    return (
        chosen
        if rows is None
        else replace(chosen, X_train=chosen.X_train[:rows], y_train=chosen.y_train[:rows])
    )
