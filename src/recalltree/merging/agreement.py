"""Checks that models can be merged: the same algorithm, parameters and features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recalltree.merging.sources import Source

#: Algorithms that have no merge, and why.
_NOT_MERGED = {
    "lom-tree": "a LOMTree takes nodes from one place of its tree and gives them to another, so "
    "that the same node of two models need not mean the same; train a RecallTreeClassifier or a "
    "OneAgainstSomeClassifier, or learn all rows with one LOMTree"
}


def check_agreement(base: Source | None, models: Sequence[Source]) -> None:
    """Raise ValueError unless the models can be merged, naming all that they differ in."""
    first = models[0] if base is None else base
    if why := _NOT_MERGED.get(first.model.algorithm):
        raise ValueError(
            f"models of the algorithm {first.model.algorithm} cannot be merged: {why}."
        )
    differences = [text for other in models for text in _differences(first, other)]
    if differences:
        raise ValueError("the models cannot be merged: " + "; ".join(differences) + ".")
    if base is not None:
        for model in models:
            _check_goes_on(base, model)


def _differences(first: Source, other: Source) -> list[str]:
    if first is other:
        return []
    if first.model.algorithm != other.model.algorithm:
        return [
            _difference("algorithm", first, first.model.algorithm, other, other.model.algorithm)
        ]
    ours, theirs = first.model.config, other.model.config
    found = [
        _difference(name, first, ours.get(name), other, theirs.get(name))
        for name in sorted({*ours, *theirs})
        if ours.get(name) != theirs.get(name) and not (name == "seed" and _ignores_seed(ours))
    ]
    names, other_names = first.model.feature_names, other.model.feature_names
    if (names is None) != (other_names is None):
        found.append(
            _difference("feature_names_in_", first, _kind(names), other, _kind(other_names))
        )
    elif names is not None and other_names is not None and len(names) == len(other_names):
        where = np.flatnonzero(names != other_names)
        if len(where):
            at = int(where[0])
            name = f"feature_names_in_[{at}]"
            found.append(_difference(name, first, names[at], other, other_names[at]))
    return found + _differences_of_rows(first, other)


def _differences_of_rows(first: Source, other: Source) -> list[str]:
    """Compare how rows were read: a column has to mean the same feature."""
    ours = (first.model.extra or {}).get("rows") or {}
    theirs = (other.model.extra or {}).get("rows") or {}
    if not ours or not theirs:
        return []
    return [
        _difference(f"option {name!r} of the rows", first, ours.get(name), other, theirs.get(name))
        for name in sorted({*ours, *theirs})
        if name != "state" and ours.get(name) != theirs.get(name)
    ]


def _difference(name: str, first: Source, ours: Any, other: Source, theirs: Any) -> str:
    return f"{name} is {ours!r} in {first.name} and {theirs!r} in {other.name}"


def _kind(names: Any) -> str:
    return "absent" if names is None else "present"


def _ignores_seed(config: dict[str, Any]) -> bool:
    """Return whether models of different seeds mean the same: routers of trees that vote do not."""
    keys = config.get("keys")
    if keys == "auto":
        return bool(config["sparse"])
    return keys in (None, "features", "cells")


def _check_goes_on(base: Source, model: Source) -> None:
    before, now = int(base["n_examples"][0]), int(model["n_examples"][0])
    if now < before or len(model.model.classes) < len(base.model.classes):
        raise ValueError(
            f"{model.name} did not continue from {base.name}: it has learned {now:,} examples and "
            f"knows {len(model.model.classes):,} labels, {base.name} {before:,} and "
            f"{len(base.model.classes):,}. The base is the model from which all of them continued."
        )
