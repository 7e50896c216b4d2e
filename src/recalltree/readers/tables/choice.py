"""Columns of labels and features, where the user names none and only one choice is sensible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from recalltree._core import parse_floats
from recalltree.readers.options import RowOptions
from recalltree.readers.sources import Source
from recalltree.readers.tables.blocks import first_rows, no_column
from recalltree.readers.tables.columns import Column, ListColumn, NumberColumn, TextColumn

#: Names of columns, in lower case, that say what is in them.
_LABELS = frozenset({"label", "labels", "class", "category", "target", "y"})
_ROW_NAMES = frozenset({"", "id", "index", "row", "uid", "uuid", "unnamed: 0"})

#: The option that takes a column of each kind.
_OPTIONS = {"text": "text_column", "words": "text_column", "numbers": "numeric_columns"}
_OPTIONS["lists of numbers"] = "embedding_columns"


def choose_columns(options: RowOptions, sources: list[Source]) -> RowOptions:
    r"""Return options that name columns of features, and one of labels if rows need them.

    Parameters
    ----------
    options : RowOptions
        Columns that they name stay as they are.
    sources : list of Source
        The first of them is looked at, if a column is to be found.

    Raises
    ------
    ValueError
        If there are several sensible choices, or none.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers import open_rows
    >>> table = b"id,category,title\n1,cats,meow and purr\n2,dogs,bark at cats\n"
    >>> reader = open_rows(io.BytesIO(table), format="csv")
    >>> reader.options["label_column"], reader.options["text_column"]
    ('category', ['title'])
    """
    has_features = options.text_column or options.numeric_columns or options.embedding_columns
    if has_features and (options.label_column is not None or not options.require_labels):
        return options
    kinds = {name: _kind(column) for name, column in first_rows(sources, options.format).items()}
    label = options.label_column
    named = {label} if label is not None and options.require_labels else set()
    for name in sorted(named | _named(options)):
        if name not in kinds:
            raise ValueError(no_column(sources[0].name, name, list(kinds)))
    if label is None:
        label = _label(kinds, _named(options))
    if label is None and options.require_labels:
        raise ValueError(_ask(kinds, sources[0].name, needs_features=not has_features))
    if has_features:
        return replace(options, label_column=label)
    taken = {label, options.weight_column}
    found = _features({name: kind for name, kind in kinds.items() if name not in taken})
    if found is None:
        raise ValueError(_ask(kinds, sources[0].name, needs_label=options.label_column is None))
    features: dict[str, Any] = dict([found])
    return replace(options, label_column=label, **features)


def _named(options: RowOptions) -> set[str]:
    names = (*options.text_column, *options.numeric_columns, *options.embedding_columns)
    return {name for name in (*names, options.weight_column) if name is not None}


def _label(kinds: dict[str, str], taken: set[str]) -> str | None:
    free = [name for name in kinds if name not in taken]
    by_name = [name for name in free if name.lower() in _LABELS]
    if by_name:
        return by_name[0] if len(by_name) == 1 else None
    short = [name for name in free if kinds[name] in ("text", "numbers")]
    # Of two columns, the one without words can only be the label.
    if len(free) == 2 and len(short) == 1 and kinds[_other(free, short[0])] == "words":
        return short[0]
    return free[0] if taken and len(free) == 1 else None


def _other(pair: Iterable[str], name: str) -> str:
    return next(other for other in pair if other != name)


def _features(kinds: dict[str, str]) -> tuple[str, tuple[str, ...]] | None:
    """Return an option and the columns that it takes, None if several could be meant."""
    kinds = {name: kind for name, kind in kinds.items() if name.lower() not in _ROW_NAMES}
    if not kinds or not all(kind in _OPTIONS for kind in kinds.values()):
        return None
    (first, *more) = {_OPTIONS[kind] for kind in kinds.values()}
    if more or (first != "numeric_columns" and len(kinds) > 1):
        return None
    return first, tuple(kinds)


def _kind(column: Column) -> str:
    """Return what the cells of a column look like."""
    if len(column) == 0 or column.missing.all():
        return "nothing"
    if isinstance(column, NumberColumn):
        return "numbers"
    if isinstance(column, ListColumn):
        return "lists of numbers" if isinstance(column.items, NumberColumn) else "lists"
    if not isinstance(column, TextColumn):
        return column.kind
    _, status = parse_floats(column.offsets, column.data)
    if not status[~column.missing].any():
        return "numbers"
    has_blank = np.fromiter((b" " in cell.strip() for cell in column.cells()), bool, len(column))
    return "words" if has_blank.mean() > 0.5 else "text"


def _ask(
    kinds: dict[str, str], file: str, *, needs_label: bool = True, needs_features: bool = True
) -> str:
    asked = []
    if needs_label:
        asked.append("the column of labels with label_column (--label-column)")
    if needs_features:
        asked.append(
            "the columns of features with text_column, numeric_columns or embedding_columns "
            "(--text-column and so on)"
        )
    columns = ", ".join(f"{name!r} ({kind})" for name, kind in kinds.items()) or "none"
    return f"{file}: name {', and '.join(asked)}; its columns are {columns}"
