"""Constraints that scikit-learn checks, made of a table of parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions

from recalltree.parameters import Parameter, Range, Table, TypeOf


def constraints_of(table: Table) -> dict[str, list[Any]]:
    """Return the constraints of an estimator's parameters, as ``_parameter_constraints`` has them.

    Examples
    --------
    >>> from recalltree.estimators.constraints import constraints_of
    >>> from recalltree.parameters import RECALL_TREE
    >>> [str(constraint) for constraint in constraints_of(RECALL_TREE)["min_gradient"]]
    ['a float in the range [0.0, 1.0)']
    """
    return {name: _constraints(parameter) for name, parameter in table.items()}


def _constraints(parameter: Parameter) -> list[Any]:
    found: list[Any] = [StrOptions(set(parameter.choices))] if parameter.choices else []
    if True in parameter.allowed:
        found.append("boolean")
    for allowed in parameter.allowed:
        if isinstance(allowed, Range):
            found.append(_interval(allowed))
        elif isinstance(allowed, TypeOf):
            found.append(allowed.load())
        elif allowed is None or isinstance(allowed, type):
            found.append(allowed)
    return found


def _interval(numbers: Range) -> Interval:
    has_low = numbers.low is not None and not numbers.low_open
    has_high = numbers.high is not None and not numbers.high_open
    closed = {
        (True, True): "both",
        (True, False): "left",
        (False, True): "right",
        (False, False): "neither",
    }
    kind = Integral if numbers.kind is int else Real
    return Interval(kind, numbers.low, numbers.high, closed=closed[has_low, has_high])
