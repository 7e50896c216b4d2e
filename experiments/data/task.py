"""A task: training and test rows that come in batches, in their order or permuted."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from benchmarks.datasets import Dataset

Batch = tuple[Any, np.ndarray]  # rows of features (dense or CSR, float32) and their labels


class Task(ABC):
    """Rows to learn from and rows to test on.

    Attributes
    ----------
    name : str
    n_classes, n_features, n_train, n_test : int
    is_small : bool
        Whether the paper's methodology for small sets applies: several passes, rows held out.
    """

    name: str
    n_classes: int
    n_features: int
    n_train: int
    n_test: int
    is_small: bool

    @abstractmethod
    def train_batches(self, seed: int | None = None) -> Iterator[Batch]:
        """Yield the training rows in their order, or permuted by a seed."""

    @abstractmethod
    def test_batches(self) -> Iterator[Batch]:
        """Yield the test rows."""

    @abstractmethod
    def head(self, share: float) -> Task:
        """Return the task with the first part of the training rows; the test rows stay."""

    def hold_out(self, fraction: float, seed: int) -> Task:
        """Return the task with some training rows, drawn at random, in place of the test rows."""
        raise ValueError(f"set {self.name!r} is read from files: no rows of it can be held out")


@dataclass(frozen=True)
class ArrayTask(Task):
    """A set whose rows fit in memory: one batch."""

    dataset: Dataset
    is_small: bool = False

    @classmethod
    def of(
        cls, dataset: Dataset, test_rows: int | None = None, is_small: bool = False
    ) -> ArrayTask:
        """Keep the first ``test_rows`` of the test rows."""
        if test_rows is not None:
            dataset = replace(
                dataset, X_test=dataset.X_test[:test_rows], y_test=dataset.y_test[:test_rows]
            )
        return cls(dataset, is_small)

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.dataset.name

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return self.dataset.n_classes

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return self.dataset.n_features

    @property
    def n_train(self) -> int:  # type: ignore[override]
        return len(self.dataset.y_train)

    @property
    def n_test(self) -> int:  # type: ignore[override]
        return len(self.dataset.y_test)

    def train_batches(self, seed: int | None = None) -> Iterator[Batch]:
        X, y = self.dataset.X_train, self.dataset.y_train
        if seed is not None:
            order = np.random.default_rng(seed).permutation(len(y))
            X, y = X[order], y[order]
        yield X, y

    def test_batches(self) -> Iterator[Batch]:
        yield self.dataset.X_test, self.dataset.y_test

    def head(self, share: float) -> ArrayTask:
        n = max(1, round(share * self.n_train))
        part = replace(
            self.dataset,
            key=f"{self.dataset.key}-first-{n}",
            X_train=self.dataset.X_train[:n],
            y_train=self.dataset.y_train[:n],
        )
        return replace(self, dataset=part)

    def hold_out(self, fraction: float, seed: int) -> ArrayTask:
        order = np.random.default_rng(seed).permutation(self.n_train)
        n_held_out = max(1, round(fraction * self.n_train))
        kept, aside = np.sort(order[n_held_out:]), np.sort(order[:n_held_out])
        X, y = self.dataset.X_train, self.dataset.y_train
        part = replace(
            self.dataset,
            key=f"{self.dataset.key}-held-out-{seed}",
            X_train=X[kept],
            y_train=y[kept],
            X_test=X[aside],
            y_test=y[aside],
        )
        return replace(self, dataset=part)
