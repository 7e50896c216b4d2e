"""Prediction inside engines gives what the model gives: Ray Data, Spark and DuckDB, for real."""

import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from engines import engine
from sklearn.datasets import load_digits

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
pq = pytest.importorskip("pyarrow.parquet")

import recalltree  # noqa: E402
from recalltree.arrow import ModelChangedError, Predictor  # noqa: E402

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
KEEP = {"id": "int64"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with a model and the files of rows to be answered."""
    folder = tmp_path_factory.mktemp("engines")
    rows = sp.csr_matrix(X)
    labels = np.array([f"digit {y}" for y in Y])
    recalltree.OneAgainstSomeClassifier(random_state=0).fit(rows, labels).save(folder / "model.rt")
    (folder / "rows").mkdir()
    for part, ids in enumerate(np.array_split(np.arange(len(Y)), 4)):
        matrix = rows[ids]
        pairs = pa.StructArray.from_arrays(
            [pa.array(matrix.indices), pa.array(matrix.data)], names=["index", "value"]
        )
        table = pa.table({"id": ids, "x": pa.ListArray.from_arrays(pa.array(matrix.indptr), pairs)})
        pq.write_table(table, folder / "rows" / f"{part}.parquet", row_group_size=100)
    return folder


@pytest.fixture(scope="module")
def expected(folder):
    """Return the labels and the probabilities of the model itself, by id."""
    labels, probabilities = recalltree.load(folder / "model.rt").predict_topk(sp.csr_matrix(X), 3)
    return labels.tolist(), probabilities.astype(np.float32)


def assert_answers(rows, expected):
    """Check the answers of all rows, which may come in any order."""
    rows = sorted(rows, key=lambda row: row["id"])
    labels, probabilities = expected
    assert [row["id"] for row in rows] == list(range(len(Y)))
    assert [list(row["labels"]) for row in rows] == labels
    found = np.array([row["probabilities"] for row in rows], dtype=np.float32)
    np.testing.assert_array_equal(found, probabilities)


# --- DuckDB ---------------------------------------------------------------------------------------


def test_duckdb(folder, expected):
    duckdb = engine("duckdb")
    answer = Predictor(folder / "model.rt", k=3, features="x", keep=KEEP)
    with duckdb.connect() as connection:
        rows = connection.sql(f"select * from '{folder}/rows/*.parquet' where id >= 0")
        answers = pa.RecordBatchReader.from_batches(
            answer.arrow_schema, answer.batches(rows.to_arrow_reader(500))
        )
        # The first connection is busy with the rows.
        found = connection.cursor().from_arrow(answers).fetchall()
    names = ("id", "labels", "probabilities")
    assert_answers([dict(zip(names, row, strict=True)) for row in found], expected)


# --- Spark ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spark():
    engine("pyspark")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.memory", "1g")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    yield session
    session.stop()


def test_spark(spark, folder, expected):
    answer = Predictor(folder / "model.rt", k=3, features="x", keep=KEEP)
    frame = spark.read.parquet(f"{folder}/rows")
    answers = frame.mapInArrow(answer.batches, answer.schema)
    assert_answers([row.asDict() for row in answers.collect()], expected)


def test_spark_with_dense_rows(spark, tmp_path):
    recalltree.RecallTreeClassifier(random_state=0).fit(X, Y).save(tmp_path / "model.rt")
    answer = Predictor(tmp_path / "model.rt", features="x", keep=KEEP, probabilities=None)
    rows = [(i, x) for i, x in enumerate(X[:100].tolist())]
    frame = spark.createDataFrame(rows, "id long, x array<float>")
    found = frame.mapInArrow(answer.batches, answer.schema).collect()
    labels = recalltree.load(tmp_path / "model.rt").predict(X[:100])
    assert {row.id: row.labels for row in found} == {i: [y] for i, y in enumerate(labels)}


def test_spark_tells_that_the_model_changed(spark, folder, tmp_path):
    clf = recalltree.load(folder / "model.rt")
    clf.save(tmp_path / "model.rt")
    answer = Predictor(tmp_path / "model.rt", features="x", keep=KEEP)
    answers = spark.read.parquet(f"{folder}/rows").mapInArrow(answer.batches, answer.schema)
    clf.partial_fit(sp.csr_matrix(X[:9]), ["new"] * 9).save(tmp_path / "model.rt")
    with pytest.raises(Exception, match=r"model\.rt has changed since the predictor was made"):
        answers.collect()


# --- Ray Data -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def ray():
    module = engine("ray")
    module.init("local", num_cpus=4, include_dashboard=False, object_store_memory=150 * 2**20)
    yield module
    module.shutdown()


@pytest.mark.parametrize("batch_format", ["pyarrow", "default"])
def test_ray_data(ray, folder, expected, batch_format):
    import recalltree.ray

    rows = ray.data.read_parquet(f"{folder}/rows")
    answers = rows.map_batches(
        recalltree.ray.Predictor,
        fn_constructor_args=(folder / "model.rt",),
        fn_constructor_kwargs={"k": 3, "features": "x", "keep": ["id"]},
        batch_format=batch_format,
        compute=ray.data.ActorPoolStrategy(size=2),
    )
    assert_answers(answers.take_all(), expected)


def test_ray_data_with_dense_rows(ray, tmp_path):
    import recalltree.ray

    recalltree.RecallTreeClassifier(random_state=0).fit(X, Y).save(tmp_path / "model.rt")
    rows = ray.data.from_numpy(X[:100])
    answers = rows.map_batches(
        recalltree.ray.Predictor,
        fn_constructor_args=(tmp_path / "model.rt",),
        fn_constructor_kwargs={"features": "data"},
        compute=ray.data.ActorPoolStrategy(size=1),
    )
    labels = recalltree.load(tmp_path / "model.rt").predict(X[:100])
    assert [list(row["labels"]) for row in answers.take_all()] == [[y] for y in labels]


def test_ray_data_tells_that_the_model_changed(ray, folder, tmp_path):
    clf = recalltree.load(folder / "model.rt")
    clf.save(tmp_path / "model.rt")
    answer = Predictor(tmp_path / "model.rt", features="x", keep=KEEP)
    clf.partial_fit(sp.csr_matrix(X[:9]), ["new"] * 9).save(tmp_path / "model.rt")
    rows = ray.data.read_parquet(f"{folder}/rows")
    with pytest.raises(Exception, match=ModelChangedError.__name__):
        rows.map_batches(answer, batch_format="pyarrow").take_all()
