"""Votes of the features of one-against-some, for the report's page: who votes for what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Features whose votes are on the page, and how many votes of all of them together.
MAX_FEATURES = 5_000
ALL_VOTES = 60_000
LEAST_VOTES, MOST_VOTES = 3, 30
DIGITS = 5

#: Options by which words of a row become columns; the page reads what is typed in the same way.
READING = (
    "format",
    "n_features",
    "features",
    "ngrams",
    "lowercase",
    "quadratic",
    "text_column",
    "numeric_columns",
    "zero_based",
    "weighting",
)


def votes_data(
    clf: Any, core: Any, place_of: NDArray[np.int64], names: Sequence[str] | None
) -> dict[str, Any] | None:
    """Return the votes of the most frequent features, None where features have none.

    The score of a class is the sum over the features of a row of ``|v| vote + v weight``, and the
    bias of the class; ``v`` is the value of the feature times its ``idf``, over the length of all.

    Parameters
    ----------
    clf : fitted estimator
    core : its core
    place_of : ndarray of shape (n_classes,)
        Where the page lists each class; -1 where it does not.
    names : sequence of str or None
        Names of the features, if they are known.

    Returns
    -------
    dict or None
        Votes of feature i are those from ``offsets[i]`` to ``offsets[i + 1]``.
    """
    config = core.config
    if config.get("keys") is None or not config["sparse"]:
        return None
    state = core.state()
    columns, examples = state["keys.features"], state["keys.examples"]
    if len(columns) == 0:
        return None
    chosen = np.argsort(-examples, kind="stable")[:MAX_FEATURES]
    entries, offsets, left_out = _entries(state, chosen, place_of)
    owner = np.repeat(chosen, np.diff(offsets))
    classes = state["keys.labels"][entries]
    roots = state["keys.roots"][entries].astype(float)
    affinity, share = (float(state["vote.scales"][i]) for i in (0, 2))
    norms = np.sqrt(np.maximum(state["classes.sums"].reshape(-1, 2)[:, 1], 1e-300))
    votes = affinity * roots / norms[classes] + share * roots / np.sqrt(examples[owner])
    votes *= np.maximum(0.0, state["keys.weights"][owner])
    shown = np.unique(classes)
    return {
        "columns": columns[chosen].tolist(),
        "names": _names(clf, names, columns[chosen]),
        "idf": _short(_idf(state, config, examples[chosen])),
        "offsets": offsets.tolist(),
        "places": place_of[classes].tolist(),
        "votes": _short(votes),
        "weights": _short(_floats(state["keys.predictors"][entries])),
        "biases": [place_of[shown].tolist(), _short(state["classes.bias"][shown])],
        "sublinear_tf": bool(config["sublinear_tf"]),
        "normalize": bool(config["normalize"]),
        "reading": _reading(clf),
        "n_features": len(columns),
        "left_out": left_out,
        "also": _also(core, config),
    }


def _entries(
    state: dict[str, Any], chosen: NDArray[np.int64], place_of: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the entries of the chosen histograms, where each begins, and how many are left out."""
    starts, stops = (state["keys.offsets"].astype(np.int64)[chosen + i] for i in (0, 1))
    limit = min(MOST_VOTES, max(LEAST_VOTES, ALL_VOTES // len(chosen)))
    lists = []
    for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
        entries = np.arange(start, stop)  # ranked: the largest counts first
        entries = entries[place_of[state["keys.labels"][start:stop]] >= 0]
        lists.append(entries[:limit])
    offsets = np.concatenate([[0], np.cumsum([len(entries) for entries in lists])])
    return np.concatenate(lists), offsets, int((stops - starts).sum() - offsets[-1])


def _idf(
    state: dict[str, Any], config: dict[str, Any], examples: NDArray[np.float64]
) -> NDArray[np.float64]:
    if not config["use_idf"]:
        return np.ones(len(examples))
    counted, origin = state["counted.examples"]
    decay = config["count_decay"]
    unit = 2.0 ** ((float(state["counted.n"][0]) - origin) / decay) if decay > 0 else 1.0
    rarity = np.maximum(1.0, (counted / unit + 1) / (examples / unit + 1))
    return np.sqrt(1 + np.log(rarity))


def _names(
    clf: Any, names: Sequence[str] | None, columns: NDArray[np.uint32]
) -> list[str | None] | None:
    if names is None:
        names = getattr(clf, "feature_names_in_", None)
    if names is None:
        return None
    return [str(names[j]) if j < len(names) else None for j in columns.tolist()]


def _reading(clf: Any) -> dict[str, Any] | None:
    rows = (getattr(clf, "model_extra_", None) or {}).get("rows")
    return None if rows is None else {name: rows[name] for name in READING if name in rows}


def _also(core: Any, config: dict[str, Any]) -> list[str]:
    """Return what else has a say in a score, and is not on the page."""
    parts = []
    if getattr(core, "has_cells", False):
        parts.append("cells")
    if config["keys"] in ("trees", "both", "path"):
        parts.append("trees")
    return parts


def _floats(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of any type as floats; bfloat16 comes as the bits of its upper half."""
    if values.dtype == np.uint16:
        return (values.astype(np.uint32) << 16).view(np.float32)
    return values


def _short(values: Any) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in np.asarray(values, dtype=float).tolist()]
