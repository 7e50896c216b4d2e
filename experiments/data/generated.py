"""A generated set with any number of classes: Gaussians around random centres."""

from __future__ import annotations

import numpy as np
from benchmarks.datasets import Dataset

N_FEATURES = 32
NOISE = 0.3


def generate_gaussians(n_classes: int, n_train: int, n_test: int, seed: int = 0) -> Dataset:
    """Return rows around one centre per class; the first rows show every class once, if they can.

    >>> dataset = generate_gaussians(5, 20, 10)
    >>> sorted(dataset.y_train[:5].tolist()), dataset.X_test.shape
    ([0, 1, 2, 3, 4], (10, 32))
    """
    random = np.random.default_rng([seed, n_classes])
    centres = random.standard_normal((n_classes, N_FEATURES), dtype=np.float32)
    first = random.permutation(n_classes)[:n_train]
    rest = random.integers(n_classes, size=n_train + n_test - len(first))
    y = np.concatenate([first, rest]).astype(np.int32)
    X = random.standard_normal((len(y), N_FEATURES), dtype=np.float32)
    X *= NOISE
    X += centres[y]
    return Dataset(
        name="gaussians",
        key=f"gaussians-{n_classes}-{n_train}-{n_test}-{seed}",
        X_train=X[:n_train],
        y_train=y[:n_train],
        X_test=X[n_train:],
        y_test=y[n_train:],
        n_classes=n_classes,
    )
