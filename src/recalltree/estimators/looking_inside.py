"""The methods that look inside a model; what they do is in ``recalltree.inspection``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recalltree.inspection.explainer import explain
from recalltree.inspection.explanation import Explanation


class Explains:
    """Adds ``explain``."""

    def explain(
        self,
        x: Any,
        k: int = 5,
        n_features: int = 10,
        feature_names: Sequence[str] | None = None,
    ) -> Explanation:
        """Explain the answer for one row: its route, the candidates, the features behind both.

        Parameters
        ----------
        x : array-like of shape (n_features_in_,) or (1, n_features_in_), dense or sparse
        k : int, default=5
            How many of the best candidates to show.
        n_features : int, default=10
            How many features to show for each of them: those that move its score most.
        feature_names : sequence of str, default=None
            Names of the features. None is ``feature_names_in_``, or their numbers.

        Returns
        -------
        Explanation
            ``print`` shows it; ``as_dict()`` is for JSON.
        """
        return explain(self, x, k, n_features, feature_names)


class PlotsTree:
    """Adds ``plot_tree``."""

    def plot_tree(self, ax: Any = None, max_depth: int | None = None, n_labels: int = 1) -> Any:
        """Draw the tree with matplotlib: width by examples, colour by recall.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        max_depth : int, default=None
            Leave out what is deeper; None draws everything.
        n_labels : int, default=1
            How many of its most frequent labels to write into a node that has the room.

        Returns
        -------
        matplotlib Axes
        """
        from recalltree.plots import plot_tree

        return plot_tree(self, ax, max_depth, n_labels)
