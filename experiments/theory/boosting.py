"""The theorem of section 3.3: a tree that splits its largest leaf first, and its bounds.

W is the entropy of the labels in the leaves, weighted by their shares f of the examples. A split
of leaf n has the advantage γ_n = H_n - (f_l H_l + f_r H_r) / f_n. The proof adds up that the i-th
split, of the largest of i leaves, lowers W by at least γ / i:

    W after t splits <= H_1 - γ (1 + 1/2 + ... + 1/t)        harmonic

and W bounds the error of the tree whose leaves answer with their most frequent label. The theorem
puts 1 + ln t in the place of the sum, which is larger than the sum for t > 1: the last step of the
proof bounds the sum from the wrong side. ln(t + 1) is below the sum, and safe.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recalltree.reference.label_histogram import entropy

Splitter = Callable[[np.ndarray, np.ndarray], np.ndarray]  # (X, y) -> which rows go right


@dataclass(frozen=True)
class Split:
    """The tree after t splits, and what the theorem says of it."""

    t: int
    share: float  # f_n of the leaf that was split
    advantage: float  # γ_n, in nats
    gamma: float  # the smallest advantage so far: the γ for which weak learning held
    weighted_entropy: float  # W
    error: float
    bound_paper: float  # H_1 - γ (1 + ln t)
    bound_harmonic: float  # H_1 - γ (1 + 1/2 + ... + 1/t)
    bound_safe: float  # H_1 - γ ln(t + 1)


def label_entropy(y: np.ndarray) -> float:
    """Return the entropy of labels, in nats."""
    return entropy(np.bincount(y))


def _most_frequent(y: np.ndarray) -> int:
    """Return how many of the labels are the most frequent one."""
    return int(np.bincount(y).max())


def grow(X: np.ndarray, y: np.ndarray, n_splits: int, split: Splitter) -> list[Split]:
    """Split the largest leaf, again and again; stop early where it cannot be split.

    A leaf of one label has no entropy to lose: the theorem's weak learning ends there.
    """
    n = len(y)
    first_entropy = label_entropy(y)
    leaves = [np.arange(n)]
    weighted = first_entropy
    history: list[Split] = []
    gamma = math.inf
    right_answers = _most_frequent(y)
    for t in range(1, n_splits + 1):
        largest = max(range(len(leaves)), key=lambda i: len(leaves[i]))
        rows = leaves.pop(largest)
        right = split(X[rows], y[rows])
        parts = rows[~right], rows[right]
        before = label_entropy(y[rows])
        after = sum(len(part) / len(rows) * label_entropy(y[part]) for part in parts)
        advantage = before - after
        if min(map(len, parts)) == 0 or advantage <= 0:
            break
        leaves += parts
        share = len(rows) / n
        weighted -= share * advantage
        gamma = min(gamma, advantage)
        right_answers += sum(_most_frequent(y[part]) for part in parts) - _most_frequent(y[rows])
        history.append(
            Split(
                t=t,
                share=share,
                advantage=advantage,
                gamma=gamma,
                weighted_entropy=weighted,
                error=1 - right_answers / n,
                bound_paper=first_entropy - gamma * (1 + math.log(t)),
                bound_harmonic=first_entropy - gamma * sum(1 / i for i in range(1, t + 1)),
                bound_safe=first_entropy - gamma * math.log(t + 1),
            )
        )
    return history


def linear_splitter(seed: int, n_starts: int = 3, n_rounds: int = 5) -> Splitter:
    """Return a splitter by hyperplanes that lower the entropy of the labels.

    As the router of figure 2b does, it alternates: each class is given to the side that has more of
    it, relative to the sizes of the sides, and a hyperplane is fitted (ridge regression) to where
    the classes should go. The best of some starts is kept.
    """
    random = np.random.default_rng(seed)

    def split(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        Z = np.hstack([X - X.mean(axis=0), np.ones((len(X), 1))]).astype(float)
        gram = Z.T @ Z
        gram += 1e-3 * np.trace(gram) / len(gram) * np.eye(len(gram))
        best, best_entropy = np.zeros(len(y), dtype=bool), math.inf
        for _ in range(n_starts):
            margin = Z[:, :-1] @ random.normal(size=Z.shape[1] - 1)
            right = margin > np.median(margin)
            for _ in range(n_rounds):
                target = _sides_of_classes(y, right)
                right = Z @ np.linalg.solve(gram, Z.T @ np.where(target, 1.0, -1.0)) > 0
                after = _entropy_of_sides(y, right)
                if after < best_entropy:
                    best, best_entropy = right, after
        return best

    return split


def _sides_of_classes(y: np.ndarray, right: np.ndarray) -> np.ndarray:
    counts = np.bincount(y)
    share_right = np.bincount(y, right, minlength=len(counts)) / np.maximum(counts, 1)
    return (share_right > right.mean())[y]


def _entropy_of_sides(y: np.ndarray, right: np.ndarray) -> float:
    sides = y[right], y[~right]
    return sum(len(side) / len(y) * label_entropy(side) for side in sides)
