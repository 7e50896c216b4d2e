"""An experiment: a question, its units of work, and its section of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.report.section import Section
from experiments.store import Record, Unit


def no_needs(_unit: Unit) -> Sequence[Unit]:
    """Return nothing: most units stand alone."""
    return ()


@dataclass(frozen=True)
class Experiment:
    """One experiment.

    Attributes
    ----------
    name : what it is called on the command line
    title : heading of its section
    sets : the sets that it is run on, unless others are named
    units : yields the units of work within a budget, set by set; a later unit may use the results
        of earlier ones
    run : does a unit and returns its result
    needs : returns the earlier units whose results a unit uses
    section : what the results say
    defaults : budget options that are not those of `Budget`
    paper : what the paper did and found; empty where the question is not the paper's
    question : what is asked, where the question is not the paper's
    has_benchmarks : whether its section also shows results of `benchmarks`, and so is never empty
    """

    name: str
    title: str
    sets: tuple[str, ...]
    units: Callable[[Budget], Iterable[Unit]]
    run: Callable[[Unit, Bench], dict[str, Any]]
    section: Callable[[Sequence[Record]], Section]
    needs: Callable[[Unit], Sequence[Unit]] = no_needs
    defaults: dict[str, Any] = field(default_factory=dict)
    paper: str = ""
    question: str = ""
    has_benchmarks: bool = False

    @property
    def lead(self) -> str:
        """How the section begins: with what the paper found, or with the question."""
        return f"*The paper:* {self.paper}" if self.paper else f"*The question:* {self.question}"
