"""A full softmax and an adaptive one in PyTorch on the processor, trained with Adam.

They pass over the rows several times: after each pass they are tested on held-out training rows,
and the pass with the fewest errors is kept.
"""

from __future__ import annotations

import copy
import importlib.util
from typing import Any

import numpy as np

HELD_OUT_EVERY = 20
BATCH = 256
RATE = 1e-3
LENGTH = 20.0  # of rows on average, so that weights need not become large
MOST_PASSES = 8


class Softmax:
    """Common part of the two: passes, and the best of them."""

    module = "torch"

    @classmethod
    def is_available(cls) -> bool:
        return importlib.util.find_spec(cls.module) is not None

    def make(self, n_features: int, n_classes: int) -> Any:
        raise NotImplementedError

    def loss(self, rows: Any, labels: Any) -> Any:
        raise NotImplementedError

    def scores(self, rows: Any) -> Any:
        raise NotImplementedError

    def rename(self, y: np.ndarray, n_classes: int) -> None:
        """Choose the order of the classes in the model."""
        self.names = np.arange(n_classes)
        self.places = np.arange(n_classes)

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        import torch

        torch.set_num_threads(1)
        torch.manual_seed(0)
        self.rename(y, n_classes)
        self.scale = np.float32(LENGTH / np.linalg.norm(X, axis=1).mean())
        held_out = np.arange(len(y)) % HELD_OUT_EVERY == 0
        rows = torch.from_numpy(self.scale * X[~held_out])
        labels = torch.from_numpy(self.places[y[~held_out]])
        self.model = self.make(X.shape[1], n_classes)
        steps = torch.optim.Adam(self.model.parameters(), lr=RATE)
        fewest, kept = np.inf, None
        for _ in range(MOST_PASSES):
            for some in torch.randperm(len(rows)).split(BATCH):
                steps.zero_grad()
                self.loss(rows[some], labels[some]).backward()
                steps.step()
            errors = np.mean(self.answer(X[held_out], 1)[:, 0] != y[held_out])
            if errors >= fewest:
                break
            fewest, kept = errors, copy.deepcopy(self.model.state_dict())
        if kept is not None:
            self.model.load_state_dict(kept)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        import torch

        found = []
        with torch.no_grad():
            for rows in torch.from_numpy(self.scale * X).split(BATCH):
                found.append(self.scores(rows).topk(n, dim=1).indices.numpy())
        return self.names[np.vstack(found)]

    def add_class(self, X: np.ndarray, label: int) -> None:
        """The whole model has to be learned again."""

    def model_bytes(self) -> int:
        return sum(weights.nbytes for weights in self.model.parameters())


class FullSoftmax(Softmax):
    """One weight vector per class, all of them in every step."""

    def make(self, n_features: int, n_classes: int) -> Any:
        import torch

        return torch.nn.Linear(n_features, n_classes)

    def loss(self, rows: Any, labels: Any) -> Any:
        import torch

        return torch.nn.functional.cross_entropy(self.model(rows), labels)

    def scores(self, rows: Any) -> Any:
        return self.model(rows)


class AdaptiveSoftmax(Softmax):
    """The most frequent classes beside two clusters of the others (Grave et al., 2017)."""

    def rename(self, y: np.ndarray, n_classes: int) -> None:
        # Frequent classes first, as the method wants them.
        self.names = np.argsort(-np.bincount(y, minlength=n_classes), kind="stable")
        self.places = np.argsort(self.names)

    def make(self, n_features: int, n_classes: int) -> Any:
        import torch

        cutoffs = [max(1, n_classes // 10), max(2, n_classes // 2)]
        return torch.nn.AdaptiveLogSoftmaxWithLoss(
            n_features, n_classes, cutoffs=cutoffs, div_value=2.0
        )

    def loss(self, rows: Any, labels: Any) -> Any:
        return self.model(rows, labels).loss

    def scores(self, rows: Any) -> Any:
        return self.model.log_prob(rows)
