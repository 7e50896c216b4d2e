"""Generated sets with any number of classes: Gaussians around random centres, short documents."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from benchmarks.datasets import Dataset

N_FEATURES = 32
NOISE = 0.3

#: Of documents: words in all, words of a class, and words of a document, its own and any.
N_WORDS = 100_000
WORDS_OF_CLASS = 12
OWN_WORDS, OTHER_WORDS = 8, 6


def generate_gaussians(n_classes: int, n_train: int, n_test: int, seed: int = 0) -> Dataset:
    """Return rows around one centre per class; the first rows show every class once, if they can.

    >>> dataset = generate_gaussians(5, 20, 10)
    >>> sorted(dataset.y_train[:5].tolist()), dataset.X_test.shape
    ([0, 1, 2, 3, 4], (10, 32))
    """
    random = np.random.default_rng([seed, n_classes])
    centres = random.standard_normal((n_classes, N_FEATURES), dtype=np.float32)
    y = _draw_labels(n_classes, n_train, n_test, random)
    X = random.standard_normal((len(y), N_FEATURES), dtype=np.float32)
    X *= NOISE
    X += centres[y]
    key = f"gaussians-{n_classes}-{n_train}-{n_test}-{seed}"
    return Dataset.split("gaussians", key, X, y, n_train, n_classes)


def generate_documents(n_classes: int, n_train: int, n_test: int, seed: int = 0) -> Dataset:
    """Return counts of words in short documents; the first show every class once, if they can.

    Words are as frequent as in a language, by Zipf's law. A class has a few of its own, which are
    rarer but not its alone; a document has some of these, and some of any kind.

    >>> dataset = generate_documents(5, 20, 10)
    >>> sorted(dataset.y_train[:5].tolist()), dataset.X_test.shape
    ([0, 1, 2, 3, 4], (10, 100000))
    >>> bool((dataset.X_train.sum(axis=1) == 14).all())
    True
    """
    random = np.random.default_rng([seed, n_classes])
    frequencies = 1.0 / (10.0 + np.arange(N_WORDS))
    words_of = _draw(np.sqrt(frequencies), (n_classes, WORDS_OF_CLASS), random)
    y = _draw_labels(n_classes, n_train, n_test, random)
    own = words_of[y[:, None], random.integers(WORDS_OF_CLASS, size=(len(y), OWN_WORDS))]
    words = np.hstack([own, _draw(frequencies, (len(y), OTHER_WORDS), random)])
    indptr = np.arange(len(y) + 1) * words.shape[1]
    ones = np.ones(words.size, dtype=np.float32)
    X = sp.csr_array((ones, words.ravel(), indptr), shape=(len(y), N_WORDS))
    X.sum_duplicates()
    key = f"documents-{n_classes}-{n_train}-{n_test}-{seed}"
    return Dataset.split("documents", key, X, y, n_train, n_classes)


def _draw_labels(
    n_classes: int, n_train: int, n_test: int, random: np.random.Generator
) -> np.ndarray:
    """Draw the labels of all rows: first every class once, as far as training rows go."""
    first = random.permutation(n_classes)[:n_train]
    rest = random.integers(n_classes, size=n_train + n_test - len(first))
    return np.concatenate([first, rest]).astype(np.int32)


def _draw(weights: np.ndarray, shape: tuple[int, ...], random: np.random.Generator) -> np.ndarray:
    """Draw places in proportion to their weights."""
    limits = np.cumsum(weights)
    drawn = np.searchsorted(limits, limits[-1] * random.random(shape), side="right")
    return np.minimum(drawn, len(weights) - 1).astype(np.int32)
