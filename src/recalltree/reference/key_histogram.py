"""The label counts of a key: of a feature, or of a node where examples end."""

from __future__ import annotations


class KeyHistogram:
    """Label counts of a key.

    Examples
    --------
    >>> histogram = KeyHistogram()
    >>> for label, count in [(7, 1.0), (3, 2.0), (7, 1.0)]:
    ...     histogram.add(label, count)
    >>> histogram.ranking(), histogram.counts[7]
    ([3, 7], 2.0)
    """

    def __init__(self):
        self.counts: dict[int, float] = {}
        self.reached: dict[int, int] = {}  # when a label reached its count
        self.time = 0
        self.total = 0.0

    def add(self, label, count):
        """Count a label."""
        self.time += 1
        self.counts[label] = self.counts.get(label, 0.0) + count
        self.reached[label] = self.time
        self.total += count

    def fade(self, factor):
        """Multiply all counts."""
        self.counts = {label: factor * count for label, count in self.counts.items()}
        self.total *= factor

    def ranking(self):
        """Return the labels, the largest count first; equal ones: the first to reach it."""
        return sorted(self.counts, key=lambda y: (-self.counts[y], self.reached[y]))
