"""The algorithms that the command line knows, and the one that it takes by itself."""

from __future__ import annotations

from typing import Any

from recalltree.estimators.loading import CLASSIFIERS

#: By name: those of which model files are made.
ALGORITHMS: dict[str, type[Any]] = dict(CLASSIFIERS)

DEFAULT_ALGORITHM = "one-against-some"


def name_of(clf: Any) -> str:
    """Return the name of an estimator's algorithm.

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> from recalltree.cli.algorithms import name_of
    >>> name_of(LOMTreeClassifier())
    'lom-tree'
    """
    return next(name for name, kind in ALGORITHMS.items() if isinstance(clf, kind))
