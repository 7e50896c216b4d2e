"""Train by tasks of Ray: rounds of rows, each merged and saved."""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import ray
from library_rows import write_rows

import recalltree.ray
from recalltree.arrow import Predictor

folder = Path(tempfile.mkdtemp())
train, test = write_rows(folder)
ray.init("local", num_cpus=2, include_dashboard=False)


def learn():
    """Learn all rows; after whatever stopped it, the same call continues from the checkpoint."""
    return recalltree.ray.fit(
        recalltree.OneAgainstSomeClassifier(random_state=0),
        f"{train}/*.parquet",
        num_workers=2,
        sync_every=2000,
        checkpoint=folder / "model.rt",
        label_column="module",
        text_column="text",
    )


clf = learn()
print(f"learned {clf.n_examples_} rows of {clf.n_classes_seen_} modules")
assert learn().n_examples_ == clf.n_examples_  # nothing is left to learn

# The checkpoint is a model file like any other.
found = Predictor(folder / "model.rt", keep=["module"])(pq.read_table(test)).to_pylist()
right = sum(row["module"] == row["labels"][0] for row in found)
print(f"{right} of {len(found)} paragraphs are given their module")
ray.shutdown()
