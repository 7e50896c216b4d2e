"""The estimators: one-against-some, the Recall Tree, and what they are measured against."""

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
