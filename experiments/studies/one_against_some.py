"""One-against-some beside the other methods, one pass, defaults: on sets and on a text.

On a set, test error. On a text in its own order, progressive error: each word is predicted just
before it is learned.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from experiments.averaged_embeddings import AveragedEmbeddings
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import SETS as CATALOGUE
from experiments.data.task import Task
from experiments.measured import learn, make_model
from experiments.store import Unit
from experiments.studies import one_against_all
from experiments.studies.common import learn_and_test

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikipassage", "wikitext")
ALGORITHMS = ("one-against-some", "recall-tree", "one-against-all", "lom-tree")
EMBEDDINGS = "averaged-embeddings"
TEXT_ALGORITHMS = ("one-against-some", "recall-tree", "lom-tree", EMBEDDINGS)
#: Rates of the embeddings: the best on the first tenth of the text is taken.
RATES = (0.1, 0.25, 0.5, 1.0)
RATE_SHARE = 0.1
#: The embeddings answer every so many words: an answer takes them longer than learning.
ANSWER_EVERY = 8
N_MOMENTS = 64


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every method on every set; a text has one order and so no seeds."""
    for name in budget.sets_or(SETS):
        is_text = CATALOGUE[name].is_text
        for algorithm in budget.algorithms_or(TEXT_ALGORITHMS if is_text else ALGORITHMS):
            for seed in range(1 if is_text else budget.seeds):
                yield {
                    "kind": "progressive" if is_text else "test",
                    "set": name,
                    "algorithm": algorithm,
                    **budget.size,
                    "seed": seed,
                    **budget.sampling_of(algorithm),
                }


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn in one pass and test, or learn a text in its order."""
    task = bench.task(unit)
    if unit["algorithm"] == EMBEDDINGS:
        return _embeddings(task, unit["seed"])
    if unit["kind"] == "progressive":
        return _text(task, unit)
    sampled: dict[str, Any] = {}
    max_test_rows = None
    if unit["algorithm"] == "one-against-all":
        sampled, max_test_rows = one_against_all.sampling(
            task, 1, unit["full_updates"], unit["negative_samples"]
        )
    _, found = learn_and_test(
        task, unit["algorithm"], sampled, seed=unit["seed"], max_test_rows=max_test_rows
    )
    return {**found, **sampled}


def _text(task: Task, unit: Unit) -> dict[str, Any]:
    model = make_model(unit["algorithm"], unit["seed"])
    found = learn(model, task)
    curve = model.progressive_curve_
    return {
        **found,
        "n_judged": found["n_train"],
        "curve": {
            "examples": curve["examples"].tolist(),
            "error": [round(value, 5) for value in curve["error"].tolist()],
        },
    }


def _embeddings(task: Task, seed: int) -> dict[str, Any]:
    """Choose a rate on the first words, then learn the text."""
    head = task.head(RATE_SHARE)
    tried = {rate: _learn_embeddings(head, rate, seed)["progressive_error"] for rate in RATES}
    rate = min(tried, key=lambda rate: tried[rate])
    found = _learn_embeddings(task, rate, seed)
    return {**found, "learning_rate": rate, "rates": {str(r): e for r, e in tried.items()}}


def _learn_embeddings(task: Task, rate: float, seed: int) -> dict[str, Any]:
    counts = np.bincount(np.concatenate([y for _, y in task.train_batches()]))
    model = AveragedEmbeddings(task.n_features, counts, rate, seed=seed)
    wrong: list[bool] = []
    n_learned = 0
    for X, y in task.train_batches():
        for i in range(len(y)):
            features = X.indices[X.indptr[i] : X.indptr[i + 1]]
            if n_learned % ANSWER_EVERY == 0:
                wrong.append(model.predict(features) != y[i])
            n_learned += 1
            model.learn(features, int(y[i]))
    so_far = np.cumsum(wrong) / np.arange(1, len(wrong) + 1)
    moments = np.unique(np.geomspace(1, len(wrong), N_MOMENTS).round().astype(int)) - 1
    return {
        "n_train": task.n_train,
        "n_classes": task.n_classes,
        "progressive_error": float(so_far[-1]),
        "n_judged": len(wrong),
        "memory_bytes": model.embeddings.nbytes + model.deciders.nbytes,
        "curve": {
            "examples": ((moments + 1) * ANSWER_EVERY).tolist(),
            "error": [round(float(value), 5) for value in so_far[moments]],
        },
    }
