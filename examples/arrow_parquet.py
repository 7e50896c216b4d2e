"""Learn from Parquet files, answer record batches, write the answers as Parquet."""

import tempfile
from pathlib import Path

import pyarrow.parquet as pq
from library_rows import write_rows

import recalltree
from recalltree.arrow import Predictor
from recalltree.readers import open_rows
from recalltree.training import learn_from

folder = Path(tempfile.mkdtemp())
train, test = write_rows(folder)

reader = open_rows(f"{train}/*.parquet", label_column="module", text_column="text")
clf = recalltree.OneAgainstSomeClassifier(random_state=0)
for _ in learn_from(clf, reader):
    pass
clf.save(folder / "model.rt", extra={"rows": reader.options})  # how text becomes features
print(f"learned {clf.n_examples_} rows of {clf.n_classes_seen_} modules")

answer = Predictor(folder / "model.rt", k=3, keep={"id": "int64", "module": "string"})
with (
    pq.ParquetFile(test) as rows,
    pq.ParquetWriter(folder / "answers.parquet", answer.arrow_schema) as answers,
):
    for batch in answer.batches(rows.iter_batches(batch_size=1000)):
        answers.write_batch(batch)

found = pq.read_table(folder / "answers.parquet").to_pylist()
right = sum(row["module"] == row["labels"][0] for row in found)
print(f"{right} of {len(found)} paragraphs are given their module, of {len(clf.classes_)}")
