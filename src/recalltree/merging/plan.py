"""Plan of a merge: the models, how counts fade, and the rule for weights."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.labels import Matched
from recalltree.merging.rules import Floats, Rules
from recalltree.merging.sources import Source
from recalltree.merging.work import Work

State = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Fading:
    """Factors of counts, so that what is merged is in units of today; all are 1 without decay.

    Attributes
    ----------
    base : float
        Of the base's counts, after all rows that the models learned.
    then : list of float
        Of the base's counts, as they are within each model.
    new : list of float
        Of each model's counts.
    """

    base: float
    then: list[float]
    new: list[float]


@dataclass(frozen=True)
class Plan:
    """A merge.

    Attributes
    ----------
    base : Source
        From which all models continued; one that has learned nothing if none was given.
    models : list of Source
    classes : Matched
    rules : Rules
    work : Work
    n_threads : int
    """

    base: Source
    models: Sequence[Source]
    classes: Matched
    rules: Rules
    work: Work
    n_threads: int = 1

    @property
    def sources(self) -> list[Source]:
        """The base, then the models."""
        return [self.base, *self.models]

    @property
    def config(self) -> dict[str, Any]:
        """The parameters of the core."""
        return self.base.model.config

    @property
    def shares(self) -> list[float]:
        """Each model's share of the rows that were learned after the base."""
        return shares(self.gains("n_examples"))

    def gains(self, name: str) -> list[float]:
        """Return how much each model added to a number of the base."""
        before = float(self.base[name].flat[0])
        return [float(model[name].flat[0]) - before for model in self.models]

    def release(self) -> None:
        """Give back the memory of what was read of mapped files."""
        for source in self.sources:
            source.release()

    def fading(self, clock: str, origin: NDArray[Any], late: float) -> Fading:
        """Return how counts fade by the clock of each model: what it learned by its own rows.

        Parameters
        ----------
        clock : str
            The array that counts the examples.
        origin : ndarray
            Of the base and of each model, when the unit of counts was 1.
        late : float
            How many examples before the clock's number the unit is meant.
        """
        half_life = self.config.get("count_decay") or 0.0
        if half_life <= 0.0:
            ones = [1.0] * len(self.models)
            return Fading(1.0, ones, ones)
        times = [float(source[clock].flat[0]) - late for source in self.sources]
        units = [2.0 ** ((max(t, 0.0) - o) / half_life) for t, o in zip(times, origin, strict=True)]
        gains = self.gains(clock)
        then = [2.0 ** (-gain / half_life) / units[0] for gain in gains]
        base = 2.0 ** (-sum(gains) / half_life) / units[0]
        return Fading(base, then, [1.0 / unit for unit in units[1:]])


def shares(gains: Sequence[float]) -> list[float]:
    """Return numbers as shares of their sum; equal ones if that is 0.

    Examples
    --------
    >>> from recalltree.merging.plan import shares
    >>> shares([1, 3]), shares([0, 0])
    ([0.25, 0.75], [0.5, 0.5])
    """
    total = sum(gains)
    return [gain / total if total > 0 else 1.0 / len(gains) for gain in gains]


def aligned_zeros(shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Return zeros at a multiple of 64 bytes: the core uses such rows where they lie.

    Examples
    --------
    >>> from recalltree.merging.plan import aligned_zeros
    >>> aligned_zeros((3, 16)).ctypes.data % 64
    0
    """
    n = math.prod(shape)
    room = np.zeros(n + 16, dtype=np.float32)
    start = -room.ctypes.data % 64 // 4
    return room[start : start + n].reshape(shape)


def sum_up(plan: Plan, name: str, matched: Matched, fading: Fading | None = None) -> Floats:
    """Return base + sum of (model - base), row by row.

    Parameters
    ----------
    plan : Plan
    name : str
        The array.
    matched : Matched
        Its rows.
    fading : Fading, default=None
        None: nothing fades.

    Returns
    -------
    ndarray of float64
        Exact where all numbers are integers below 2^53.
    """
    first = plan.base[name]
    shape = (matched.size, *first.shape[1:])
    base = np.zeros(shape)
    base[matched.numbers[0]] = first
    total = base * (1.0 if fading is None else fading.base)
    for i, model in enumerate(plan.models):
        kept = matched.numbers[i + 1] >= 0
        places = matched.numbers[i + 1][kept]
        new, then = (1.0, 1.0) if fading is None else (fading.new[i], fading.then[i])
        total[places] += new * model[name][kept] - then * base[places]
    return np.maximum(total, 0.0)


def everything(plan: Plan, name: str) -> Matched:
    """Return that the rows of an array are the same in all models."""
    n = len(plan.base[name])
    return Matched(n, [np.arange(n)] * len(plan.sources))
