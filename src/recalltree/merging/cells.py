"""Cells: class vectors in one whitened space, and a new tree over them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree._core import draw_cells
from recalltree.merging.labels import Matched
from recalltree.merging.pairs import OFFSET
from recalltree.merging.plan import Fading, Plan, State, aligned_zeros, sum_up
from recalltree.merging.weights import merge_vectors

_WHITENING = (
    "whitening.mean",
    "whitening.rate",
    "whitening.matrix",
    "whitening.position",
)
_FIRST_ROWS = "first_rows."


def merge_cells(plan: Plan, fading: Fading) -> State:
    """Return the tensors of cells."""
    _check_whitening(plan)
    classes, state = plan.classes, {name: plan.base[name] for name in _WHITENING}
    state |= {
        name: array for name, array in plan.base.model.state.items() if name.startswith(_FIRST_ROWS)
    }
    bias, squares = merge_vectors(
        plan,
        "class_vectors.bias",
        "class_vectors.accumulators",
        classes,
        rule=plan.rules.votes,
        offset=OFFSET,
    )
    vectors = _merge_vectors(plan, classes, fading)
    means = vectors[:, : vectors.shape[1] // 2]
    norms = np.sqrt(np.einsum("ij,ij->i", means, means))  # without a copy of the means
    rows = sum_up(plan, "class_vectors.n_rows", classes)
    state |= {
        "class_vectors.mean_scale": plan.base["class_vectors.mean_scale"],
        "class_vectors.bias": bias,
        "class_vectors.accumulators": squares,
        "class_vectors.n_rows": np.minimum(rows, 0xFFFFFFFF).astype(np.uint32),
        "class_vectors.vectors": vectors,
        "class_vectors.inverse_norms": np.divide(
            1.0, norms, out=np.zeros_like(norms), where=norms > 0.0
        ),
    }
    config = plan.config
    n_features = config["n_dense_features"] if config["sparse"] else config["n_features"]
    drawn = draw_cells(
        {name: array for name, array in state.items() if name.startswith("class_vectors.")},
        int(n_features),
        classes.size,
    )
    return state | drawn


def _merge_vectors(plan: Plan, classes: Matched, fading: Fading) -> NDArray[np.float32]:
    """Add up the sums of rows, and merge the weights beside them."""
    name = "class_vectors.vectors"
    width = plan.base["whitening.mean"].size
    merged = aligned_zeros((classes.size, 2 * width))
    step = max(1, (1 << 18) // (width * len(plan.sources)))
    inverse = [classes.inverse(i) for i in range(len(plan.sources))]
    for low in range(0, classes.size, step):
        high = min(classes.size, low + step)
        base = np.zeros((high - low, width))
        own = inverse[0][low:high]
        base[own >= 0] = plan.base[name][own[own >= 0], :width]
        total = fading.base * base
        for i, model in enumerate(plan.models):
            own = inverse[i + 1][low:high]
            here = own >= 0
            total[here] += fading.new[i] * model[name][own[here], :width]
            total[here] -= fading.then[i] * base[here]
        merged[low:high, :width] = total
        plan.release()
    merged[:, width:] = merge_vectors(
        plan,
        name,
        "class_vectors.accumulators",
        classes,
        offset=OFFSET,
        columns=slice(width, 2 * width),
    )[0]
    return merged


def _check_whitening(plan: Plan) -> None:
    for source in plan.sources:
        if source["first_rows.n"][1] == 0:
            continue
        if source is plan.base and not len(source["classes.seen"]):
            why = "no base was given"
        else:
            why = f"{source.name} has learned {int(source['n_examples'][0]):,} rows"
        raise ValueError(
            "cells can be merged if all models whiten rows alike, which they learn from their "
            f"first rows, 2,048 at most; {why}. Let one model learn that many rows, let all others "
            "continue from it, and give it as the base."
        )
    for model in plan.models:
        for name in _WHITENING:
            if not np.array_equal(model[name], plan.base[name]):
                raise ValueError(
                    f"{model.name} whitens rows otherwise than {plan.base.name} ({name} differs), "
                    "so that it did not continue from it; give the base from which all models did."
                )
