"""Options made from tables of parameters: those of the estimators, and those of ``open_rows``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from recalltree.cli.options import ByteSize, SectionOption
from recalltree.parameters import ALGORITHMS, Parameter, Range
from recalltree.readers.parameters import ROWS

#: Parameters that mean nothing for rows that are read from files in order, once per pass.
NOT_OPTIONS = frozenset({"shuffle", "early_stopping", "validation_fraction", "verbose"})

#: More names for an option.
ALIASES = {"n_passes": ("--passes",), "n_jobs": ("-j",), "random_state": ("--seed",)}

#: Names of columns may also be given together, with commas between them.
_COLUMNS = ("text_column", "numeric_columns", "embedding_columns")


def estimator_options() -> list[click.Option]:
    """Return one option for each parameter of any algorithm; those of all algorithms come last.

    Returns
    -------
    list of click.Option

    Examples
    --------
    >>> from recalltree.cli.generated_options import estimator_options
    >>> options = {option.name: option for option in estimator_options()}
    >>> options["path_features"].default, options["path_features"].opts
    ('none', ['--path-features'])
    """
    names = dict.fromkeys(name for table in ALGORITHMS.values() for name in table)
    owners = {name: _owners(name) for name in names if name not in NOT_OPTIONS}
    in_order = sorted(owners, key=lambda name: len(owners[name]) == len(ALGORITHMS))
    return [_estimator_option(name, owners[name]) for name in in_order]


def given_parameters(ctx: click.Context, algorithm: str, values: dict[str, Any]) -> dict[str, Any]:
    """Return the parameters of an algorithm's estimator that the user gave.

    Parameters
    ----------
    ctx : click.Context
    algorithm : str
    values : dict
        All options, by name.

    Returns
    -------
    dict

    Raises
    ------
    click.UsageError
        If an option was given that the algorithm does not have.
    """
    given = {option.name: option for option in estimator_options() if is_given(ctx, option.name)}
    for name, option in given.items():
        if name not in ALGORITHMS[algorithm]:
            raise click.UsageError(
                f"{option.opts[0]} has no meaning for --algorithm {algorithm}; it belongs to "
                f"{', '.join(_owners(name))}.",
                ctx,
            )
    return {name: values[name] for name in given}


def reader_options() -> list[click.Option]:
    """Return one option for each parameter of ``open_rows``.

    Returns
    -------
    list of click.Option

    Examples
    --------
    >>> from recalltree.cli.generated_options import reader_options
    >>> options = {option.name: option for option in reader_options()}
    >>> options["on_error"].opts, options["on_error"].default
    (['--on-error'], 'raise')
    """
    return [_reader_option(parameter) for parameter in ROWS.values()]


def given_reader_options(ctx: click.Context, values: dict[str, Any]) -> dict[str, Any]:
    """Return the options for reading that the user gave, as ``open_rows`` takes them."""
    given = {name: values[name] for name in ROWS if is_given(ctx, name)}
    given |= {name: list(value) for name, value in given.items() if isinstance(value, tuple)}
    for name in _COLUMNS:
        if name in given:
            given[name] = [column for text in given[name] for column in text.split(",")]
    return given


def is_given(ctx: click.Context, name: str) -> bool:
    """Return whether the user gave an option."""
    return ctx.get_parameter_source(name) is not ParameterSource.DEFAULT


def _owners(name: str) -> list[str]:
    return [algorithm for algorithm, table in ALGORITHMS.items() if name in table]


def _estimator_option(name: str, owners: list[str]) -> click.Option:
    first, *others = (ALGORITHMS[algorithm][name] for algorithm in owners)
    help_text = _help(first)
    for algorithm, other in zip(owners[1:], others, strict=True):
        if _default_text(other) != _default_text(first):
            help_text += f" With {algorithm}, by default {_default_text(other)}."
    is_shared = len(owners) == len(ALGORITHMS)
    return _option(
        first,
        help=help_text,
        section="Parameters of " + ("all algorithms" if is_shared else ", ".join(owners)),
        # Where algorithms differ in what they allow, the estimator itself says so.
        same_range=all(other.allowed == first.allowed for other in others),
    )


def _reader_option(parameter: Parameter) -> click.Option:
    settings: dict[str, Any] = {"help": _help(parameter), "section": "Rows"}
    if Sequence in parameter.allowed:
        is_column = parameter.name in _COLUMNS
        commas = ", or several names with commas between them" if is_column else ""
        settings |= {"multiple": True, "default": None, "show_default": False, "metavar": "TEXT"}
        settings["help"] += f" May be given several times{commas}."
    return _option(parameter, **settings)


def _option(parameter: Parameter, *, same_range: bool = True, **settings: Any) -> click.Option:
    name = parameter.name
    flag = "--" + name.replace("_", "-")
    default = parameter.default
    settings = {"default": default, "show_default": default is not None} | settings
    if parameter.allowed == (True, False):
        return SectionOption([f"{flag}/--no-{flag[2:]}"], **settings)
    names = [*ALIASES.get(name, ()), flag, name]
    if parameter.ranges and not parameter.ranges[0].unit:
        settings["metavar"] = "INTEGER" if parameter.ranges[0].kind is int else "FLOAT"
    return SectionOption(names, type=_type(parameter, same_range=same_range), **settings)


def _type(parameter: Parameter, *, same_range: bool) -> click.ParamType:
    if parameter.choices:
        return click.Choice(parameter.choices)
    if not parameter.ranges:
        return click.STRING
    first = parameter.ranges[0]
    if first.unit == "bytes":
        return ByteSize()
    if len(parameter.ranges) > 1 or not same_range:
        return click.INT if first.kind is int else click.FLOAT
    return _range_type(first)


def _range_type(numbers: Range) -> click.ParamType:
    ends: dict[str, Any] = {
        "min": numbers.low,
        "max": numbers.high,
        "min_open": numbers.low_open,
        "max_open": numbers.high_open,
    }
    return click.IntRange(**ends) if numbers.kind is int else click.FloatRange(**ends)


def _help(parameter: Parameter) -> str:
    by_default = f" By default {parameter.none_is}." if parameter.none_is else ""
    return parameter.help + by_default


def _default_text(parameter: Parameter) -> str:
    return parameter.none_is or str(parameter.default)
