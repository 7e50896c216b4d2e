"""The contest: what each method learns from the same stream, and at what cost."""

from __future__ import annotations

from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.demo.features import feature_rows, histories
from recalltree.demo.tokens import Corpus

#: Two and a half times the default: half of all tokens are names, which are rare one by one.
MAX_CANDIDATES = 150
NEGATIVE_SAMPLES = 64
#: One-against-all compares all classes for each prediction: this many of them are enough.
N_SAMPLED_PREDICTIONS = 4_000


@dataclass(frozen=True)
class Task:
    """Rows of features and the token ids to predict."""

    X: csr_array
    y: NDArray[np.int64]
    X_test: csr_array
    y_test: NDArray[np.int64]

    @classmethod
    def of(cls, corpus: Corpus) -> Task:
        """Make the features of a corpus."""
        (history, y), (history_test, y_test) = histories(corpus.train), histories(corpus.test)
        return cls(feature_rows(history), y, feature_rows(history_test), y_test)

    @property
    def n_classes(self) -> int:
        """Number of distinct tokens to learn."""
        return len(np.unique(self.y))

    @property
    def unseen(self) -> float:
        """Share of the test tokens that do not occur in the files to learn from."""
        return float(np.mean(~np.isin(self.y_test, self.y)))

    def sample(self, n_rows: int, seed: int = 0) -> Task:
        """Return the same task with a random sample of the test rows, if there are more."""
        if n_rows >= len(self.y_test):
            return self
        chosen = np.random.default_rng(seed).choice(len(self.y_test), n_rows, replace=False)
        return Task(self.X, self.y, self.X_test[chosen], self.y_test[chosen])


@dataclass(frozen=True)
class Result:
    """One line of the table: times in µs of CPU per token, memory in bytes, None where void."""

    name: str
    test_error: float
    online_error: float | None = None
    learning_time: float | None = None
    prediction_time: float | None = None
    memory: int | None = None
    is_finished: bool = True


def contestants(seed: int, verbose: int) -> dict[str, Any]:
    """Return the models of the contest: one-against-some as it comes, then the paper's three.

    These have the same base learner. The hinge loss leaves alone what is right by a margin. With so
    many easy negatives that saves most of the updates, and it bounds the margins, without which a
    LOMTree grows very deep.
    """
    common: dict[str, Any] = {"loss": "hinge", "random_state": seed, "verbose": verbose}
    return {
        "One-against-some": OneAgainstSomeClassifier(random_state=seed, verbose=verbose),
        f"Recall Tree, {MAX_CANDIDATES} candidates": RecallTreeClassifier(
            max_candidates=MAX_CANDIDATES, **common
        ),
        f"One-against-all, {NEGATIVE_SAMPLES} negatives": OneAgainstAllClassifier(
            negative_samples=NEGATIVE_SAMPLES, **common
        ),
        "LOMTree": LOMTreeClassifier(**common),
    }


def compete(name: str, model: Any, task: Task) -> Result:
    """Let a model learn the task and measure it; if it is interrupted, as far as it got."""
    if isinstance(model, OneAgainstAllClassifier):
        task = task.sample(N_SAMPLED_PREDICTIONS)
    is_finished = True
    began = process_time()
    try:
        model.partial_fit(task.X, task.y)
    except KeyboardInterrupt:
        if not hasattr(model, "classes_"):
            raise
        is_finished = False
    learned = process_time()
    predicted = model.predict(task.X_test)
    ended = process_time()
    return Result(
        name=name,
        test_error=float(np.mean(predicted != task.y_test)),
        online_error=model.progressive_error_,
        learning_time=1e6 * (learned - began) / model.work_["examples_learned"],
        prediction_time=1e6 * (ended - learned) / len(task.y_test),
        memory=model.memory_bytes_,
        is_finished=is_finished,
    )


def most_frequent(task: Task) -> Result:
    """Measure the answer that needs no features."""
    token = np.bincount(task.y).argmax()
    return Result("Most frequent token", test_error=float(np.mean(task.y_test != token)))
