"""One-against-some otherwise: choices that no parameter offers, made in the plain reference.

The classes are the ablation's: each changes one thing. Votes are changed for one pass, in which no
example has to be left out of its own counts.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from recalltree.reference.one_against_some import OneAgainstSomeReference

#: Pairs of features are hashed into this many columns.
PAIR_COLUMNS, PRIME, HASH = 2**20, 2**31 - 1, 1_000_003


class Logistic(OneAgainstSomeReference):
    """Every candidate is right or wrong by itself: independent logistic losses, no softmax."""

    def probabilities(self, scores):
        return expit(scores)


class CountsItself(OneAgainstSomeReference):
    """Later passes do not leave an example out of the counts that vote for it."""

    def scores(self, x, n_classes, own_labels=(), own=0.0):
        return super().scores(x, n_classes, own_labels, 0.0)


class RandomRouters(OneAgainstSomeReference):
    """The trees stay as they begin, with random hyperplanes."""

    def __init__(self, n_features, **parameters):
        super().__init__(n_features, **parameters)
        self.forest.router_lessons = lambda *_: []


class OneKeyPerTree(OneAgainstSomeReference):
    """Only the leaf of a tree votes, not the second one behind the least sure router."""

    def __init__(self, n_features, **parameters):
        super().__init__(n_features, **parameters)
        self.forest.second_key = lambda *_: []


class AdaptiveLabels(OneAgainstSomeReference):
    """A key lists as many labels as hold most of its count: few if it is specific, else many."""

    share = 0.8

    def ranking(self, key):
        histogram = self.histograms[key]
        labels = histogram.ranking()
        counts = [histogram.counts[label] for label in labels]
        held = np.cumsum(counts)
        n = int(np.searchsorted(held, self.share * held[-1])) + 1 if labels else 0
        return labels[:n], counts[:n]


class OneVote(OneAgainstSomeReference):
    """A feature has no vote by its share of a class, only A times its affinity to the class."""

    def __init__(self, n_features, **parameters):
        super().__init__(n_features, **parameters)
        self.scales.values[1] = 0.0

    def vote_gradients(self, *studied):
        of_scales, of_keys = super().vote_gradients(*studied)
        return of_scales * [1.0, 0.0, 1.0], of_keys


class VotesOtherwise(OneVote):
    """Another vote of a feature for a class, and the scale A at which it begins."""

    def __init__(self, n_features, scale, **parameters):
        super().__init__(n_features, **parameters)
        self.scales.values[0] = scale
        self.key_totals = np.zeros(n_features)  # of all classes

    def count(self, shares, labels, weight):
        self.key_totals += weight * shares
        super().count(shares, labels, weight)

    def roots(self, label, shares, own=0.0):
        return self.votes(self.classes[label].counts), 1.0

    def votes(self, counts):
        """Return what each feature votes for a class with these counts."""
        raise NotImplementedError


class SquareRoot(VotesOtherwise):
    """sqrt(c / n_y): the affinity of an example and its class."""

    def votes(self, counts):
        return np.sqrt(counts / (counts.sum() or 1.0))


class ShareOfClass(VotesOtherwise):
    """c / n_y, without the root."""

    def votes(self, counts):
        return counts / (counts.sum() or 1.0)


class ShareOfKey(VotesOtherwise):
    """sqrt(c / n_k): how the labels of a key are distributed, as at a node of a tree."""

    def votes(self, counts):
        return np.sqrt(_ratio(counts, self.key_totals))


class Cosine(VotesOtherwise):
    """c / |c|: the cosine of an example and the counts of its class."""

    def votes(self, counts):
        return counts / (np.linalg.norm(counts) or 1.0)


class NaiveBayes(VotesOtherwise):
    """log(1 + 10 c n / (n_y n_k)): how much more frequent the key is in the class."""

    def votes(self, counts):
        expected = counts.sum() * self.key_totals / (self.key_totals.sum() or 1.0)
        return np.log1p(10.0 * _ratio(counts, expected))


def _ratio(counts: np.ndarray, totals: np.ndarray) -> np.ndarray:
    return np.divide(counts, totals, out=np.zeros_like(totals), where=totals > 0)


def with_pairs(X: sp.csr_array, had: np.ndarray, n_rarest: int) -> sp.csr_array:
    """Return rows with a feature for each pair of their rarest features, hashed, beside their own.

    ``had`` says how many training rows have each feature.

    >>> X = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 0.0]]))
    >>> both = with_pairs(X, np.array([9, 1, 5]), n_rarest=2)
    >>> both[:, :3].toarray().tolist() == X.toarray().tolist()
    True
    >>> np.diff(both.indptr).tolist(), both.data.tolist()
    ([3, 1], [1.0, 2.0, 1.0, 3.0])
    """
    n_rows, n_features = X.shape
    row = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    order = np.lexsort((had[X.indices], row))
    place = np.arange(len(order)) - X.indptr[row]
    rarest = np.full((n_rows, n_rarest), -1, dtype=np.int64)
    is_rarest = place < n_rarest
    rarest[row[is_rarest], place[is_rarest]] = X.indices[order[is_rarest]]
    rows, columns = [], []
    for a, b in combinations(range(n_rarest), 2):
        there = np.flatnonzero(rarest[:, b] >= 0)
        ends = np.sort(rarest[there][:, [a, b]], axis=1)
        rows.append(there)
        columns.append((ends[:, 0] * n_features + ends[:, 1]) * HASH % PRIME % PAIR_COLUMNS)
    places = np.concatenate(rows), np.concatenate(columns)
    pairs = sp.csr_array(
        (np.ones(len(places[0]), dtype=X.dtype), places), shape=(n_rows, PAIR_COLUMNS)
    )
    return sp.csr_array(sp.hstack([X, pairs], format="csr"))


def learn_and_test(
    model: OneAgainstSomeReference, X: Any, y: np.ndarray, X_test: Any, y_test: np.ndarray, passes=1
) -> tuple[int, int]:
    """Learn all rows in every pass; return how many test rows are wrong and how many recalled."""
    for i in range(passes):
        for x, label in zip(X, y, strict=True):
            model.learn(x, int(label), first_pass=i == 0)
    wrong = recalled = 0
    for x, label in zip(X_test, y_test, strict=True):
        scored = model.scores(x, len(model.classes))
        wrong += model.best(scored) != label
        recalled += label in scored.candidates
    return int(wrong), int(recalled)
