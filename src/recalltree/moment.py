"""Twins of a model that stay as the model is at one moment."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def at_one_moment(
    look: Callable[Concatenate[Any, _Given], _Result],
) -> Callable[Concatenate[Any, _Given], _Result]:
    """Let a function of an estimator see one moment of its model, whatever other threads learn.

    Parameters
    ----------
    look : callable
        Its first argument is the estimator, fitted or not.

    Returns
    -------
    callable
        The same, but it is given a twin of the estimator that stays as it is.
    """

    @wraps(look)
    def look_at_twin(clf: Any, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        with clf._reading() as twin:
            return look(twin, *args, **kwargs)

    return look_at_twin
