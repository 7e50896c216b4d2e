"""Result of learning: a core and what belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from recalltree.estimators.progressive_curve import ProgressiveCurve
from recalltree.labels import LabelTable
from recalltree.model_file.container import Container
from recalltree.model_file.model import TRAINING


@dataclass(frozen=True)
class Fitted:
    """A core and what belongs to it. An estimator replaces it as a whole.

    Other threads may use an estimator while it learns. Code that takes this once has parts
    of one model, whatever ``fit`` does meanwhile. For one core:

    - Every call sees one moment; so do all calls ``with core.reading()``. A slice of rows is
      learned, and its point of the curve recorded, ``with core.learning()``.
    - Labels are in the table before the core learns them, and are never taken out. So labels are
      looked up after the core has answered.
    """

    core: Any
    #: The parameters that shape the core, as they were when learning began.
    config: dict[str, Any]
    labels: LabelTable
    curve: ProgressiveCurve
    #: ``TRAINING`` or ``PREDICTION``, and the weights that are bfloat16: see ``model_file.model``.
    contents: str = TRAINING
    bfloat16: frozenset[str] = frozenset()
    #: The file that the core views.
    container: Container | None = None

    @property
    def has_lists(self) -> bool:
        """True if rows have lists of labels."""
        return bool(self.core.has_lists)
