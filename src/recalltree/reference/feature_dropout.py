"""Examples that are learned again are learned without some of their features."""

from __future__ import annotations

import numpy as np

from .random_bits import mix, uniform


class FeatureDropout:
    """Leaves features out of an example, others every time it is learned.

    Parameters
    ----------
    share : float
        How many of them.
    seed : int
        Decides which.

    Examples
    --------
    >>> dropout = FeatureDropout(share=0.5, seed=0)
    >>> [dropout(np.ones(4), example) for example in range(2, 4)]
    [array([1., 0., 0., 1.]), array([0., 0., 0., 0.])]
    """

    def __init__(self, share, seed):
        self.share = share
        self.seed = mix(seed)

    def __call__(self, x, example):
        """Return x without some of its features; `example` is how many were learned before."""
        seed = mix(self.seed ^ example)
        draws = np.array([uniform(mix(seed ^ j)) for j in range(len(x))])
        return np.where(draws < self.share, 0.0, x)
