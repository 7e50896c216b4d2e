"""Table 2 and figure 4: the three methods on every set, with defaults and tuned.

Defaults are the estimators': those of the paper, and what its table does not list as `ablation`
found it. Tuning takes the best of some random probes: on a held-out tenth of the training rows of a
small set, else by progressive validation on the first tenth. The best is then trained on
everything.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import Task
from experiments.measured import evaluate, learn, make_model
from experiments.store import Unit
from experiments.studies import one_against_all, search
from experiments.studies.common import VALIDATION_SHARE, learn_and_test, passes_of

ALGORITHMS = ("recall-tree", "one-against-all", "lom-tree")
SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikipassage", "wikitext")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield, for each set and method: the defaults, the probes, the best of them."""
    for name in budget.sets_or(SETS):
        for algorithm in budget.algorithms_or(ALGORITHMS):
            same: dict[str, Any] = {
                "set": name,
                "algorithm": algorithm,
                **budget.size,
                "passes": budget.passes,
                **budget.sampling_of(algorithm),
            }
            for seed in range(budget.seeds):
                yield {"kind": "default", **same, "seed": seed}
            for number in range(budget.probes):
                yield {"kind": "probe", **same, "probe": number}
            if budget.probes:
                for seed in range(budget.seeds):
                    yield {"kind": "tuned", **same, "seed": seed, "probes": budget.probes}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Do one training."""
    task = bench.task(unit)
    passes = passes_of(task, unit["passes"])
    if unit["kind"] == "probe":
        return _run_probe(unit, task, passes)
    parameters: dict[str, Any] = {}
    if unit["kind"] == "tuned":
        parameters, tuning = _best_probe(unit, bench)
    sampled, max_test_rows = _sampling(unit, task, passes)
    _, found = learn_and_test(
        task,
        unit["algorithm"],
        {**parameters, **sampled},
        seed=unit["seed"],
        passes=passes,
        max_test_rows=max_test_rows,
    )
    found |= {"parameters": parameters, **sampled}
    if sampled:
        found["full_seconds_estimate"] = one_against_all.estimate_full_seconds(task, passes)
    if unit["kind"] == "tuned":
        found["tuning"] = tuning
    return found


def _sampling(unit: Unit, task: Task, passes: int) -> tuple[dict[str, Any], int | None]:
    if unit["algorithm"] != "one-against-all":
        return {}, None
    return one_against_all.sampling(task, passes, unit["full_updates"], unit["negative_samples"])


def _run_probe(unit: Unit, task: Task, passes: int) -> dict[str, Any]:
    parameters = search.probe(unit["algorithm"], task, unit["probe"])
    share = VALIDATION_SHARE
    part = task.hold_out(share, seed=0) if task.is_small else task.head(share)
    sampled, max_test_rows = _sampling(unit, task, passes)  # as the final training will be
    model = make_model(unit["algorithm"], 0, **parameters, **sampled)
    if sampled and not task.is_small:
        error, seconds = one_against_all.learn_validated(model, part)
    else:
        found = learn(model, part, None, passes)
        error, seconds = found["progressive_error"], found["train_seconds"]
        if task.is_small:
            error = evaluate(model, part, max_test_rows)["error"]
    return {
        "parameters": parameters,
        "validation_error": error,
        "n_train": part.n_train,
        "seconds": seconds,
    }


def _best_probe(unit: Unit, bench: Bench) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the best parameters among the probes of the unit's set and method."""
    same = {k: v for k, v in unit.items() if k not in ("kind", "seed", "probes")}
    results = [
        bench.store.get({"kind": "probe", **same, "probe": number})["result"]
        for number in range(unit["probes"])
    ]
    best = min(results, key=lambda result: result["validation_error"])
    seconds = sum(result["seconds"] for result in results)
    tuning = {"validation_error": best["validation_error"], "seconds": seconds}
    return best["parameters"], tuning
