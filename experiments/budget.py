"""The budget of a run: how much of each experiment is done."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Budget:
    """Limits of a run. They are part of the parameters of each unit, so budgets do not mix.

    Attributes
    ----------
    sets : tuple of str, or None for the experiment's own
    algorithms : tuple of str, or None for the experiment's own
    variants : tuple of str, or None for all: what an ablation tries, or "what: value"
    seeds : how many seeds
    rows : use only the first training rows of a set, this many; None is all
    test_rows : use at most this many test rows; None is all
    start : where in a text to begin, in words; other sets are used from their beginning
    passes : passes over the rows at most
    probes : probes of a random search
    full_updates : one-against-all is trained with sampled negatives where training rows x classes x
        passes exceed this
    negative_samples : how many negatives are then sampled
    max_classes : use at most this many classes of a set; None is all
    """

    sets: tuple[str, ...] | None = None
    algorithms: tuple[str, ...] | None = None
    variants: tuple[str, ...] | None = None
    seeds: int = 3
    rows: int | None = None
    test_rows: int | None = 20_000
    start: int = 0
    passes: int = 1
    probes: int = 59
    full_updates: float = 2e9
    negative_samples: int = 64
    max_classes: int | None = None

    def sets_or(self, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return the sets to use."""
        return default if self.sets is None else self.sets

    def algorithms_or(self, default: tuple[str, ...]) -> tuple[str, ...]:
        """Return the algorithms to run, in the order of the experiment."""
        return tuple(a for a in default if self.algorithms is None or a in self.algorithms)

    def sampling_of(self, algorithm: str) -> dict[str, float]:
        """The part of a unit's parameters that says where one-against-all samples negatives."""
        if algorithm != "one-against-all":
            return {}
        return {"full_updates": self.full_updates, "negative_samples": self.negative_samples}

    @property
    def size(self) -> dict[str, int | None]:
        """The part of a unit's parameters that says how much of a set is used."""
        size = {"rows": self.rows, "test_rows": self.test_rows}
        return {**size, "start": self.start} if self.start else size
