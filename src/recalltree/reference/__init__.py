"""The algorithms in plain NumPy, written to be read; the compiled core is held to them.

Nothing here is fast. `recall_tree` is the one to read next to the paper.
"""

from .label_histogram import LabelHistogram, entropy, recall_lower_bound
from .linear_learner import FeatureScale, LinearLearner, LinearModel
from .lom_tree import LOMTreeReference
from .mini_batch import rows_of_mini_batch
from .one_against_all import OneAgainstAllReference
from .one_against_some import OneAgainstSomeReference
from .progressive import ProgressiveError
from .recall_tree import ClassPredictor, PathFeatures, RecallTreeReference
from .recall_tree_mini_batch import RecallTreeInMiniBatches

__all__ = [
    "ClassPredictor",
    "FeatureScale",
    "LOMTreeReference",
    "LabelHistogram",
    "LinearLearner",
    "LinearModel",
    "OneAgainstAllReference",
    "OneAgainstSomeReference",
    "PathFeatures",
    "ProgressiveError",
    "RecallTreeInMiniBatches",
    "RecallTreeReference",
    "entropy",
    "recall_lower_bound",
    "rows_of_mini_batch",
]
