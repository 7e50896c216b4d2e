"""Features of text that readers named or counted: dictionaries matched by name, counts added up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.merging.labels import NOWHERE, Matched
from recalltree.merging.sources import Source
from recalltree.readers.feature_state import FeatureState

_MOST_DOCUMENTS = np.iinfo(np.uint32).max


def merge_features(sources: Sequence[Source]) -> tuple[Matched | None, dict[str, Any] | None]:
    """Return which feature of each model is which, and how rows are to be read.

    Parameters
    ----------
    sources : sequence of Source
        The base, then the models.

    Returns
    -------
    features : Matched or None
        None: the same in all models.
    extra : dict or None
        What the merged model keeps beside itself. How far learning had come in which files belongs
        to one model alone, and goes.
    """
    with_rows = [s.model.extra for s in sources if s.model.extra and s.model.extra.get("rows")]
    kept = next((s.model.extra for s in sources if s.model.extra), None)
    if not with_rows:
        return None, kept
    rows = dict(with_rows[0]["rows"])
    extra = {name: value for name, value in with_rows[0].items() if name != "training"}
    read = [(s.model.extra or {}).get("rows", {}).get("state") for s in sources]
    if not any(read):
        return None, {**extra, "rows": rows}
    states = [FeatureState.unpacked(state or {}) for state in read]
    n_features = int(sources[0].model.config["n_features"])
    features, names = _match_names(states, len(rows.get("numeric_columns") or ()), n_features)
    rows["state"] = FeatureState(
        names,
        sum(s.n_documents for s in states[1:]) - (len(states) - 2) * states[0].n_documents,
        _add_counts(states, features, len(rows.get("numeric_columns") or ())),
    ).packed()
    return features, {**extra, "rows": rows}


def _match_names(
    states: Sequence[FeatureState], first: int, n_features: int
) -> tuple[Matched | None, list[str] | None]:
    """Match names of a dictionary, whose features begin with the first one after the columns."""
    if all(state.names is None for state in states):
        return None, None
    places: dict[str, int] = {}
    numbers = []
    for state in states:
        own = np.arange(n_features, dtype=np.int64)
        names = state.names or []
        for at, name in enumerate(names):
            own[first + at] = first + places.setdefault(name, len(places))
        # Features that have no name yet have learned nothing.
        own[first + len(names) : first + _room(state, n_features, first)] = NOWHERE
        numbers.append(own)
    room = max(_room(state, n_features, first) for state in states)
    if len(places) > room:
        raise ValueError(
            f"the dictionaries of the models have {len(places):,} features together, and there is "
            f"room for {room:,} (n_features); learn with a larger n_features, or with "
            "features='hashed'."
        )
    return Matched(n_features, numbers), list(places)


def _room(state: FeatureState, n_features: int, first: int) -> int:
    """Return how many features a dictionary may have."""
    return n_features - first if state.counts is None else len(state.counts)


def _add_counts(
    states: Sequence[FeatureState], features: Matched | None, first: int
) -> NDArray[np.uint32] | None:
    size = max((len(state.counts) for state in states if state.counts is not None), default=0)
    if size == 0:
        return None
    total = np.zeros(size, dtype=np.int64)
    for i, state in enumerate(states):
        if state.counts is None:
            continue
        places = np.arange(len(state.counts))
        if features is not None:
            places = features.numbers[i][first : first + size] - first
        there = places >= 0
        weight = 1 if i else 2 - len(states)
        total[places[there]] += weight * state.counts[there].astype(np.int64)
    return np.clip(total, 0, _MOST_DOCUMENTS).astype(np.uint32)
