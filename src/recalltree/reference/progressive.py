"""Progressive validation: every example is predicted just before it is learned."""

from __future__ import annotations


class ProgressiveError:
    """Weighted 0/1 error of predictions made before learning.

    Examples
    --------
    >>> progressive = ProgressiveError()
    >>> progressive.add(correct=False, weight=1.0)
    >>> progressive.add(correct=True, weight=3.0)
    >>> progressive.errors, progressive.weight
    (1.0, 4.0)
    """

    def __init__(self):
        self.errors = 0.0
        self.weight = 0.0

    def add(self, correct, weight):
        """Count the prediction of one example."""
        self.weight += weight
        if not correct:
            self.errors += weight
