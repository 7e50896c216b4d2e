"""The source of Python's standard library as a next-token task: on every machine."""

from __future__ import annotations

import numpy as np
from benchmarks.datasets import Dataset

from experiments.data.task import ArrayTask
from recalltree.demo import contest, tokens

DEFAULT_ROWS = 1_000_000


def load_standard_library(rows: int | None, test_rows: int | None) -> ArrayTask:
    """Load ``rows`` tokens to learn, in the order of the files; a tenth of the files is to test."""
    rows = rows or DEFAULT_ROWS
    n_tokens = rows
    while True:
        corpus = tokens.read_corpus(n_tokens)
        n_train = sum(map(len, corpus.train))
        if n_train >= rows or corpus.n_tokens < n_tokens:  # enough, or all there is
            break
        n_tokens = max(n_tokens + rows - n_train, round(1.1 * n_tokens))
    task = contest.Task.of(corpus)
    if test_rows is not None:
        task = task.sample(test_rows)
    return ArrayTask(
        Dataset(
            name="standard-library",
            key=f"standard-library-{rows}",
            X_train=task.X[:rows],
            y_train=task.y[:rows],
            X_test=task.X_test,
            y_test=task.y_test,
            n_classes=len(np.unique(task.y[:rows])),
        )
    )
