"""Settings that tuning tries: a random probe of a space by its number, or settings of a list."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import ParameterSampler

from experiments.data.catalogue import DENSE, SPARSE
from experiments.data.task import ArrayTask, Task

# Ranges follow the scripts of the paper's authors: learning rate uniform in [0.1, 4], depth a few
# around log2 K, candidates 1.5 to 7 times log2 K, λ log-uniform in [0.01, 10].
LEARNING_RATE = stats.uniform(0.1, 3.9)
#: Ranges around the defaults of one-against-some: 100 candidates and 4 trees of depth 7 if trees
#: vote; 24 candidates, 512 labels of a feature and 1,024 entries if features do.
VOTES_OF_TREES = {
    "max_candidates": stats.randint(50, 201),
    "n_trees": stats.randint(2, 13),
    "max_depth": stats.randint(5, 10),
}
VOTES_OF_FEATURES = {
    "max_candidates": stats.randint(12, 65),
    "max_labels": [128, 256, 512, 1024, 2048],
    "max_entries": [512, 1024, 2048, 4096],
}

#: Changes tried one by one for one-against-some, by kind of data; the first is the defaults.
LISTED: dict[str, list[dict[str, Any]]] = {
    DENSE: [
        {},
        {"n_passes": 3},
        {"n_passes": 3, "n_trees": 8, "max_candidates": 140},
        {"n_passes": 3, "n_trees": 8, "max_candidates": 140, "learning_rate": 0.7},
        {"n_passes": 6, "n_trees": 8, "max_candidates": 140},
        {"n_passes": 6, "n_trees": 12, "max_candidates": 200},
    ],
    SPARSE: [
        {},
        {"n_passes": 3},
        {"n_passes": 3, "max_candidates": 48, "max_entries": 2048},
        {"n_passes": 3, "learning_rate": 0.7},
        {"n_passes": 3, "max_labels": 2048, "max_entries": 4000, "feature_dropout": 0.4},
        {
            "n_passes": 4,
            "max_labels": 2048,
            "max_entries": 4000,
            "feature_dropout": 0.4,
            "learning_rate": 0.8,
        },
        {
            "n_passes": 4,
            "max_labels": 2048,
            "max_entries": 4000,
            "feature_dropout": 0.3,
            "learning_rate": 0.7,
        },
    ],
}


def is_dense(task: Task) -> bool:
    """Tell whether the rows are dense, so that trees vote."""
    return isinstance(task, ArrayTask) and isinstance(task.dataset.X_train, np.ndarray)


def space(algorithm: str, task: Task) -> dict[str, Any]:
    """Return what a search draws from."""
    log_classes = max(2, math.ceil(math.log2(task.n_classes)))
    if algorithm == "one-against-all":
        return {"learning_rate": LEARNING_RATE}
    if algorithm == "lom-tree":
        return {
            "learning_rate": LEARNING_RATE,
            "swap_resistance": [1.0, 2.0, 4.0, 8.0],
            "max_nodes": [n * task.n_classes for n in (1, 2, 4)],
        }
    if algorithm == "one-against-some":
        voters = VOTES_OF_TREES if is_dense(task) else VOTES_OF_FEATURES
        return {"learning_rate": LEARNING_RATE, **voters}
    # Path features crossed with x are left out: `path-features` finds more errors with them, and
    # they take many times the time.
    return {
        "learning_rate": LEARNING_RATE,
        "max_depth": stats.randint(max(1, log_classes - 4), log_classes + 3),
        "max_candidates": stats.randint(math.ceil(1.5 * log_classes), 7 * log_classes + 1),
        "bound_lambda": stats.loguniform(0.01, 10),
        "path_features": ["leaf", "path", "none"],
        "routing_order": ["route_first", "update_first"],
    }


def probe(algorithm: str, task: Task, number: int) -> dict[str, Any]:
    """Return the parameters of one probe; a number gives the same ones every time."""
    (drawn,) = ParameterSampler(space(algorithm, task), n_iter=1, random_state=number)
    return {name: _plain(value) for name, value in drawn.items()}


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
