"""Curve of the progressive error while learning: a record of bounded length."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: How many points are kept at most, and how many examples apart the first of them are.
MAX_POINTS = 256
FIRST_STEP = 16

#: Examples learned, and what was right and wrong until then: see :class:`ProgressiveCurve`.
Point = tuple[int, float, float]

CURVE_TYPE = np.dtype([("examples", np.int64), ("error", np.float64), ("recent_error", np.float64)])


def step_after(n_examples: int) -> int:
    """Return how many examples apart the points are after this many.

    Points are at multiples of it. It depends on nothing else, so that the record is the same
    wherever batches end and learning was interrupted.

    Examples
    --------
    >>> from recalltree.estimators.progressive_curve import step_after
    >>> step_after(1), step_after(4096), step_after(4097), step_after(10_000_000)
    (16, 16, 32, 65536)
    """
    step = FIRST_STEP
    while n_examples > step * MAX_POINTS:
        step *= 2
    return step


def next_moment(n_examples: int) -> int:
    """Return the first moment after this many examples at which a point is due.

    Examples
    --------
    >>> from recalltree.estimators.progressive_curve import next_moment
    >>> next_moment(10), next_moment(16), next_moment(4096)
    (16, 32, 4128)
    """
    step = step_after(n_examples + 1)
    return (n_examples // step + 1) * step


@dataclass
class ProgressiveCurve:
    """The progressive error at up to ``MAX_POINTS`` moments, evenly apart.

    When there are more, every other one is dropped.

    Parameters
    ----------
    points : list of (int, float, float)
        Examples learned, the weight of those that were predicted before, and the weight of the
        wrong ones among these.

    Examples
    --------
    >>> from recalltree.estimators.progressive_curve import ProgressiveCurve
    >>> curve = ProgressiveCurve()
    >>> curve.due(n_examples=10, n_rows=30)
    [16, 32]
    >>> curve.record(16, weight=16, errors=12)
    >>> curve.record(32, weight=32, errors=16)
    >>> curve.as_array()
    array([(16, 0.75, 0.75), (32, 0.5 , 0.25)],
          dtype=[('examples', '<i8'), ('error', '<f8'), ('recent_error', '<f8')])
    """

    points: list[Point] = field(default_factory=list)
    # Distance between the points that were kept last.
    _step: int = field(default=0, init=False, repr=False, compare=False)

    def due(self, n_examples: int, n_rows: int) -> list[int]:
        """Return the moments at which points are due while so many more rows are learned."""
        # The core counts in 64 bits, and a damaged file may begin near their end.
        moments, end = [], min(n_examples + n_rows, 2**64 - 1)
        while (n_examples := next_moment(n_examples)) <= end:
            moments.append(n_examples)
        return moments

    def record(self, n_examples: int, weight: float, errors: float) -> None:
        """Add a point that was due.

        Parameters
        ----------
        n_examples : int
            Examples learned.
        weight, errors : float
            The weight of those that were predicted before, and of the wrong ones among these.
        """
        step = step_after(n_examples)
        if step != self._step:
            self.points = [point for point in self.points if point[0] % step == 0]
            self._step = step
        self.points = _extended(self.points, n_examples, weight, errors)

    def as_array(self, core: Any = None) -> NDArray[Any]:
        """Return the curve, up to the core as it is now if that is given.

        Returns
        -------
        ndarray with the fields "examples", "error" and "recent_error"
            The error so far, and that since the point before.
        """
        points = self.points
        if core is not None:
            now = float(core.progressive_weight), float(core.progressive_errors)
            points = _extended(points, int(core.n_examples), *now)
        examples, weight, errors = np.array(points, dtype=np.float64).reshape(-1, 3).T
        curve = np.empty(len(points), dtype=CURVE_TYPE)
        curve["examples"] = examples
        curve["error"] = errors / weight
        curve["recent_error"] = np.diff(errors, prepend=0) / np.diff(weight, prepend=0)
        return curve

    @classmethod
    def from_points(cls, points: Any) -> ProgressiveCurve:
        """Return a curve of points that came from a file, or raise ValueError."""
        if not isinstance(points, list) or len(points) > 2 * MAX_POINTS:
            raise ValueError("the progressive curve is not a short list.")
        for point in points:
            numbers = isinstance(point, list) and len(point) == 3
            if not numbers or not all(type(value) in (int, float) for value in point):
                raise ValueError("the progressive curve has a point that is not three numbers.")
        return cls([(int(n), float(weight), float(errors)) for n, weight, errors in points])

    def copy(self) -> ProgressiveCurve:
        """Return a curve of its own with the same points."""
        return ProgressiveCurve(list(self.points))


def _extended(points: list[Point], n_examples: int, weight: float, errors: float) -> list[Point]:
    # Later passes predict nothing before they learn it, and so make no points.
    if weight == (points[-1][1] if points else 0.0):
        return points
    return [*points, (n_examples, weight, errors)]
