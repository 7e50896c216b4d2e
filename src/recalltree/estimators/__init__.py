"""The estimators: the Recall Tree and the two algorithms it is measured against."""

from recalltree.estimators.loading import load
from recalltree.estimators.lom_tree import LOMTreeClassifier
from recalltree.estimators.one_against_all import OneAgainstAllClassifier
from recalltree.estimators.recall_tree import RecallTreeClassifier

__all__ = ["LOMTreeClassifier", "OneAgainstAllClassifier", "RecallTreeClassifier", "load"]
