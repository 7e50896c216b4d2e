"""Rows in batches, as readers give them."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Piece:
    X: Any
    y: Any
    sample_weight: Any = None


def batches(X, y, size=90, weights=None):
    return [
        Piece(X[i : i + size], y[i : i + size], None if weights is None else weights[i : i + size])
        for i in range(0, len(y), size)
    ]
