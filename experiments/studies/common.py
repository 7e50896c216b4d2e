"""What the studies share."""

from __future__ import annotations

from typing import Any

from experiments.data.task import Task
from experiments.measured import evaluate, learn, make_model

#: Choices are made on so large a part of the training rows, held out; never on test rows.
VALIDATION_SHARE = 0.1


def passes_of(task: Task, passes: int) -> int:
    """Return how many passes a task is given: the paper makes several over small sets only."""
    return passes if task.is_small else 1


def learn_and_test(
    task: Task,
    algorithm: str,
    parameters: dict[str, Any],
    *,
    seed: int,
    permuted: bool = True,
    passes: int = 1,
    max_test_rows: int | None = None,
) -> tuple[Any, dict[str, Any]]:
    """Train a model on a task, test it, and return both it and what was found."""
    model = make_model(algorithm, seed, **parameters)
    found = learn(model, task, seed if permuted else None, passes_of(task, passes))
    found |= evaluate(model, task, max_test_rows)
    return model, found
