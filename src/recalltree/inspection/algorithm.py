"""What the algorithms are called when a person reads it."""

from __future__ import annotations

from typing import Any

_NAMES = {
    "RecallTreeClassifier": "Recall Tree",
    "OneAgainstAllClassifier": "One-against-all",
    "OneAgainstSomeClassifier": "One-against-some",
    "LOMTreeClassifier": "LOMTree",
}


def algorithm_name(clf: Any) -> str:
    """Return the name of an estimator's algorithm.

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> from recalltree.inspection.algorithm import algorithm_name
    >>> algorithm_name(LOMTreeClassifier())
    'LOMTree'
    """
    for kind in type(clf).__mro__:
        if kind.__name__ in _NAMES:
            return _NAMES[kind.__name__]
    return type(clf).__name__
