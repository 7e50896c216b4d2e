"""Merging models that learned different rows into one model."""

from recalltree.merging.merge import merge
from recalltree.merging.rules import RULES

__all__ = ["RULES", "merge"]
