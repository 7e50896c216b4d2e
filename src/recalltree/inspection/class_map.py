"""Cells as a picture: a map of the vectors of classes, and where classes stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The cell of a class of which no row was counted.
NO_CELL = np.iinfo(np.uint32).max
#: Vectors from which the directions of a map are learned, and how many are placed at a time.
MAX_SAMPLE = 1024
AT_ONCE = 4096


@dataclass(frozen=True)
class ClassMap:
    """Classes on a map of two dimensions: the principal directions of their vectors.

    Attributes
    ----------
    positions : ndarray of shape (n, 2)
        Of the classes that were asked for: their vectors, of length 1, along the two directions.
    cells : ndarray of shape (n,)
        The cells where they stand, or `NO_CELL`.
    share : float
        Part of the variance of the sampled vectors that the two directions hold.
    """

    positions: NDArray[np.float64]
    cells: NDArray[np.int64]
    share: float


def map_classes(core: Any, class_ids: NDArray[Any]) -> ClassMap:
    """Return a map of the classes of a core that has cells.

    Parameters
    ----------
    core : OneAgainstSome or MappedOneAgainstSome
    class_ids : ndarray of int
        The classes to be placed. The directions are those of the classes that stand in cells.

    Returns
    -------
    ClassMap
    """
    cells = core.class_cells().astype(np.int64)
    standing = np.flatnonzero(cells != NO_CELL)
    step = max(1, -(-len(standing) // MAX_SAMPLE))
    sample = _unit_vectors(core, standing[::step])
    centre = sample.mean(axis=0) if len(sample) else sample.sum(axis=0)
    directions, share = _principal(sample - centre)
    positions = np.concatenate(
        [
            (_unit_vectors(core, class_ids[i : i + AT_ONCE]) - centre) @ directions.T
            for i in range(0, len(class_ids), AT_ONCE)
        ]
        or [np.zeros((0, 2))]
    )
    return ClassMap(positions, cells[class_ids], share)


def map_data(core: Any, shown_classes: NDArray[np.int64]) -> dict[str, Any]:
    """Return what the report's page shows of cells, as plain lists, strings and numbers.

    Parameters
    ----------
    core : OneAgainstSome or MappedOneAgainstSome
    shown_classes : ndarray of int
        The classes of the page. Those that stand in no cell have no place.

    Returns
    -------
    dict
        By class of the page ``x`` and ``y``, from 0 to 1, and ``cell``, a place in ``ids`` and
        ``sizes``: the cells, and how many of all classes stand there.
    """
    all_cells = core.class_cells()
    is_there = shown_classes < len(all_cells)
    is_there[is_there] = all_cells[shown_classes[is_there]] != NO_CELL
    found = map_classes(core, shown_classes[is_there])
    ids, sizes = np.unique(all_cells[all_cells != NO_CELL], return_counts=True)
    places = _within_a_square(found.positions)
    columns: dict[str, Any] = {name: [None] * len(is_there) for name in ("x", "y", "cell")}
    numbers = (*places.T.tolist(), np.searchsorted(ids, found.cells).tolist())
    for at, *values in zip(np.flatnonzero(is_there).tolist(), *numbers, strict=True):
        columns["x"][at], columns["y"][at] = round(values[0], 4), round(values[1], 4)
        columns["cell"][at] = values[2]
    return {
        "note": (
            f"Each of {int(is_there.sum()):,} points is the vector of a class, along the two "
            f"principal directions of all. They hold {found.share:.1%} of the variance, so that "
            "points far apart are far apart, and points side by side may not be near."
        ),
        "share": float(f"{found.share:.5g}"),
        **columns,
        "ids": ids.tolist(),
        "sizes": sizes.tolist(),
    }


def cell_sizes(core: Any) -> NDArray[np.int64]:
    """Return how many classes stand in each cell that has any, the largest first."""
    cells = core.class_cells()
    return np.sort(np.unique(cells[cells != NO_CELL], return_counts=True)[1])[::-1]


def _within_a_square(positions: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions from 0 to 1, in units of the longer side."""
    if not len(positions):
        return positions
    low, high = positions.min(axis=0), positions.max(axis=0)
    return (positions - (low + high) / 2) / (float((high - low).max()) or 1.0) + 0.5


def _unit_vectors(core: Any, class_ids: NDArray[Any]) -> NDArray[np.float64]:
    vectors = core.class_vectors(class_ids.astype(np.uint32)).astype(np.float64)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


def _principal(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return the two principal directions of rows, and their share of the variance."""
    values, vectors = np.linalg.eigh(rows @ rows.T)
    directions = np.zeros((2, rows.shape[1]))
    held = 0.0
    for i in range(min(2, len(values))):
        value = max(0.0, float(values[-1 - i]))
        if value > 1e-12 * values.sum():
            direction = rows.T @ vectors[:, -1 - i] / np.sqrt(value)
            # Which way it points is a matter of taste; it is always the same.
            directions[i] = direction * np.sign(direction[np.abs(direction).argmax()])
            held += value
    return directions, held / float(values.sum()) if held > 0 else 0.0
