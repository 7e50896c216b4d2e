"""Numbers of bytes on the command line: 64MB, 1.5 GiB."""

from __future__ import annotations

import re
from typing import Any

import click

_UNITS = {
    "": 1,
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate("KMGT", 1)},
    **{f"{prefix}IB": 1024**power for power, prefix in enumerate("KMGT", 1)},
}


class ByteSize(click.ParamType):
    """A number of bytes, with or without a unit: kB, MB, GB and TB, or KiB, MiB, GiB and TiB.

    Examples
    --------
    >>> from recalltree.cli.byte_size import ByteSize
    >>> [ByteSize().convert(text, None, None) for text in ("300", "64MB", "1.5 GiB")]
    [300, 64000000, 1610612736]
    """

    name = "size"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | None:
        """Return the number of bytes."""
        if value is None or isinstance(value, int):
            return value
        found = re.fullmatch(r"(\d+(?:\.\d+)?) *([a-zA-Z]*)", value.strip())
        unit = _UNITS.get(found[2].upper()) if found else None
        if found is None or unit is None:
            self.fail(f"{value!r} is no number of bytes, as 500000 or 64MB is.", param, ctx)
        return int(float(found[1]) * unit)
