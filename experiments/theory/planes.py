"""Figure 3: two distributions of labels in the plane, one for one-against-all, one for a tree."""

from __future__ import annotations

import numpy as np

DISTRIBUTIONS = ("voronoi", "axis-parallel")
N_CLASSES = 16  # one hexadecimal digit each
GRID = 48


def label(distribution: str, points: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return the label of each point of the unit square.

    ``voronoi``: that of the nearest of 16 sites. ``axis-parallel``: that of its cell, where the
    square is halved by a line across its longer side, each half again, four times.
    """
    random = np.random.default_rng([seed, DISTRIBUTIONS.index(distribution)])
    if distribution == "voronoi":
        sites = random.random((N_CLASSES, 2))
        return np.argmin(((points[:, None] - sites) ** 2).sum(axis=2), axis=1)
    labels = np.zeros(len(points), dtype=np.int64)
    cells = [(0.0, 1.0, 0.0, 1.0)]
    for _ in range(4):
        halves = []
        for i, (left, right, low, high) in enumerate(cells):
            at = random.uniform(0.35, 0.65)
            axis = int(high - low > right - left)
            start, stop = ((left, right), (low, high))[axis]
            cut = start + at * (stop - start)
            labels[(labels == i) & (points[:, axis] >= cut)] = i + len(cells)
            first = (left, cut, low, high) if axis == 0 else (left, right, low, cut)
            second = (cut, right, low, high) if axis == 0 else (left, right, cut, high)
            halves.append((first, second))
        cells = [first for first, _ in halves] + [second for _, second in halves]
    return labels


def grid() -> np.ndarray:
    """Return the centres of the squares of a map, row by row from below."""
    ticks = (np.arange(GRID) + 0.5) / GRID
    return np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)


def as_map(labels: np.ndarray) -> list[str]:
    """Return the labels of a grid as rows of hexadecimal digits, the lowest row first."""
    return ["".join(f"{int(v):x}" for v in row) for row in labels.reshape(GRID, GRID)]


def from_map(rows: list[str]) -> np.ndarray:
    """Return what `as_map` was given, in two dimensions."""
    return np.array([[int(digit, 16) for digit in row] for row in rows])
