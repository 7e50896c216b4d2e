"""The options of ``train`` that are the estimators' parameters, made from their signatures."""

from __future__ import annotations

import inspect
import re
from numbers import Integral, Real
from typing import Any

import click
from click.core import ParameterSource
from sklearn.utils._param_validation import Interval, StrOptions

from recalltree.cli.algorithms import ALGORITHMS
from recalltree.cli.byte_size import ByteSize
from recalltree.cli.docstrings import as_help, parameter_docs
from recalltree.cli.sections import SectionOption

#: Parameters that mean nothing for rows that are read from files in order, once per pass.
NOT_OPTIONS = frozenset({"shuffle", "early_stopping", "validation_fraction", "verbose"})
#: More names for an option.
ALIASES = {"n_passes": ("--passes",), "n_jobs": ("-j",), "random_state": ("--seed",)}

_HELP = {
    "n_passes": "Passes over the rows; files are read again for each.",
    "random_state": "Seed of what is random, if anything is: a number.",
}


def estimator_options() -> list[click.Option]:
    """Return one option for each parameter of any algorithm.

    Returns
    -------
    list of click.Option

    Examples
    --------
    >>> from recalltree.cli.estimator_options import estimator_options
    >>> options = {option.name: option for option in estimator_options()}
    >>> options["path_features"].default, options["path_features"].opts
    ('none', ['--path-features'])
    """
    owners: dict[str, list[str]] = {}
    for algorithm, kind in ALGORITHMS.items():
        for name in _parameters(kind):
            owners.setdefault(name, []).append(algorithm)
    shared = [name for name, known in owners.items() if len(known) == len(ALGORITHMS)]
    own = [name for name in owners if name not in shared]
    return [_option(name, owners[name]) for name in own + shared]


def chosen_parameters(
    ctx: click.Context, algorithm: str, values: dict[str, Any], *, only_given: bool
) -> dict[str, Any]:
    """Return the parameters of an algorithm's estimator, taken from the options.

    Parameters
    ----------
    ctx : click.Context
    algorithm : str
    values : dict
        All options, by name.
    only_given : bool
        Leave out those that the user did not give.

    Returns
    -------
    dict

    Raises
    ------
    click.UsageError
        If an option was given that the algorithm does not have.
    """
    known = _parameters(ALGORITHMS[algorithm])
    chosen = {}
    for option in estimator_options():
        name = str(option.name)
        given = ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
        if name in known:
            if given:
                chosen[name] = values[name]
            elif not only_given:
                chosen[name] = known[name].default
        elif given:
            owners = [a for a, kind in ALGORITHMS.items() if name in _parameters(kind)]
            raise click.UsageError(
                f"{option.opts[0]} has no meaning for --algorithm {algorithm}; it belongs to "
                f"{', '.join(owners)}.",
                ctx,
            )
    return chosen


def _parameters(kind: type[Any]) -> dict[str, inspect.Parameter]:
    parameters = inspect.signature(kind).parameters
    return {name: p for name, p in parameters.items() if name not in NOT_OPTIONS}


def _option(name: str, owners: list[str]) -> click.Option:
    kind = ALGORITHMS[owners[0]]
    defaults = {a: _parameters(ALGORITHMS[a])[name].default for a in owners}
    default = next(iter(defaults.values()))
    help_text = as_help(_HELP.get(name) or parameter_docs(kind)[name])
    for other, value in defaults.items():
        if value != default:
            help_text += f" With {other}, by default {_default_of(other, name)}."
    if len(owners) < len(ALGORITHMS):
        section = "Parameters of " + ", ".join(owners)
    else:
        section = "Parameters of all algorithms"
    flag = "--" + name.replace("_", "-")
    settings: dict[str, Any] = {
        "help": help_text,
        "default": default,
        "show_default": default is not None,
        "section": section,
    }
    constraints = kind._parameter_constraints[name]
    if "boolean" in constraints:
        return SectionOption([f"{flag}/--no-{flag[2:]}"], **settings)
    names = [*ALIASES.get(name, ()), flag]
    return SectionOption([*names, name], type=_type(name, constraints), **settings)


def _default_of(algorithm: str, name: str) -> str:
    """Return a default; where it is None, what the docstring says about that."""
    kind = ALGORITHMS[algorithm]
    value = _parameters(kind)[name].default
    said = re.search(r"\bBy default ([^.]*)\.", as_help(parameter_docs(kind)[name]))
    return said[1] if value is None and said else str(value)


def _type(name: str, constraints: list[Any]) -> click.ParamType:
    """Return the type of an option; what values it may have, the estimator checks itself."""
    if name == "random_state":
        return click.INT
    if name == "memory_budget":
        return ByteSize()
    for constraint in constraints:
        if isinstance(constraint, StrOptions):
            return click.Choice(sorted(constraint.options))
    kinds = {constraint.type for constraint in constraints if isinstance(constraint, Interval)}
    if kinds == {Integral}:
        return click.INT
    if Real in kinds:
        return click.FLOAT
    raise TypeError(f"no option can be made of the parameter {name}: {constraints}")
