"""Dense rows as class vectors see them: standardised, cut, and turned to principal directions."""

from __future__ import annotations

import numpy as np

# Deviations at which features are cut, and the share of a root mean square below which a deviation
# is rounding.
CUT, FLAT = 2.0, 1e-5
# The power of a direction's variance by which it is divided.
EXPONENT = 0.25
# Added to every eigenvalue, as a share of their mean.
RIDGE = 0.01
# Directions that vary less than this share of the mean are left out. Fewer rows than features leave
# many that do not vary at all, and any basis of these would be as good.
NOTHING = 1e-4
# Rows per feature of a block, at least, from which directions are learned.
ROWS_PER_FEATURE = 0.5
# Above WIDEST features, directions are those of blocks of BLOCK neighbouring features.
WIDEST, BLOCK = 1024, 256


def unit(vector):
    """Return a vector with length 1; of zeros, zeros.

    Examples
    --------
    >>> unit(np.array([3.0, 4.0]))
    array([0.6, 0.8])
    """
    length = np.sqrt(vector @ vector)
    return vector / length if length > 0 else vector * 0.0


class Whitening:
    """x' = unit(diag(eigenvalue^-1/4) V z), where z is the standardised row.

    Dividing by deviations makes the answer independent of the units of features. Cutting keeps a
    feature that is rarely far from its mean from drowning the others. The exponent 1/4 stands
    between plain cosines (0) and a space where all directions count the same (1/2).

    Parameters
    ----------
    n_features : int
        Number of features.

    Examples
    --------
    >>> whitening = Whitening(2)
    >>> whitening.learn(np.array([[1.0, 9.0], [2.0, 7.0], [3.0, 8.0], [2.0, 9.0]]))
    >>> float(np.linalg.norm(whitening(np.array([3.0, 7.0]))).round(6))
    1.0
    """

    def __init__(self, n_features):
        self.mean = np.zeros(n_features)
        self.rate = np.ones(n_features)  # one over the deviation; 0 if a feature is constant
        self.matrix = np.eye(n_features)  # a direction in each row, the one that varies most first

    def __call__(self, x):
        """Whiten a row."""
        return unit(self.matrix @ self.standardise(x))

    def standardise(self, x):
        """Return a row in deviations from the mean, cut where it is far from it."""
        return np.clip((x - self.mean) * self.rate, -CUT, CUT)

    def learn(self, rows):
        """Learn from rows; what was learned before is forgotten."""
        self.mean = rows.mean(axis=0)
        deviation = rows.std(axis=0)
        varies = deviation > FLAT * np.sqrt(np.mean(rows**2, axis=0))
        self.rate = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=varies)
        n, d = rows.shape
        size = d if d <= WIDEST else BLOCK
        if n < ROWS_PER_FEATURE * size:
            return
        z = self.standardise(rows)
        values, directions = [], []
        for begin in range(0, d, size):
            block = z[:, begin : begin + size]
            found, vectors = np.linalg.eigh(block.T @ block / n)
            values.extend(np.maximum(0.0, found))
            for vector in vectors.T:
                directions.append(np.zeros(d))
                directions[-1][begin : begin + size] = vector
        mean = np.mean(values)
        powers = (np.array(values) + RIDGE * mean) ** EXPONENT
        varies = np.array(values) > NOTHING * mean
        factors = np.divide(1.0, powers, out=np.zeros(d), where=varies)
        order = np.argsort(-np.array(values), kind="stable")
        self.matrix = (factors[:, None] * np.array(directions))[order]
