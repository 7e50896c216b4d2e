"""Rules by which what several models learned of a weight becomes one weight.

Every rule starts from the common base w0 and the steps d = w - w0 that the models took away from
it; G are AdaGrad's sums of squared gradients, g = G - G0 what a model added to them:

    w = w0 + (sum of a d) / c

Each `a` depends on one model, and `c` on sums over the models, so that merging is associative.

AdaGrad steps by g_t / sqrt(G), where G grows by g_t^2. While gradients stay alike, a model that
adds g moves by 2 (sqrt(G0 + g) - sqrt(G0)) / g times what its gradients add up to. The rule
"replay" divides steps by this, and takes one step of the gradients of all models together. While G0
is small that is the rule "root"; while g is small, the sum of the steps.

Rows are merged by ``combine``, and lists by the core, in the same way (``file/merged_lists.hpp``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: Keeps quotients finite where nothing was learned.
_TINY = 1e-30


@dataclass(frozen=True)
class Rule:
    """Rule that makes one step of the steps of several models.

    Attributes
    ----------
    name : str
    importance : callable
        a, of (G0, g, share): AdaGrad's sum of the base, what the model added to it, and the
        model's share of the rows.
    norm : callable
        c, of (G0, sum of g).
    """

    name: str
    importance: Callable[[Floats, Floats, float], Any]
    norm: Callable[[Floats, Floats], Any]


def _root(G0: Floats, g: Floats) -> Floats:
    return np.sqrt(G0 + g) + np.sqrt(G0)


RULES = {
    rule.name: rule
    for rule in (
        Rule("replay", lambda G0, g, share: _root(G0, g), lambda G0, g: _root(G0, g) + _TINY),
        Rule("mass", lambda G0, g, share: g + _TINY, lambda G0, g: g + _TINY),
        Rule("root", lambda G0, g, share: np.sqrt(g + _TINY), lambda G0, g: np.sqrt(g + _TINY)),
        Rule("mean", lambda G0, g, share: share, lambda G0, g: 1.0),
        Rule("sum", lambda G0, g, share: 1.0, lambda G0, g: 1.0),
    )
}


@dataclass(frozen=True)
class Rules:
    """Rules by kind of weight.

    Attributes
    ----------
    pairs : Rule
        Weights that few rows teach, those of a class and a sparse feature: most of what a model
        learns of them is learned again in every round.
    rows : Rule
        Dense rows and routers, which many rows teach.
    votes : Rule
        Numbers that nearly all rows teach: biases, and how much votes count. Whatever the rule,
        averages of them would stay behind.
    """

    pairs: Rule
    rows: Rule
    votes: Rule


def rules_of(name: str, algorithm: str) -> Rules:
    """Return the rules that a name of ``MERGE_RULES`` stands for.

    The binary learners of the paper's algorithms step until an example is answered well, and every
    model does so by itself: sums of their steps go too far.

    Examples
    --------
    >>> from recalltree.merging.rules import rules_of
    >>> rules = rules_of("auto", "one-against-some")
    >>> rules.pairs.name, rules.rows.name, rules.votes.name
    ('root', 'replay', 'replay')
    >>> rules_of("auto", "recall-tree").rows.name
    'mass'
    """
    replay = RULES["replay"]
    if name != "auto":
        return Rules(RULES[name], RULES[name], replay)
    if algorithm == "one-against-some":
        return Rules(RULES["root"], replay, replay)
    return Rules(RULES["mass"], RULES["mass"], replay)


@dataclass(frozen=True)
class Learned:
    """Weights of one model, with AdaGrad's sums, and where they belong among the merged ones.

    Attributes
    ----------
    weights, squares : ndarray
        Squares may be of fewer columns, which then have one sum for all of them.
    places : ndarray of int or slice
        Row of the merged weights for each row.
    share : float
        The model's share of the rows that all models learned.
    """

    weights: NDArray[Any]
    squares: NDArray[Any]
    places: Any
    share: float


def combine(
    rule: Rule, weights: Floats, squares: Floats, models: Iterable[Learned]
) -> tuple[Floats, Floats]:
    """Return merged weights and AdaGrad's sums.

    Parameters
    ----------
    rule : Rule
    weights, squares : ndarray of float64
        Those of the base, 0 where it has none.
    models : iterable of Learned

    Returns
    -------
    weights, squares : ndarray of float64
    """
    moved = np.zeros_like(weights)
    gained, changed = np.zeros_like(squares), np.zeros_like(squares)
    for model in models:
        places = model.places
        before = squares[places]
        change, step = model.squares - before, model.weights - weights[places]
        gain = np.maximum(change, 0.0)
        moved[places] += rule.importance(before, gain, model.share) * step
        gained[places] += gain
        changed[places] += change
    merged = weights + moved / rule.norm(squares, gained)
    return merged, np.maximum(squares + changed, 0.0)
