"""The methods that are compared: what each is called, its estimator, and how the paper has it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from experiments.store import Record
from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)


@dataclass(frozen=True)
class Method:
    """One method.

    Attributes
    ----------
    name : as it stands in tables and figures
    estimator : None where it is none of the package's
    as_in_the_paper : parameters whose defaults have gone past the paper
    """

    name: str
    estimator: type[Any] | None = None
    as_in_the_paper: dict[str, Any] = field(default_factory=dict)


METHODS = {
    "one-against-some": Method("one-against-some", OneAgainstSomeClassifier),
    "recall-tree": Method("Recall Tree", RecallTreeClassifier, {"min_gradient": 0.0}),
    "one-against-all": Method("one-against-all", OneAgainstAllClassifier),
    "lom-tree": Method("LOMTree", LOMTreeClassifier),
    "averaged-embeddings": Method("averaged embeddings"),
}
NAMES = {algorithm: method.name for algorithm, method in METHODS.items()}


def make_model(algorithm: str, seed: int, **parameters: Any) -> Any:
    """Return an estimator with one thread; the paper's are as the paper has them."""
    method = METHODS[algorithm]
    if method.estimator is None:
        raise ValueError(f"{algorithm!r} is no estimator of the package")
    parameters = {**method.as_in_the_paper, **parameters}
    return method.estimator(random_state=seed, n_jobs=1, **parameters)


def n_negatives(record: Record) -> float:
    """Return how many negatives of an example were learned; infinite if all of them were."""
    return record["result"].get("negative_samples") or math.inf


def named(algorithm: str, record: Record) -> str:
    """Return the name of a method, with the negatives that it samples, if it does."""
    sampled = record["result"].get("negative_samples")
    return NAMES[algorithm] + (f", {sampled} negatives" if sampled else "")
