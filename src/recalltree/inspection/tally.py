"""Counts that every evaluation keeps: by class, by depth, by pair of classes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Pairs of (label, answer) that are counted at most; then the rarest are forgotten.
MAX_PAIRS = 1_000_000


class Tally:
    """Counts over rows that come in batches; the base of evaluations.

    Parameters
    ----------
    clf : fitted estimator
    k : int
        No more than there are classes.
    n_columns : int
        Numbers that are kept for each depth.
    """

    def __init__(self, clf: Any, k: int, n_columns: int) -> None:
        if k < 1:
            raise ValueError(f"k={k}: it must be 1 or more.")
        self.clf = clf
        self.k = min(k, len(clf.classes_))
        self.n_rows = 0
        self.confusions: Counter[tuple[int, int]] = Counter()
        self.stops = np.zeros((0, n_columns))
        # A label that is learned from here on stays unknown.
        self._ids = {label: i for i, label in enumerate(clf.classes_.tolist())}
        self._seconds = 0.0
        self._by_class = np.zeros((len(clf.classes_), 2))  # weight, of which right

    def most_confused(self, n: int = 20) -> list[dict[str, Any]]:
        """Return the pairs of classes that were confused most often, the most frequent first.

        Returns
        -------
        list of dict
            With the keys ``label``, ``answer`` and ``n_rows``.
        """
        classes = self.clf.classes_.tolist()
        ranked = sorted(self.confusions.items(), key=lambda item: (-item[1], item[0]))
        return [
            {"label": classes[label], "answer": classes[answer], "n_rows": count}
            for (label, answer), count in ranked[:n]
        ]

    def class_results(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the weight of the rows of each class, and of those that were answered right."""
        return self._by_class[:, 0].copy(), self._by_class[:, 1].copy()

    def _add_to_classes(
        self, class_ids: NDArray[np.int64], right: NDArray[np.bool_], weights: NDArray[Any]
    ) -> None:
        np.add.at(self._by_class[:, 0], class_ids, weights)
        np.add.at(self._by_class[:, 1], class_ids[right], weights[right])

    def _add_confusions(self, labels: NDArray[np.int64], answers: NDArray[np.int64]) -> None:
        self.confusions.update(zip(labels.tolist(), answers.tolist(), strict=True))
        if len(self.confusions) > MAX_PAIRS:
            self.confusions = Counter({p: n for p, n in self.confusions.items() if n > 1})

    def _add_stops(self, core: Any, rows: Any, columns: list[NDArray[Any]]) -> None:
        """Add numbers of each row to the depth where its route stops, if there are routes."""
        if not hasattr(core, "route"):
            return
        depths = np.diff(core.route(rows)[0]) - 1
        more = int(depths.max(initial=-1)) + 1 - len(self.stops)
        if more > 0:
            self.stops = np.vstack([self.stops, np.zeros((more, self.stops.shape[1]))])
        for column, values in enumerate(columns):
            np.add.at(self.stops[:, column], depths, values)
