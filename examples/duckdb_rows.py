"""Answer the rows of a query of DuckDB, and query the answers."""

import tempfile
from pathlib import Path

import duckdb
import pyarrow as pa
from train_model import train_model

from recalltree.arrow import Predictor

model, test = train_model(Path(tempfile.mkdtemp()))
answer = Predictor(model, k=3, keep={"id": "int64", "module": "string"})

with duckdb.connect() as connection:
    rows = connection.sql(f"select * from '{test}' where length(text) > 20")
    answers = pa.RecordBatchReader.from_batches(
        answer.arrow_schema, answer.batches(rows.to_arrow_reader(1000))
    )
    # Rows flow from one connection through the model into the other, a batch at a time.
    query = "select count(*), count_if(module = labels[1]) from answers"
    n_rows, right = connection.cursor().execute(query).fetchone()
print(f"{right} of {n_rows} paragraphs are given their module")
