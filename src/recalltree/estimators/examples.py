"""Examples for a core: rows, their labels, their weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import Rows
from recalltree.label_lists import LabelLists, are_label_lists, as_label_lists
from recalltree.labels import Growth, as_labels


@dataclass(frozen=True)
class Examples:
    """Rows, the class of each or its classes, its weight, and which of them count."""

    rows: Rows
    class_ids: NDArray[np.uint32]  # (n,), or those of all rows
    weights: NDArray[np.float32] | None  # (n,), None when all are 1
    kept: NDArray[np.int64]  # the rows that are learned, in order
    offsets: NDArray[np.int64] | None = None  # (n + 1,) into class_ids, where rows have lists

    def has_labels(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether each row has a label."""
        if self.offsets is None:
            return np.ones(len(rows), dtype=bool)
        found: NDArray[np.bool_] = self.offsets[rows + 1] > self.offsets[rows]
        return found

    def are_right(self, rows: NDArray[np.int64], answers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether each answer, a class id, is a class of its row."""
        if self.offsets is None:
            right: NDArray[np.bool_] = self.class_ids[rows].astype(np.int64) == answers
            return right
        lists = LabelLists(self.class_ids.astype(np.int64), self.offsets)[rows]
        hits = lists.values == np.asarray(answers)[lists.rows]
        return np.bincount(lists.rows[hits], minlength=len(rows)) > 0


def check_labels(y: Any, *, learns_lists: bool, name: str) -> NDArray[Any] | LabelLists:
    """Return y as labels, one for each row, or as lists of labels.

    Parameters
    ----------
    y : array-like
    learns_lists : bool
    name : str
        Of the estimator.
    """
    has_lists = are_label_lists(y)
    if has_lists and learns_lists:
        return as_label_lists(y)
    try:
        return as_labels(y)
    except ValueError as error:
        if not has_lists:
            raise
        hint = (
            f"{name} learns one label for each row; OneAgainstSomeClassifier, RecallTreeClassifier "
            "and OneAgainstAllClassifier learn several."
        )
        raise ValueError(f"{error} {hint}") from error


def encode(
    labels: NDArray[Any] | LabelLists,
    kept: NDArray[np.int64],
    growth: Growth,
    *,
    sort: bool,
    skips_empty: bool,
) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.int64] | None]:
    """Return class ids, the rows that are learned, and the offsets of lists.

    Labels of rows that are not learned stay unknown.
    """
    if isinstance(labels, LabelLists):
        if labels.n_columns is not None:
            growth.encode(np.arange(labels.n_columns), sort=True)
        if skips_empty:
            kept = kept[labels.sizes[kept] > 0]
        is_kept = np.zeros(len(labels), dtype=bool)
        is_kept[kept] = True
        values, taken, offsets = labels.values, is_kept[labels.rows], labels.offsets
        ids = np.zeros(len(values), dtype=np.uint32)
        ids[taken] = growth.encode(values[taken], sort=sort)
        return ids, kept, offsets
    ids = np.zeros(len(labels), dtype=np.uint32)
    ids[kept] = growth.encode(labels[kept], sort=sort)
    return ids, kept, None
