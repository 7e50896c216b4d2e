"""Options as the commands have them: in sections of the help, with types of their own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import click


class SectionOption(click.Option):
    """An option that knows its section of the help.

    Parameters
    ----------
    *args, **kwargs
        As of ``click.Option``.
    section : str, default="Options"
    """

    def __init__(self, *args: Any, section: str = "Options", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


class SectionCommand(click.Command):
    """A command whose help has its options in sections, and then examples as they were written.

    Parameters
    ----------
    *args, **kwargs
        As of ``click.Command``.
    examples : sequence of (str, str), default=()
        What is done, and the command that does it.
    """

    def __init__(
        self, *args: Any, examples: tuple[tuple[str, str], ...] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                name = getattr(parameter, "section", "Options")
                sections.setdefault(name, []).append(record)
        for name, records in sections.items():
            with formatter.section(name):
                formatter.write_dl(records)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples."""
        if self.examples:
            with formatter.section("Examples"):
                for what, command in self.examples:
                    formatter.write_text(what)
                    formatter.indent()
                    formatter.write(f"{'':>{formatter.current_indent}}{command}\n\n")
                    formatter.dedent()
        super().format_epilog(ctx, formatter)


def command(
    name: str,
    function: Callable[..., Any],
    parameters: Sequence[click.Parameter],
    examples: tuple[tuple[str, str], ...],
) -> SectionCommand:
    """Return a command; its help begins with the first lines of the function's docstring."""
    return SectionCommand(
        name=name,
        callback=click.pass_context(function),
        params=list(parameters),
        help=function.__doc__,
        examples=examples,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )


# --- types of values ----------------------------------------------------------------------------

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
    >>> from recalltree.cli.options import ByteSize
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
            self.fail(
                f"{value!r} is not a number of bytes; give for example 500000, 64MB or 1.5GiB.",
                param,
                ctx,
            )
        return int(float(found[1]) * unit)


_MINUTES = {"s": 1 / 60, "min": 1.0, "h": 60.0}


@dataclass(frozen=True)
class Interval:
    """A number of rows or of minutes; the other is None."""

    every_rows: int | None = None
    every_minutes: float | None = None


class IntervalType(click.ParamType):
    """The type of ``--checkpoint-every``: ``100000rows``, ``10min``, ``90s``, ``2h``.

    Examples
    --------
    >>> from recalltree.cli.options import IntervalType
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


# --- options of several commands ----------------------------------------------------------------

rows_argument = click.Argument(["rows"], nargs=-1, metavar="[ROWS]...", type=click.Path())
model_option = SectionOption(
    ["-m", "--model"],
    required=True,
    metavar="MODEL",
    type=click.Path(allow_dash=True),
    help="The model file; - is standard input.",
)
json_option = SectionOption(["--json", "as_json"], is_flag=True, help="Write JSON.")
quiet_option = SectionOption(["-q", "--quiet"], is_flag=True, help="No progress, no messages.")
jobs_option = SectionOption(
    ["-j", "--n-jobs"], type=click.INT, help="Threads; -1 is all cores. By default 1."
)
mmap_option = SectionOption(
    ["--mmap/--no-mmap"],
    default=True,
    show_default=True,
    help="Map the model file instead of reading it: starts instantly and shares memory with "
    "other processes, but takes longer per row.",
)
