"""What the scripts for engines begin with: rows, and a model of them."""

from __future__ import annotations

from pathlib import Path

from library_rows import write_rows

import recalltree
from recalltree.readers import open_rows
from recalltree.training import learn_from


def train_model(folder: Path) -> tuple[Path, Path]:
    """Return a model file, and a Parquet file of rows for it."""
    train, test = write_rows(folder)
    reader = open_rows(f"{train}/*.parquet", label_column="module", text_column="text")
    clf = recalltree.OneAgainstSomeClassifier(random_state=0)
    for _ in learn_from(clf, reader):
        pass
    clf.save(folder / "model.rt", extra={"rows": reader.options})  # how text becomes features
    return folder / "model.rt", test
