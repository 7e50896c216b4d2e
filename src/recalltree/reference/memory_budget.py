"""A limit of memory for one-against-some, and what is forgotten to keep within it.

What grows with the examples are the pairs (y, k) of a class and a feature: their count, their
weight, and their entry in the histogram of the feature. When the model takes more bytes than it may
after an example, the pairs that matter least are forgotten, so many that there is room for a while:

    worth(y, k) = c(y, k)² g_k (u_k (A sqrt(c(y, k) / n_y) + S sqrt(c(y, k) / n_k)) + |w_yk|)

g_k is the inverse document frequency of the feature. The last factors are what the pair adds to the
score of its class when an example has the feature; the count says how often that is to be expected.

What is left is exact: n_y and n_k still count every example. A forgotten pair starts from
scratch when it is met again. On a later pass it may then hold less than the example that is left
out of it: its count is 0 in that case, never negative.

A model takes as many bytes as the compiled one does, where only features vote.
"""

from __future__ import annotations

import math

import numpy as np

# Share of the bytes for pairs and entries that is in use after forgetting.
USED_AFTER = 0.85
# If the first try did not free enough, the next one keeps no more of the pairs than this.
KEPT_IN_NEXT_TRY = 0.97
PAIR_BYTES, TABLES_ALIGNED_TO = 16, 64
PAIRS_IN_GROUP = 16  # of a table; they have tags of one byte
ENTRY_BYTES, ENTRIES_ALIGNED_TO = 12, 16
# Classes and keys are made in groups of neighbours.
GROUP, CLASS_BYTES, KEY_BYTES = 32, 48, 32
RANK_BYTES = 8  # of a class, too


class MemoryBudget:
    """A limit of the bytes that a model takes.

    Parameters
    ----------
    limit : int or None
        How many bytes it may take; None is no limit.

    Examples
    --------
    >>> from recalltree.reference import OneAgainstSomeReference
    >>> model = OneAgainstSomeReference(n_features=64, memory_budget=6000)
    >>> X = np.random.default_rng(0).random((100, 64)) < 0.1
    >>> for i, x in enumerate(X):
    ...     model.learn(x.astype(float), i % 20)
    >>> MemoryBudget.bytes_of(model) <= 6000, MemoryBudget.n_pairs(model) < 550
    (True, True)
    """

    def __init__(self, limit):
        self.limit = limit

    def hold(self, model):
        """Forget what is worth least if the model takes more bytes than it may."""
        if self.limit is None or self.bytes_of(model) <= self.limit:
            return
        room = self.limit - (self.bytes_of(model) - self.evictable_bytes(model))
        aim = USED_AFTER * room
        is_first_try = True
        while self.evictable_bytes(model) > aim and self.n_pairs(model):
            n_pairs = self.n_pairs(model)
            kept = aim / self.evictable_bytes(model)
            if not is_first_try:
                kept = min(kept, KEPT_IN_NEXT_TRY)
            n_kept = min(int(max(0.0, kept) * n_pairs), n_pairs - 1)
            self.forget(model, n_pairs - n_kept)
            is_first_try = False
        if self.bytes_of(model) > self.limit:
            taken = self.bytes_of(model)
            raise ValueError(
                f"memory_budget={self.limit} is too small: what cannot be forgotten, that is "
                f"classes and features, takes {taken} bytes so far. Give at least {2 * taken} "
                "bytes, as there may be more of them, or None for no limit."
            )

    def forget(self, model, n):
        """Forget the n pairs that are worth least."""
        pairs = [
            (worth, y, int(k))
            for y, known in model.classes.items()
            for k, worth in zip(*worths(model, known), strict=True)
        ]
        for _, y, k in self.least(pairs, n):
            forget_pair(model, y, k)

    def least(self, pairs, n):
        """Return the n pairs that are worth least."""
        return sorted(pairs)[:n]

    # --- bytes --------------------------------------------------------------------------------

    @staticmethod
    def n_pairs(model):
        """Return how many pairs of a class and a feature there are."""
        return sum(pairs_of(known) for known in model.classes.values())

    @staticmethod
    def evictable_bytes(model):
        """Return the bytes of pairs and of histograms."""
        pairs = sum(table_bytes(pairs_of(known)) for known in model.classes.values())
        histograms = [len(histogram.counts) for histogram in model.histograms]
        histograms.append(len(model.everywhere.counts))
        return pairs + sum(histogram_bytes(n, model.max_labels) for n in histograms)

    @classmethod
    def bytes_of(cls, model):
        """Return the bytes of a model in which only features vote."""
        n_classes = 1 + max(model.classes, default=-1)
        groups = len(np.unique(np.flatnonzero(model.examples_with_key) // GROUP))
        groups_of_classes = -(-n_classes // GROUP)
        return (
            cls.evictable_bytes(model)
            + GROUP * (groups * KEY_BYTES + groups_of_classes * CLASS_BYTES)
            + n_classes * RANK_BYTES
            + model.n_features * (4 if model.sparse else 4 + 16 + 8)
        )


def pairs_of(known):
    """Return how many features a class has pairs with."""
    return int(np.count_nonzero(known.counts))


def worths(model, known):
    """Return the features that a class has pairs with, and what each pair is worth."""
    k = np.flatnonzero(known.counts)
    counts, n_k = known.counts[k], model.examples_with_key[k]
    by_affinity, by_share, _ = model.scales.values * model.features_vote
    votes = model.key_weights.values[k] * (
        by_affinity * np.sqrt(counts / known.count) + by_share * np.sqrt(counts / n_k)
    )
    rarity = np.sqrt(1.0 + np.log(np.maximum(1.0, (model.examples + 1) / (n_k + 1))))
    weights = 0.0 if model.has_dense_predictors else np.abs(known.weights[k])
    return k, counts**2 * rarity * (votes + weights)


def forget_pair(model, y, k):
    """Forget what a class knows of a feature, and the feature of the class."""
    known = model.classes[y]
    known.counts[k] = 0.0
    model.histograms[k].counts.pop(y, None)
    if not model.has_dense_predictors:
        known.met[k] = False
        known.predictor.values[k] = known.predictor.accumulators[k] = 0.0


def slots(n):
    """Return the slots of a table of n pairs: a quarter is free, but for a table of one group.

    Examples
    --------
    >>> [slots(n) for n in (0, 1, 4, 15, 16, 25, 1000)]
    [0, 3, 7, 15, 32, 48, 1536]
    """
    if n < PAIRS_IN_GROUP:
        return n | 3 if n else 0
    return in_steps(n + n // 3, least=PAIRS_IN_GROUP)


def table_bytes(n):
    """Return the bytes of a table of n pairs and their tags.

    Examples
    --------
    >>> [table_bytes(n) for n in (0, 1, 4, 15, 16, 25)]
    [0, 64, 128, 256, 576, 832]
    """
    tags = align(slots(n), PAIRS_IN_GROUP)
    return align(tags + PAIR_BYTES * slots(n), TABLES_ALIGNED_TO)


def histogram_bytes(n, max_labels):
    """Return the bytes of a histogram of n labels, of which it lists no more than a few.

    Examples
    --------
    >>> [histogram_bytes(n, max_labels=50) for n in (0, 1, 2, 3, 9, 100)]
    [0, 16, 32, 48, 144, 608]
    """
    n = min(n, max_labels)
    entries = min(n if n <= 2 else in_steps(n), max_labels)
    return align(ENTRY_BYTES * entries, ENTRIES_ALIGNED_TO)


def in_steps(n, least=4):
    """Round up to a multiple of the least step, and of a quarter of the next smaller power of two.

    Examples
    --------
    >>> [in_steps(n) for n in (0, 3, 16, 17, 33, 100)]
    [0, 4, 16, 20, 40, 112]
    """
    return align(n, max(least, 2 ** int(math.log2(n)) // 4) if n else least)


def align(n, step):
    """Round up to a multiple of the step."""
    return -(-n // step) * step
