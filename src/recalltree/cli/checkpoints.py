"""How often to write a checkpoint: every so many rows, or minutes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import click

_MINUTES = {"s": 1 / 60, "min": 1.0, "h": 60.0}


@dataclass(frozen=True)
class Interval:
    """So many rows or so many minutes; the other is None."""

    every_rows: int | None = None
    every_minutes: float | None = None


class IntervalType(click.ParamType):
    """The type of ``--checkpoint-every``: ``100000rows``, ``10min``, ``90s``, ``2h``.

    Examples
    --------
    >>> from recalltree.cli.checkpoints import IntervalType
    >>> IntervalType().convert("100_000 rows", None, None)
    Interval(every_rows=100000, every_minutes=None)
    >>> IntervalType().convert("90s", None, None)
    Interval(every_rows=None, every_minutes=1.5)
    """

    name = "interval"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Interval:
        """Return the interval that a text stands for."""
        if isinstance(value, Interval):
            return value
        found = re.fullmatch(r"\s*([\d_]+(?:\.\d+)?)\s*(rows?|s|min|h)\s*", str(value))
        amount = float(found[1].replace("_", "")) if found else 0.0
        if found is None or amount <= 0:
            self.fail(f"{value!r}: give for example 100000rows, 10min, 90s or 2h.", param, ctx)
        if found[2].startswith("row"):
            if amount != int(amount):
                self.fail(f"{value!r}: rows come in whole numbers.", param, ctx)
            return Interval(every_rows=int(amount))
        return Interval(every_minutes=amount * _MINUTES[found[2]])
