"""Output of commands: messages on standard error, results on standard output."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click


def say(text: str, *, quiet: bool = False) -> None:
    """Write a message to standard error."""
    if not quiet:
        click.echo(text, err=True)


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Let warnings, such as those of bad rows, be messages like others while the block runs."""

    def show(message: Any, *_: Any, **__: Any) -> None:
        click.echo(f"recalltree: warning: {message}", err=True)

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def as_json(value: Any) -> str:
    """Return a value as one line of JSON; numbers that are none become null.

    Examples
    --------
    >>> from recalltree.cli.messages import as_json
    >>> as_json({"label": "é", "error": float("nan")})
    '{"label": "é", "error": null}'
    """
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def write_pairs(pairs: Iterable[tuple[str, str]]) -> None:
    """Write names and values in two columns to standard output."""
    pairs = list(pairs)
    width = max(len(name) for name, _ in pairs)
    for name, value in pairs:
        click.echo(f"{name:<{width}}  {value}")


def counted(n: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> from recalltree.cli.messages import counted
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def one_line(text: Any) -> str:
    r"""Return a label such that it can stand in a column: tabs and line ends are escaped.

    Examples
    --------
    >>> from recalltree.cli.messages import one_line
    >>> print(one_line("a\tb\nc"))
    a\tb\nc
    """
    return str(text).translate(_ESCAPES)


_ESCAPES = str.maketrans({"\t": r"\t", "\n": r"\n", "\r": r"\r"})


def is_terminal_input() -> bool:
    """Return whether standard input is a person, from whom no rows will come."""
    return sys.stdin is not None and sys.stdin.isatty()


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's arrays and numbers
        return _plain(value.tolist())
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value
