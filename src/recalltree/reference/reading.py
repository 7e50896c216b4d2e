"""Limit on how far the label histograms of features are read."""

from __future__ import annotations

import numpy as np

BLOCK = 32


class Reading:
    """A histogram that is read from the top, in blocks.

    Equal counts are read together or not at all. If the histogram is full, others that are not
    there may have the count of its last labels: these are not read.

    Parameters
    ----------
    labels, counts : list
        The largest count first.
    max_labels : int
        How many labels make a histogram full.

    Examples
    --------
    >>> reading = Reading(list("abcd"), [3.0, 2.0, 1.0, 1.0], max_labels=4)
    >>> reading.read_on(10), reading.labels[: reading.n]
    (2, ['a', 'b'])
    """

    def __init__(self, labels, counts, max_labels):
        self.labels = labels
        self.counts = np.asarray(counts, dtype=float)
        self.is_full = len(labels) >= max_labels
        self.n = 0  # labels that are read

    @property
    def is_over(self):
        """True if all is read."""
        return self.n == len(self.labels)

    @property
    def next_root(self):
        """The square root of the largest count that is not read yet."""
        return np.sqrt(self.counts[self.n])

    def read_on(self, left):
        """Read a block, at most this many labels, and return how many they are."""
        size = len(self.labels)
        end = min(self.n + BLOCK, size)
        last = self.counts[end - 1]
        end = self.n_at_least(last) if end < size else end
        if end == size and self.is_full:
            end = self.n_above(last)
        if end - self.n > left:
            end = self.n_above(self.counts[self.n + left])
        n_read = max(0, end - self.n)
        self.n += n_read
        return n_read

    def n_at_least(self, count):
        """Return how many labels have this count or more."""
        return int((self.counts >= count).sum())

    def n_above(self, count):
        """Return how many labels have more than this count."""
        return int((self.counts > count).sum())


def read_largest(readings, factors, n):
    """Read n labels of several histograms, those with the largest factor · sqrt(count) first.

    The largest is read next, with those that follow it in its histogram.

    Examples
    --------
    >>> readings = {k: Reading(list("ab"), [4.0, 1.0], max_labels=9) for k in range(2)}
    >>> read_largest(readings, {0: 1.0, 1: 2.0}, 3)
    >>> [reading.n for reading in readings.values()]
    [1, 2]
    """
    promises = {k: factor for k, factor in factors.items() if not readings[k].is_over}
    while promises and n > 0:
        k = max(promises, key=lambda k: promises[k] * readings[k].next_root)
        n_read = readings[k].read_on(n)
        n -= n_read
        if n_read == 0 or readings[k].is_over:
            del promises[k]
