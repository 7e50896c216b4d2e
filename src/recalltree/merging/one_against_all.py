"""One-against-all: one row of weights for each class."""

from __future__ import annotations

import numpy as np

from recalltree.merging.common import merge_common
from recalltree.merging.labels import Matched
from recalltree.merging.plan import Plan, State
from recalltree.merging.weights import merge_weights


def merge_one_against_all(plan: Plan, features: Matched | None) -> State:
    """Return the state of a merged model."""
    order = dict.fromkeys(
        int(y)
        for source, own in zip(plan.sources, plan.classes.numbers, strict=True)
        for y in own[source["classes.order"].astype(np.int64)].tolist()
    )
    return {
        **merge_common(plan, features),
        **merge_weights(plan, "predictors", plan.classes, features=features),
        "classes.order": np.array(list(order), dtype=np.uint32),
    }
