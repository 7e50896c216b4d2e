"""Stateless hash: the same pseudo-random bits for the same number on every platform."""

from __future__ import annotations

BITS_64 = 2**64 - 1


def mix(x):
    """Return 64 bits that look random, a different number for every one (splitmix64).

    Examples
    --------
    >>> mix(0) == 0xE220A8397B1DCDAF
    True
    """
    x = (x + 0x9E3779B97F4A7C15) & BITS_64
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS_64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS_64
    return x ^ (x >> 31)


def uniform(bits):
    """Return a number of [0, 1).

    Examples
    --------
    >>> uniform(1 << 63)
    0.5
    """
    return (bits >> 11) * 2.0**-53
