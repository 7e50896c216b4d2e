"""The budget of a run: how much of each experiment is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """What limits a run. It is part of the parameters of each unit, so budgets do not mix.

    Attributes
    ----------
    sets : tuple of str, or None for the experiment's own
    seeds : how many seeds
    rows : use the first so many training rows of a set; None is all
    test_rows : use so many test rows at most; None is all
    passes : passes over the rows at most
    probes : probes of a random search
    full_updates : one-against-all is trained with sampled negatives where training rows x classes x
        passes exceed this
    negative_samples : how many negatives are then sampled
    max_classes : of the experiment about cost
    """

    sets: tuple[str, ...] | None = None
    seeds: int = 3
    rows: int | None = None
    test_rows: int | None = 20_000
    passes: int = 1
    probes: int = 59
    full_updates: float = 2e9
    negative_samples: int = 64
    max_classes: int = 100_000

    def sets_or(self, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return the sets to use."""
        return default if self.sets is None else self.sets

    @property
    def size(self) -> dict[str, int | None]:
        """The part of a unit's parameters that says how much of a set is used."""
        return {"rows": self.rows, "test_rows": self.test_rows}
