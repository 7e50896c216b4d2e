"""Mini-batches: examples that several threads look at before any of them is learned."""

from __future__ import annotations

SMALLEST, LARGEST = 16, 256


def rows_of_mini_batch(n_learned):
    """Return how many examples are learned together after this many.

    Sizes grow with what has been learned, and mini-batches end at multiples of their size, so that
    they do not depend on how examples are handed over.

    Examples
    --------
    >>> [rows_of_mini_batch(n) for n in (0, 5, 1040, 10_000, 1_000_192)]
    [16, 11, 16, 240, 256]
    """
    size = SMALLEST
    while size < LARGEST and n_learned > 64 * size:
        size *= 2
    return size - n_learned % size
