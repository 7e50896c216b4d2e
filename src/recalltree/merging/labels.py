"""Labels of several models, matched by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.labels import LabelTable
from recalltree.merging.sources import Source
from recalltree.model_file.class_labels import StoredLabels, StoredText

#: Stands for a row that a model does not have.
NOWHERE = np.int64(-1)


@dataclass(frozen=True)
class Matched:
    """Things that several models have, each with the number that the merged model gives it.

    Attributes
    ----------
    size : int
        How many there are in all.
    numbers : list of ndarray of int64
        Of the base and of each model: the merged number of each of its own; -1 for what is left
        out.
    """

    size: int
    numbers: list[NDArray[np.int64]]

    def inverse(self, i: int) -> NDArray[np.int64]:
        """Return of each merged one its number in a model, -1 if that has none."""
        own = np.full(self.size, NOWHERE)
        numbers = self.numbers[i]
        kept = numbers >= 0
        own[numbers[kept]] = np.flatnonzero(kept)
        return own


def match_labels(sources: Sequence[Source]) -> tuple[NDArray[Any], Matched]:
    """Return all labels, those of the first model first, and the classes of each model.

    Classes are labels that learning gave an id. Labels that were only named come along, too.
    """
    table = LabelTable(_classes(sources[0]))
    numbers: list[NDArray[np.int64]] = []
    for source in sources:
        labels = source.model.classes
        n_known = _n_common(sources[0].model.classes, labels)
        ids = np.arange(len(labels), dtype=np.int64)
        if n_known < len(labels):
            rest = _classes(source)[n_known:]
            growth = table.grow()
            ids[n_known:] = growth.encode(rest, name=f"the labels of {source.name}")
            growth.commit()
        numbers.append(ids[: len(source["classes.seen"])])
    size = max((int(ids.max()) + 1 for ids in numbers if len(ids)), default=0)
    return table.classes, Matched(size, numbers)


def _classes(source: Source) -> NDArray[Any]:
    labels = source.model.classes
    return labels.decode() if isinstance(labels, StoredLabels) else np.asarray(labels)


def _n_common(ours: Any, theirs: Any) -> int:
    """Return the number of our labels if theirs begin with all of them, otherwise 0."""
    n = len(ours)
    if n == 0 or len(theirs) < n or ours.dtype.kind != theirs.dtype.kind:
        return 0
    if isinstance(ours, StoredLabels) and isinstance(theirs, StoredLabels):
        a, b = ours.stored, theirs.stored
        if isinstance(a, StoredText) and isinstance(b, StoredText):
            same = np.array_equal(a.offsets, b.offsets[: n + 1])
            return n if same and np.array_equal(a.text, b.text[: len(a.text)]) else 0
    mine = ours.decode() if isinstance(ours, StoredLabels) else ours
    others = theirs.decode() if isinstance(theirs, StoredLabels) else theirs
    return n if ours.dtype == theirs.dtype and np.array_equal(mine, others[:n]) else 0
