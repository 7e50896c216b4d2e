"""Leaving out of a model what prediction does not need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

DTYPES = ("float32", "float16", "bfloat16")

#: Only learning needs these: AdaGrad's accumulators, in which order a node met its labels, the
#: margins by which LOMTree chooses the sides of the classes, who passed the nodes of trees that
#: vote, how often cells changed, and how many rows class vectors have counted.
_TRAINING_ONLY = (
    "accumulators",
    "bias_accumulators",
    "arrivals",
    "margins",
    "passed",
    "changes",
    "n_rows",
)
#: And these parts: where examples of each class ended, and the rows from which cells began.
_TRAINING_ONLY_PARTS = ("class_nodes.", "first_rows.")

#: Weights that stay as they are: how much the votes of one-against-some's keys count.
_EXACT = ("keys.weights",)

#: Weights of one-against-some's predictors, beside the counts of the keys' histograms; and the
#: vectors of classes in cells.
_VECTORS = "class_vectors.vectors"
_BY_ANOTHER_NAME = ("keys.predictors", _VECTORS)


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


@dataclass(frozen=True)
class CompactReport:
    """Savings of compacting a model, and their cost. ``print`` shows it.

    Attributes
    ----------
    dtype : str
        Type of the weights.
    bytes_before, bytes_after : int
        Size of the model file.
    n_weights_before, n_weights_after : int
        Weights in it; those that were 0 are gone.
    error_before, error_after : float or None
        Share of wrong predictions on the rows that were given; None without any.
    """

    dtype: str
    bytes_before: int
    bytes_after: int
    n_weights_before: int
    n_weights_after: int
    error_before: float | None = None
    error_after: float | None = None

    @property
    def error_change(self) -> float | None:
        """Increase of the error; None if it was not measured."""
        if self.error_before is None or self.error_after is None:
            return None
        return self.error_after - self.error_before

    def __str__(self) -> str:
        text = (
            f"{self.bytes_before:,} -> {self.bytes_after:,} bytes "
            f"({self.bytes_after / self.bytes_before:.0%}), "
            f"{self.n_weights_before:,} -> {self.n_weights_after:,} weights of type {self.dtype}"
        )
        if self.error_change is None:
            return text
        return (
            f"{text}; error {self.error_before:.4f} -> {self.error_after:.4f} "
            f"({self.error_change:+.4f})"
        )


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
        scales and counts stay as they are. Vectors of classes in cells are joined to one for each
        class, unless it is "float32".

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
    if _VECTORS in kept:
        before += kept[_VECTORS].size
        if dtype != "float32":
            _join_vectors(kept)
        before -= kept[_VECTORS].size
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
    return name in _BY_ANOTHER_NAME or (name.endswith(".weights") and name not in _EXACT)


def _is_for_training(name: str) -> bool:
    return name.rsplit(".", 1)[-1] in _TRAINING_ONLY or name.startswith(_TRAINING_ONLY_PARTS)


def _join_vectors(state: Arrays) -> None:
    """Add the mean of each class in cells to its weights: rows are multiplied with the sum alone.

    It comes out the same but for rounding, takes half the room, and has no large numbers, as sums
    of rows have.
    """
    vectors, width = state[_VECTORS], state["whitening.mean"].size
    if vectors.shape[1] == width:
        return
    factors = state["class_vectors.mean_scale"] * state["class_vectors.inverse_norms"]
    joined = vectors[:, :width] * factors[:, np.newaxis]
    joined += vectors[:, width:]
    state[_VECTORS] = joined


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


# --- bfloat16, which NumPy does not have: the upper half of a float32, held as uint16 ----------


def to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """Return the nearest bfloat16 of finite numbers; of two that are as near, the even one.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.model_file.compaction import from_bfloat16, to_bfloat16
    >>> from_bfloat16(to_bfloat16(np.array([1.0, 0.1, -3.0], dtype=np.float32)))
    array([ 1.        ,  0.10009766, -3.        ], dtype=float32)
    """
    bits = values.view(np.uint32)
    rounded = bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))
    halves = (rounded >> np.uint32(16)).astype(np.uint16)
    if ((halves & 0x7F80) == 0x7F80).any():
        largest = float(np.abs(values).max())
        raise ValueError(f"a weight of {largest:.9g} rounds to infinity in bfloat16.")
    return halves


def from_bfloat16(halves: NDArray[Any]) -> NDArray[np.float32]:
    """Return bfloat16 numbers as float32, exactly."""
    return (halves.astype(np.uint32) << np.uint32(16)).view(np.float32)
