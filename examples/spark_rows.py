"""Answer the rows of a data frame of Spark, in its workers."""

import os
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from train_model import train_model

from recalltree.arrow import Predictor

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
model, test = train_model(Path(tempfile.mkdtemp()))
answer = Predictor(model, k=3, keep={"id": "int64", "module": "string"})

spark = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
rows = spark.read.parquet(str(test))
# What is sent to the workers is the path of the model and a digest; each maps the file.
answers = rows.mapInArrow(answer.batches, answer.schema)
found = answers.selectExpr("count(*) as n", "count_if(module = labels[0]) as right").first()
print(f"{found['right']} of {found['n']} paragraphs are given their module")
spark.stop()
