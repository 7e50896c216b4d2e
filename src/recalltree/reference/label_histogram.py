"""Histogram of a node: how often each label came by, and what follows from it."""

from __future__ import annotations

import math

import numpy as np


def entropy(counts):
    """Entropy H, in nats, of a label distribution given by its counts; 0 without any.

    Examples
    --------
    >>> round(entropy([3.0, 3.0]), 4)
    0.6931
    >>> entropy([])
    0.0
    """
    counts = np.asarray(counts, dtype=float)
    total = counts.sum()
    if total <= 0:
        return 0.0
    shares = counts[counts > 0] / total
    return max(0.0, float(-shares @ np.log(shares)))


def recall_lower_bound(empirical_recall, total, bound_lambda):
    """Lower bound of the recall of a node: the empirical Bernstein bound, equation (1).

    Parameters
    ----------
    empirical_recall : float
        Share of the examples at the node whose label is a candidate.
    total : float
        Number of examples at the node, m_n.
    bound_lambda : float
        How much a node with few examples is distrusted, λ.

    Returns
    -------
    float
        The bound, or 0 if it is negative or there are no examples.

    Examples
    --------
    >>> recall_lower_bound(1.0, total=4.0, bound_lambda=1.0)
    0.75
    >>> recall_lower_bound(0.5, total=1.0, bound_lambda=1.0)
    0.0
    """
    if total <= 0:
        return 0.0
    variance = empirical_recall * (1.0 - empirical_recall)
    bound = empirical_recall - math.sqrt(bound_lambda * variance / total) - bound_lambda / total
    return max(0.0, bound)


class LabelHistogram:
    """Weighted counts of the labels routed to or through a node, in order of first arrival.

    Examples
    --------
    >>> histogram = LabelHistogram()
    >>> for label in ["owl", "lark", "lark", "wren"]:
    ...     histogram.add(label, 1.0)
    >>> histogram.candidates(2)
    ['lark', 'owl']
    >>> histogram.empirical_recall(2)
    0.75
    """

    def __init__(self):
        self.counts = {}
        self.total = 0.0

    def add(self, label, weight):
        """Count one more example."""
        self.counts[label] = self.counts.get(label, 0.0) + weight
        self.total += weight

    def fade(self, factor):
        """Let everything counted so far be worth `factor` of what it was."""
        for label in self.counts:
            self.counts[label] *= factor
        self.total *= factor

    def ranking(self):
        """Return the labels by count, the largest first; ties in order of arrival."""
        return sorted(self.counts, key=self.counts.__getitem__, reverse=True)

    def candidates(self, max_candidates):
        """Return the F labels with the largest counts (section 2, candidates of a node)."""
        return self.ranking()[:max_candidates]

    def empirical_recall(self, max_candidates):
        """Return the share of the examples whose label is a candidate, r̂ of equation (1)."""
        if len(self.counts) <= max_candidates:
            return 1.0
        mass = sum(self.counts[label] for label in self.candidates(max_candidates))
        return min(1.0, mass / self.total)  # a sum of faded counts may exceed the faded sum

    def entropy(self):
        """Return the entropy of the labels, H."""
        return entropy(list(self.counts.values()))

    def entropy_with(self, labels, weight):
        """Return the entropy after one more example, H': `weight` is that of each of its labels."""
        counts = {**self.counts, **{y: self.counts.get(y, 0.0) + weight for y in labels}}
        return entropy(list(counts.values()))
