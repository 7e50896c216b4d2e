r"""Files and streams -> batches of rows that estimators learn from.

>>> import io
>>> from recalltree import RecallTreeClassifier
>>> from recalltree.readers import open_rows
>>> file = io.BytesIO(b"cat | meow purr\ndog | bark wag:2\n" * 20)
>>> classifier = RecallTreeClassifier()
>>> for batch in open_rows(file, format="vw"):
...     classifier = classifier.partial_fit(batch.X, batch.y, sample_weight=batch.sample_weight)
>>> classifier.predict(batch.X[:2])
array(['cat', 'dog'], dtype=object)
"""

from typing import TYPE_CHECKING

from recalltree.lazy import lazy_names
from recalltree.readers.errors import (
    BadRowError,
    BadRowWarning,
    DamagedFileError,
    OneReadError,
)

if TYPE_CHECKING:
    from recalltree.readers.batches import Batch
    from recalltree.readers.open import open_rows
    from recalltree.readers.reader import RowReader
    from recalltree.readers.write import write_rows

__all__ = [
    "BadRowError",
    "BadRowWarning",
    "Batch",
    "DamagedFileError",
    "OneReadError",
    "RowReader",
    "open_rows",
    "write_rows",
]

# The command line needs the table of parameters alone to show its help.
__getattr__ = lazy_names(
    __name__,
    {"Batch": "batches", "RowReader": "reader", "open_rows": "open", "write_rows": "write"},
)
