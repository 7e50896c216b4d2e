"""An experiment: a question, its units of work, and its section of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.report.section import Section
from experiments.store import Record, Unit


class Study(Protocol):
    """What an experiment does: a module of `experiments.studies`."""

    SETS: tuple[str, ...]

    def units(self, budget: Budget) -> Iterable[Unit]:
        """Yield the units of work within a budget, set by set.

        A later unit may use the results of earlier ones.
        """

    def run(self, unit: Unit, bench: Bench) -> dict[str, Any]:
        """Do a unit and return its result."""


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes
    ----------
    name : what it is called on the command line
    title : heading of its section
    paper : what the paper did and found; empty where the question is not the paper's
    study : what is done
    section : what the results say
    defaults : budget options that are not those of `Budget`
    question : what is asked, where the question is not the paper's
    """

    name: str
    title: str
    paper: str
    study: Study
    section: Callable[[Sequence[Record]], Section]
    defaults: dict[str, Any] = field(default_factory=dict)
    question: str = ""

    @property
    def lead(self) -> str:
        """How the section begins: with what the paper found, or with the question."""
        return f"*The paper:* {self.paper}" if self.paper else f"*The question:* {self.question}"
