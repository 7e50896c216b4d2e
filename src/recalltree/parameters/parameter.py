"""A parameter: its default, the values that it may have, and a line of help."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`; None is no limit.

    Parameters
    ----------
    kind : int or float, as a type
    low, high : number or None, default=None
    low_open, high_open : bool, default=False
        Whether the limit itself is not allowed.
    unit : {"", "bytes"}, default=""
        What is counted.

    Examples
    --------
    >>> from recalltree.parameters import Range
    >>> 0.0 in Range(float, 0, 1), 0.0 in Range(float, 0, 1, low_open=True)
    (True, False)
    """

    kind: type[int] | type[float]
    low: float | None = None
    high: float | None = None
    low_open: bool = False
    high_open: bool = False
    unit: str = ""

    def __contains__(self, value: float) -> bool:
        low, high = self.low, self.high
        too_low = low is not None and (value < low or (self.low_open and value == low))
        too_high = high is not None and (value > high or (self.high_open and value == high))
        return not (too_low or too_high)


@dataclass(frozen=True)
class TypeOf:
    """A type of another package, which is imported only where a value is checked.

    Examples
    --------
    >>> from recalltree.parameters import TypeOf
    >>> TypeOf("fractions", "Fraction").load()
    <class 'fractions.Fraction'>
    """

    module: str
    name: str

    def load(self) -> type:
        """Import the type."""
        loaded: type = getattr(import_module(self.module), self.name)
        return loaded


@dataclass(frozen=True)
class Parameter:
    """One parameter, as every interface shows it.

    Parameters
    ----------
    name : str
    default : object
    allowed : tuple
        Values (None, True, False, strings), ranges of numbers, and types; a value must fit one.
    help : str
        Plain text: the command line shows it as it stands.
    none_is : str, default=""
        What None stands for, to complete "By default ...".
    """

    name: str
    default: Any
    allowed: tuple[Any, ...]
    help: str
    none_is: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """The strings that are allowed, if only certain ones are."""
        return tuple(value for value in self.allowed if isinstance(value, str))

    @property
    def ranges(self) -> tuple[Range, ...]:
        """The ranges of numbers that are allowed."""
        return tuple(value for value in self.allowed if isinstance(value, Range))


Table = Mapping[str, Parameter]


def make_table(*parameters: Parameter) -> Table:
    """Return parameters by name, in the order given.

    Raises
    ------
    ValueError
        If two have the same name.
    """
    table = {parameter.name: parameter for parameter in parameters}
    if len(table) < len(parameters):
        raise ValueError(f"two parameters have the same name: {[p.name for p in parameters]}")
    return table


def defaults_of(table: Table) -> dict[str, Any]:
    """Return the defaults by name.

    Examples
    --------
    >>> from recalltree.parameters import LOM_TREE, defaults_of
    >>> defaults_of(LOM_TREE)["swap_resistance"]
    4.0
    """
    return {name: parameter.default for name, parameter in table.items()}


def list_choices(documented: Any, table: Table) -> None:
    """Write the choices of parameters into a docstring, where it says ``name : {...}``.

    Examples
    --------
    >>> from recalltree.parameters import Parameter, list_choices, make_table
    >>> def paint(colour):
    ...     "colour : {...}"
    >>> list_choices(paint, make_table(Parameter("colour", "red", ("red", "blue"), "")))
    >>> paint.__doc__
    'colour : {"red", "blue"}'
    """
    for name, parameter in table.items():
        choices = ", ".join(f'"{choice}"' for choice in parameter.choices)
        text = documented.__doc__ or ""
        documented.__doc__ = text.replace(f"{name} : {{...}}", f"{name} : {{{choices}}}")
