"""What the docstrings say about parameters: the text of the options is written there."""

from __future__ import annotations

import inspect
import re
from typing import Any


def parameter_docs(documented: Any) -> dict[str, str]:
    """Return the description of every parameter in a numpydoc docstring, as one paragraph.

    Parameters
    ----------
    documented : class or function

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> from recalltree.cli.docstrings import parameter_docs
    >>> parameter_docs(LOMTreeClassifier)["l2"]
    'Strength of the L2 penalty.'
    """
    text = inspect.getdoc(documented) or ""
    section = re.search(r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-+\n|\Z)", text, re.S | re.M)
    docs: dict[str, str] = {}
    if section is None:
        return docs
    for entry in re.finditer(r"^(\w[^\n:]*?) ?:[^\n]*\n((?:[ \t]+[^\n]*\n|\n)*)", section[1], re.M):
        description = " ".join(entry[2].split())
        docs |= dict.fromkeys(re.split(r",\s*", entry[1].strip()), description)
    return docs


def as_help(text: str) -> str:
    """Return a description as the help of an option: without Python's notation.

    Examples
    --------
    >>> from recalltree.cli.docstrings import as_help
    >>> as_help('Threads. None is 1; -1 is all. ``fit`` uses `bits` or ``"x"``.')
    'Threads. By default 1; -1 is all. fit uses bits or "x".'
    """
    text = re.sub(r"\bNone is\b", "By default", text)
    text = re.sub(r"\bNone (keeps|makes|leaves)\b", r"The default \1", text)
    return re.sub(r"`{1,2}([^`]*)`{1,2}", r"\1", text)
