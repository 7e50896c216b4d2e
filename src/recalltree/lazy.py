"""Names of a package that are imported when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, str], rest: str | None = None
) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for a package.

    Parameters
    ----------
    package : str
    modules : dict
        For each name the module of the package that has it. Modules themselves need not be named.
    rest : str, default=None
        A module of the package whose public names are the package's, too.

    Returns
    -------
    callable

    Examples
    --------
    >>> from recalltree.lazy import lazy_names
    >>> get = lazy_names("recalltree", {"open_rows": "readers"})
    >>> get("open_rows").__module__, get("metrics").__name__
    ('recalltree.readers.open', 'recalltree.metrics')
    >>> get("nothing")
    Traceback (most recent call last):
        ...
    AttributeError: module 'recalltree' has no attribute 'nothing'
    """

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(f"{package}.{modules[name]}"), name)
        if not name.startswith("_"):
            if find_spec(f"{package}.{name}"):
                return import_module(f"{package}.{name}")
            if rest is not None and name in (module := import_module(f"{package}.{rest}")).__all__:
                return getattr(module, name)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return get
