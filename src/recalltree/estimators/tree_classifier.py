"""What the estimators with a tree share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from recalltree.estimators.base import OnlineClassifier
from recalltree.tree import TreeView


class TreeClassifier(OnlineClassifier):
    """Base class of the estimators whose core has a tree; not to be used by itself."""

    @property
    def tree_(self) -> TreeView:
        """A view of the tree."""
        return TreeView(self._fitted_core(), self._labels)

    def _classes_by_frequency(self) -> NDArray[np.int64]:
        seen, _ = self._fitted_core().histogram(0)
        unseen = np.setdiff1d(np.arange(len(self._labels)), seen)
        return np.concatenate([seen.astype(np.int64), unseen])
