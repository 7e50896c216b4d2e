"""A stream whose classes change their meaning half-way: does the error come back, and how soon?

The labels of the second half are permuted: what was learned of the old ones is wrong. Two other
streams tell what could be hoped for: "undisturbed", the same rows with the labels of the first half
throughout, and "restarted", a model that begins anew at the change.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.measured import make_model
from experiments.store import Unit

SETS: tuple[str, ...] = ("glyphs",)
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all")
#: Half-lives of a count, in multiples of the stream's length; one-against-all has no counts.
HALF_LIVES = (None, 0.01, 0.03, 0.1, 0.3)
N_WINDOWS = 100


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every half-life on the stream that changes, and what to compare with."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for algorithm in budget.algorithms_or(ALGORITHMS):
                same = {"set": name, **budget.size, "algorithm": algorithm, "seed": seed}
                yield {**same, "stream": "undisturbed", "half_life": None}
                for half_life in HALF_LIVES if algorithm != "one-against-all" else (None,):
                    for stream in ("restarted", "changed"):
                        yield {**same, "stream": stream, "half_life": half_life}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn a stream, window by window, and keep the progressive error of each."""
    task = bench.task(unit)
    X, y = next(task.train_batches(unit["seed"]))
    half = len(y) // 2
    if unit["stream"] != "undisturbed":
        labels = np.unique(y)
        moved = np.random.default_rng([unit["seed"], 1]).permutation(len(labels))
        y = y.copy()
        y[half:] = labels[moved[np.searchsorted(labels, y[half:])]]
    start = half if unit["stream"] == "restarted" else 0
    parameters = {}
    if unit["half_life"] is not None:
        parameters["count_decay"] = max(1.0, unit["half_life"] * len(y))
    model = make_model(unit["algorithm"], unit["seed"], **parameters)
    edges = np.linspace(0, len(y), N_WINDOWS + 1).round().astype(int)
    edges = edges[edges >= start]
    ends: list[int] = []
    wrong_so_far = [0.0]
    for begin, end in pairwise(edges):
        model.partial_fit(X[begin:end], y[begin:end])
        ends.append(int(end))
        wrong_so_far.append(model.progressive_error_ * (end - start))
    sizes = np.diff(edges)
    return {
        "n_train": len(y),
        "change_at": half,
        "first": start,
        "ends": ends,
        "window_error": [round(v, 5) for v in (np.diff(wrong_so_far) / sizes).tolist()],
    }
