"""Weights of an example's features, from what has been seen before."""

from __future__ import annotations

import math

import numpy as np

# Of dense features: where they are cut, in standard deviations, and the deviation that is rounding,
# relative to the root mean square.
CUT = 2.0
FLAT = 1e-5


class FeatureWeighting:
    """Weights of an example's features.

    Parameters
    ----------
    sublinear_tf : bool
        Whether log(1 + |x|), with the sign of x, takes the place of x.
    use_idf : bool
        Whether values are weighted by the root of the inverse document frequency.
    normalize : bool
        Whether shares and values have unit length.

    Examples
    --------
    >>> weighting = FeatureWeighting(sublinear_tf=True, use_idf=True, normalize=True)
    >>> shares, values = weighting(np.array([1.0, 1.0, 0.0]), np.array([9.0, 0.0, 3.0]), 9.0)
    >>> shares.round(2), values.round(2)
    (array([0.71, 0.71, 0.  ]), array([0.48, 0.88, 0.  ]))
    """

    def __init__(self, sublinear_tf, use_idf, normalize):
        self.sublinear_tf = sublinear_tf
        self.use_idf = use_idf
        self.normalize = normalize

    def __call__(self, x, had, examples):
        """Return shares and values, given how many of how many examples had each feature."""
        terms = np.sign(x) * np.log1p(np.abs(x)) if self.sublinear_tf else x
        shares, values = np.abs(terms), terms
        if self.use_idf:
            values = terms * np.sqrt(1.0 + np.log(np.maximum(1.0, (examples + 1) / (had + 1))))
        if self.normalize and np.any(values):
            shares = shares / np.linalg.norm(shares)
            values = values / np.linalg.norm(values)
        return shares, values


class FeatureCentring:
    """Dense examples as routers and predictors see them, and the typical length of an example.

    From each feature its mean over the examples before is taken off, and the rest divided by its
    standard deviation and cut at `CUT` of them: a feature that is rarely far from its mean would
    drown the others when it is. A feature that has not varied yet is 0.

    Parameters
    ----------
    n_features : int
        Number of features.
    center : bool
        Whether means are taken off. Otherwise the root mean square takes the deviation's place.

    Examples
    --------
    >>> centring = FeatureCentring(2, center=True)
    >>> for x in np.array([[4.0, 3.0], [2.0, 3.0]]):
    ...     centring.observe(x, centring.normalize(x), weight=1.0)
    >>> centring.normalize(np.array([3.5, 9.0]))
    array([0.5, 0. , 1. ])
    """

    def __init__(self, n_features, center):
        self.center = center
        self.mean = np.zeros(n_features)
        self.variance = np.zeros(n_features)
        self.norm_sum = 0.0
        self.weight_sum = 0.0

    def normalize(self, x):
        """Return the example, with a constant 1 at its end."""
        offset, square = self.mean, self.variance
        if not self.center:
            offset, square = 0.0 * self.mean, self.variance + self.mean**2
        varies = square > FLAT**2 * (self.variance + self.mean**2)
        z = np.zeros(len(self.mean) + 1)
        np.divide(x - offset, np.sqrt(square), out=z[:-1], where=varies)
        z[:-1] = np.clip(z[:-1], -CUT, CUT)
        z[-1] = 1.0
        return z

    def observe(self, x, z, weight):
        """Take note of an example that has been learned as z."""
        self.norm_sum += weight * (z @ z)
        self.weight_sum += weight
        share = weight / self.weight_sum
        before = x - self.mean
        self.mean = self.mean + share * before
        self.variance += share * (before * (x - self.mean) - self.variance)

    @property
    def typical_norm(self):
        """Root mean square norm of the examples, the bias included."""
        return math.sqrt(self.norm_sum / self.weight_sum) if self.weight_sum else 1.0
