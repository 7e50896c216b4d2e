"""The tasks of Ray: pure functions of a base and rows, so that Ray may run them twice."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import ray

from recalltree.merging import merge
from recalltree.ray.shards import Shard
from recalltree.readers import BadRowWarning, open_rows
from recalltree.training import learn_piece
from recalltree.validation import count_threads

#: Models that are merged at once. More are read by one machine, fewer make more models in between.
GROUP = 8


@dataclass(frozen=True)
class Learned:
    """Result of a task."""

    n_rows: int
    n_skipped: int
    seconds: float
    weight: float  # of the rows that count for the progressive error
    errors: float
    warnings: tuple[str, ...] = ()


@ray.remote(num_returns=2)
def learn_shard(
    base: Any, shard: Shard, options: dict[str, Any], pass_number: int
) -> tuple[Any, Learned]:
    """Return the base after the rows of a shard, None if there was no row, and what was done."""
    began = perf_counter()
    clf = _trusted(base)  # this task's own copy
    kept = (getattr(clf, "model_extra_", None) or {}).get("rows", {}).get("state")
    if kept is not None:
        options = {**options, "state": kept}
    frozen = pass_number > 0 and options.get("state") is not None
    before = _progress(clf)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", BadRowWarning)
        # In the order of the shard, and whole batches: the same bytes whoever does it.
        reader = open_rows(list(shard), **{**options, "frozen": frozen})
        n_rows = 0
        for batch in reader:
            learn_piece(clf, batch, 0, len(batch), first_pass=pass_number == 0)
            n_rows += len(batch)
    weight, errors = (now - then for now, then in zip(_progress(clf), before, strict=True))
    told = tuple(str(w.message) for w in caught if issubclass(w.category, BadRowWarning))
    seconds = perf_counter() - began
    done = Learned(n_rows, reader.n_skipped, seconds, weight, errors, told)
    if not n_rows:
        return None, done
    clf.n_iter_ = pass_number + 1
    clf.model_extra_ = {"rows": reader.options}
    # As arrays: merging takes them as they lie in Ray's memory, and makes no learner of them.
    clf._take_model(clf._to_model(), None, mapped=True)
    return clf, done


@ray.remote
def merge_models(n_jobs: int, base: Any, *models: Any) -> Any:
    """Return one model of models that continued from the base."""
    given = [_trusted(model) for model in models if model is not None]
    if len(given) < 2:
        return given[0] if given else None
    base = _trusted(base) if hasattr(base, "_fitted") else None
    return merge(given, base=base, n_jobs=min(n_jobs, count_threads(-1)))


def merge_in_tree(base: Any, models: list[Any], n_jobs: int) -> Any:
    """Return the reference of one model, merged in groups wherever the models are.

    Workers that have learned are idle while models are merged, so that a merge has as many threads
    as all of them had, or as its machine has cores.
    """
    while len(models) > 1:
        groups = [models[i : i + GROUP] for i in range(0, len(models), GROUP)]
        models = [merge_models.remote(n_jobs, base, *g) if len(g) > 1 else g[0] for g in groups]
    return models[0]


def _trusted(model: Any) -> Any:
    """Return a model of this training without the means to check it: it is no file."""
    if hasattr(model, "_fitted"):
        model._fitted = replace(model._fitted, container=None)
    return model


def _progress(clf: Any) -> tuple[float, float]:
    fitted = getattr(clf, "_fitted", None)
    if fitted is None:
        return 0.0, 0.0
    return float(fitted.core.progressive_weight), float(fitted.core.progressive_errors)
