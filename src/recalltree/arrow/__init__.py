"""Prediction inside engines that speak Arrow: record batches in, record batches out.

It needs the package pyarrow (``pip install 'recalltree[arrow]'``) and no engine. Spark, Ray Data,
DuckDB, Daft and Dask call it in their own ways: ``docs/engines.md`` shows each.
"""

from recalltree.arrow.predictor import Predictor
from recalltree.arrow.shared_model import ModelChangedError

__all__ = ["ModelChangedError", "Predictor"]
