"""The losses of the binary linear models."""

from __future__ import annotations

from typing import NamedTuple


class Loss(NamedTuple):
    """A loss of the score p against the target y, which is -1 or +1."""

    formula: str
    #: Probabilities are 1 / (1 + exp(-link_scale · p)).
    link_scale: float


#: Every loss, by the name that the parameter ``loss`` takes.
LOSSES = {
    "logistic": Loss("log(1 + exp(-y p))", 1.0),
    "hinge": Loss("max(0, 1 - y p)", 2.0),
    "squared": Loss("(p - y)²", 2.0),
}
