"""Ray: prediction of its datasets, and training by its tasks.

It needs ``pip install 'recalltree[ray]'``.
"""

from typing import TYPE_CHECKING

from recalltree.lazy import lazy_names

if TYPE_CHECKING:
    from recalltree.ray.predictor import Predictor
    from recalltree.ray.training import TrainingError, fit

__all__ = ["Predictor", "TrainingError", "fit"]

__getattr__ = lazy_names(
    __name__, {"Predictor": "predictor", "TrainingError": "training", "fit": "training"}
)
