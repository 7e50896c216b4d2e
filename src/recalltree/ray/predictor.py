"""Prediction of the batches of Ray Data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from recalltree.arrow import Predictor as ArrowPredictor


class Predictor(ArrowPredictor):
    """Predicts batches of Ray Data, in whichever format they come.

    With ``batch_format="pyarrow"`` nothing is converted. The parameters are those of
    :class:`recalltree.arrow.Predictor`.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> import ray
    >>> import recalltree.ray
    >>> from recalltree import RecallTreeClassifier
    >>> clf = RecallTreeClassifier(random_state=0).fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"])
    >>> file = tempfile.NamedTemporaryFile(suffix=".rt")
    >>> clf.save(file.name)
    >>> context = ray.init("local", num_cpus=2, include_dashboard=False)
    >>> rows = ray.data.from_numpy(np.array([[0.0, 1.0], [1.0, 0.0]]))
    >>> answers = rows.map_batches(
    ...     recalltree.ray.Predictor,
    ...     fn_constructor_args=(file.name,),
    ...     batch_format="pyarrow",
    ...     compute=ray.data.ActorPoolStrategy(size=1),
    ... )
    >>> [list(row["labels"]) for row in answers.take_all()]
    [['no'], ['yes']]
    >>> ray.shutdown()
    """

    def __call__(self, batch: Any) -> Any:
        """Return the answers to a batch: a table, or a data frame for a data frame.

        Parameters
        ----------
        batch : Table, data frame of pandas, or dict of arrays
        """
        if isinstance(batch, Mapping):
            batch = pa.table({name: _as_arrow(column) for name, column in batch.items()})
        return super().__call__(batch)


def _as_arrow(column: Any) -> pa.Array:
    if isinstance(column, np.ndarray) and column.ndim == 2:
        return pa.FixedSizeListArray.from_arrays(pa.array(column.reshape(-1)), column.shape[1])
    return pa.array(list(column) if column.dtype == object else column)
