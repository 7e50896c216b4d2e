"""Leaving out of a model what prediction does not need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.model_file.bfloat16 import from_bfloat16, to_bfloat16

Arrays = dict[str, NDArray[Any]]

DTYPES = ("float32", "float16", "bfloat16")

#: What learning needs alone: AdaGrad's accumulators, in which order a node met its labels, the
#: margins by which LOMTree chooses the sides of the classes, and who passed the nodes of trees that
#: vote.
_TRAINING_ONLY = ("accumulators", "bias_accumulators", "arrivals", "margins", "passed")
_COUNTED_BY_CLASS = "class_nodes."


#: Weights that stay as they are: how much the votes of one-against-some's keys count.
_EXACT = ("keys.weights",)

#: Weights of one-against-some's predictors, beside the counts of the keys' histograms.
_COPIES = ("keys.predictors",)


@dataclass(frozen=True)
class Compacted:
    """The state of a model that only predicts.

    Attributes
    ----------
    state : dict of str to ndarray
    bfloat16 : frozenset of str
        Arrays that hold bfloat16, as uint16.
    n_weights_before, n_weights : int
        How many weights the model stored, and stores.
    """

    state: Arrays
    bfloat16: frozenset[str]
    n_weights_before: int
    n_weights: int


def compact_state(state: Arrays, bfloat16: frozenset[str], dtype: str) -> Compacted:
    """Return a state without what prediction does not need, its weights in another type.

    Parameters
    ----------
    state : dict of str to ndarray
        Of a core. It is not changed.
    bfloat16 : frozenset of str
        Its arrays that hold bfloat16 already.
    dtype : {"float32", "float16", "bfloat16"}
        Of the weights. Weights that are 0 in it are left out where rows are sparse; biases, feature
        scales and counts stay as they are.

    Returns
    -------
    Compacted

    Raises
    ------
    ValueError
        If a weight is too large for `dtype`.
    """
    kept = {name: array for name, array in state.items() if not _is_for_training(name)}
    before = after = 0
    halves = set()
    for name in [name for name in kept if _is_weights(name)]:
        wide = from_bfloat16(kept[name]) if name in bfloat16 else kept[name].astype(np.float32)
        kept[name] = _narrow(wide, dtype, name)
        if dtype == "bfloat16":
            halves.add(name)
        before += wide.size
        prefix = name.removesuffix("weights")
        if prefix + "rows" in kept:
            _drop_zeros(kept, prefix)
        after += kept[name].size
    if "labels.values" in kept:
        _drop_routers_labels(kept)
    return Compacted(kept, frozenset(halves), before, after)


def _is_weights(name: str) -> bool:
    return name in _COPIES or (name.endswith(".weights") and name not in _EXACT)


def _is_for_training(name: str) -> bool:
    return name.rsplit(".", 1)[-1] in _TRAINING_ONLY or name.startswith(_COUNTED_BY_CLASS)


def _narrow(weights: NDArray[np.float32], dtype: str, name: str) -> NDArray[Any]:
    if dtype == "float32":
        return weights
    if dtype == "bfloat16":
        return to_bfloat16(weights)
    with np.errstate(over="ignore"):
        half = weights.astype(np.float16)
    if not np.isfinite(half).all():
        largest = float(np.abs(weights).max())
        raise ValueError(
            f"dtype='float16': {name} holds a weight of {largest:.3g}, and float16 ends at 65504; "
            "take dtype='bfloat16', which has the range of float32."
        )
    return half


def _drop_zeros(state: Arrays, prefix: str) -> None:
    """Leave out the zeros of sparse rows, and the features at the end that then have no weights."""
    weights = state[prefix + "weights"]
    is_kept = (weights & 0x7FFF if weights.dtype == np.uint16 else weights) != 0
    n_before = np.concatenate([[0], np.cumsum(is_kept)])
    offsets = n_before[state[prefix + "offsets"]]
    n_features = int(np.searchsorted(offsets, offsets[-1]))
    state[prefix + "offsets"] = offsets[: n_features + 1].astype(np.uint64)
    state[prefix + "rows"] = state[prefix + "rows"][is_kept]
    state[prefix + "weights"] = weights[is_kept]


def _drop_routers_labels(state: Arrays) -> None:
    """Leave out what LOMTree's routers know of classes: only leaves answer."""
    counts = np.diff(state["labels.offsets"]).astype(np.int64)
    is_leaf = state["tree.left"] == np.iinfo(np.uint32).max
    is_kept = np.repeat(is_leaf, counts)
    offsets = np.concatenate([[0], np.cumsum(np.where(is_leaf, counts, 0))])
    state["labels.offsets"] = offsets.astype(np.uint64)
    state["labels.labels"] = state["labels.labels"][is_kept]
    state["labels.values"] = state["labels.values"][is_kept]
