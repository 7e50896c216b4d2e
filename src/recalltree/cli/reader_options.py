"""The options that say how rows are read, made from the signature of ``open_rows``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Sequence
from typing import Any

import click
from click.core import ParameterSource

from recalltree.cli.docstrings import as_help, parameter_docs
from recalltree.cli.sections import SectionOption
from recalltree.readers import RowReader, open_rows

#: Arguments of open_rows that the command line gives by itself.
NOT_OPTIONS = frozenset({"paths", "require_labels", "frozen", "state"})
#: Names of columns may also be given together, with commas between them.
_COLUMNS = frozenset({"text_column", "numeric_columns"})

#: Where the words of the docstring are about Python.
_HELP = {
    "on_error": "What to do about a row that cannot be read: raise an error, skip it (bad rows are "
    "counted), or skip it and warn (for the first ten).",
    "dense": "Keep a weight for every feature of a class, as suits rows with few zeros.",
    "bits": "There are 2**BITS features, unless --n-features says otherwise.",
    "n_features": "How many features there are; by default 2**BITS. An svmlight index or a "
    "dictionary beyond it makes a bad row. With columns of numbers, the features of text alone.",
    "label_column": "Tables: the column of labels.",
    "weight_column": "Tables: the column of importance weights.",
}


def reader_options() -> list[click.Option]:
    """Return one option for each argument of ``open_rows`` that a user may give.

    Returns
    -------
    list of click.Option

    Examples
    --------
    >>> from recalltree.cli.reader_options import reader_options
    >>> options = {option.name: option for option in reader_options()}
    >>> options["on_error"].opts, options["on_error"].default
    (['--on-error'], 'raise')
    """
    return [_option(name, argument) for name, argument in _arguments().items()]


def given_options(ctx: click.Context, values: dict[str, Any]) -> dict[str, Any]:
    """Return the options for reading that the user gave, as ``open_rows`` takes them."""
    given = {
        name: list(values[name]) if isinstance(values[name], tuple) else values[name]
        for name in _arguments()
        if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT
    }
    for name in _COLUMNS & given.keys():
        given[name] = [column for text in given[name] for column in text.split(",")]
    return given


def open_like(
    paths: Sequence[str],
    kept: dict[str, Any] | None,
    given: dict[str, Any],
    **more: Any,
) -> RowReader:
    """Open rows as a model's rows were read, but for what the user says now.

    Parameters
    ----------
    paths : sequence of str
    kept : dict or None
        The options that the model was made with, if any.
    given : dict
        The options that the user gave.
    **more
        Further arguments of ``open_rows``.

    Returns
    -------
    RowReader
    """
    options = dict(kept or {})
    if "bits" in given and "n_features" not in given:
        options.pop("n_features", None)
    if options and given.get("format", options["format"]) != options["format"]:
        # Another format has options of its own; what all formats share stays.
        options = {n: v for n, v in options.items() if n in ("label_type", "dense", "n_features")}
    return open_rows(list(paths), **{**options, **given, **more})


def _arguments() -> dict[str, inspect.Parameter]:
    arguments = inspect.signature(open_rows).parameters
    return {name: a for name, a in arguments.items() if name not in NOT_OPTIONS}


def _choices(name: str) -> list[str] | None:
    """Return the values that the docstring lists in braces."""
    doc = inspect.getdoc(open_rows) or ""
    found = re.search(rf"^{name} : \{{([^}}]*)\}}", doc, re.M)
    return re.findall(r'"([^"]*)"', found[1]) if found else None


def _option(name: str, argument: inspect.Parameter) -> click.Option:
    flag = "--" + name.replace("_", "-")
    default = argument.default
    settings: dict[str, Any] = {
        "help": _HELP.get(name) or as_help(parameter_docs(open_rows)[name]),
        "default": default,
        "show_default": default not in (None, ()),
        "section": "Rows",
    }
    choices = _choices(name)
    if isinstance(default, bool):
        return SectionOption([f"{flag}/--no-{flag[2:]}"], **settings)
    if choices:
        settings["type"] = click.Choice(choices)
    elif isinstance(default, int) or name == "n_features":
        settings["type"] = click.INT
    elif "Sequence" in str(argument.annotation):
        settings |= {"multiple": True, "default": None, "metavar": "TEXT"}
        commas = ", or several names with commas between them" if name in _COLUMNS else ""
        settings["help"] += f" May be given several times{commas}."
    return SectionOption([flag, name], **settings)
