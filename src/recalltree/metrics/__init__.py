"""Metrics of answers with one label per row or several, and progressive validation."""

from recalltree.metrics.at_k import error_at_k, ndcg_at_k, precision_at_k, recall_at_k
from recalltree.metrics.f1 import f1_at_threshold
from recalltree.metrics.progressive import progressive_errors
from recalltree.metrics.propensity import (
    InversePropensity,
    inverse_propensity,
    ps_ndcg_at_k,
    ps_precision_at_k,
)
from recalltree.metrics.scorers import (
    ndcg_at_k_scorer,
    precision_at_k_scorer,
    recall_at_k_scorer,
)

__all__ = [
    "InversePropensity",
    "error_at_k",
    "f1_at_threshold",
    "inverse_propensity",
    "ndcg_at_k",
    "ndcg_at_k_scorer",
    "precision_at_k",
    "precision_at_k_scorer",
    "progressive_errors",
    "ps_ndcg_at_k",
    "ps_precision_at_k",
    "recall_at_k",
    "recall_at_k_scorer",
]
