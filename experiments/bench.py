"""The bench of a run: where units find data, earlier results and the budget."""

from __future__ import annotations

from dataclasses import dataclass, field

from experiments.budget import Budget
from experiments.data.catalogue import Part, Places, load
from experiments.data.task import Task
from experiments.store import Store, Unit


@dataclass
class Bench:
    """Resources of a unit. One set is kept in memory: units come set by set."""

    places: Places
    budget: Budget
    store: Store
    _kept: tuple[tuple[str, Part], Task] | None = field(default=None, repr=False)

    def task(self, unit: Unit) -> Task:
        """Load the set that a unit names, as much of it as the unit says."""
        key = (unit["set"], Part(unit["rows"], unit["test_rows"], unit.get("start", 0)))
        if self._kept is None or self._kept[0] != key:
            self._kept = None  # free the old one first
            self._kept = (key, load(key[0], self.places, key[1]))
        return self._kept[1]
