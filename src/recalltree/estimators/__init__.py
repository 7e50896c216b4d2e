"""The estimators: one-against-some, the Recall Tree, and what they are measured against."""

from typing import TYPE_CHECKING

from recalltree.lazy import lazy_names

if TYPE_CHECKING:
    from recalltree.estimators.loading import load
    from recalltree.estimators.lom_tree import LOMTreeClassifier
    from recalltree.estimators.one_against_all import OneAgainstAllClassifier
    from recalltree.estimators.one_against_some import OneAgainstSomeClassifier
    from recalltree.estimators.recall_tree import RecallTreeClassifier

__all__ = [
    "LOMTreeClassifier",
    "OneAgainstAllClassifier",
    "OneAgainstSomeClassifier",
    "RecallTreeClassifier",
    "load",
]

# Mapped models predict without scikit-learn, on which the classifiers stand.
__getattr__ = lazy_names(
    __name__,
    {
        "LOMTreeClassifier": "lom_tree",
        "OneAgainstAllClassifier": "one_against_all",
        "OneAgainstSomeClassifier": "one_against_some",
        "RecallTreeClassifier": "recall_tree",
        "load": "loading",
    },
)
