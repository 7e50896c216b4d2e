"""The base class of the estimators whose model is one tree."""

from __future__ import annotations

from typing import Any, ClassVar

from recalltree.estimators.base import OnlineClassifier
from recalltree.tree import TreeView


class TreeClassifier(OnlineClassifier):
    """Adds a view of the tree, and a picture of it; not to be used by itself."""

    _view_type: ClassVar[type[TreeView]]

    @property
    def tree_(self) -> Any:
        """A view of the tree."""
        fitted = self._check_fitted()
        return self._view_type(fitted.core, fitted.labels)

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
