"""Embeddings in tables: a column of lists, or columns of numbers, behind the features of words."""

import io
import json
import os

import numpy as np
import pytest
from command_line import run
from scipy.sparse import issparse

import recalltree
from recalltree import OneAgainstSomeClassifier, hybrid
from recalltree.readers import BadRowError, open_rows

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")

WIDTH = 6
COLUMNS = {"label_column": "y", "text_column": "text"}


def make_rows(n, seed=0):
    """Labels, words and vectors; a word and a direction belong to every label."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(1).normal(size=(10, WIDTH))
    labels = random.integers(10, size=n)
    vectors = np.float32(centres[labels] + 0.3 * random.normal(size=(n, WIDTH)))
    texts = [f"w{label} w{random.integers(30)}" for label in labels]
    return labels.tolist(), texts, vectors


def written(format, labels, texts, vectors):
    """Return a table with a column of lists, or in CSV with columns of numbers."""
    import pyarrow.parquet

    if format == "csv":
        lines = [",".join(["y", "text", *(f"e{i}" for i in range(WIDTH))])]
        for y, text, vector in zip(labels, texts, vectors, strict=True):
            lines.append(",".join([str(y), text, *map(str, vector.tolist())]))
        return "\n".join(lines).encode()
    if format == "jsonl":
        rows = zip(labels, texts, vectors.tolist(), strict=True)
        return "\n".join(json.dumps({"y": y, "text": t, "e": v}) for y, t, v in rows).encode()
    kind = pa.list_(pa.float32(), WIDTH) if format == "arrow" else pa.list_(pa.float64())
    column = pa.array(vectors.tolist(), kind)
    table = pa.table({"y": labels, "text": texts, "e": column})
    sink = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def columns_of(format):
    return [f"e{i}" for i in range(WIDTH)] if format == "csv" else ["e"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "arrow"])
def test_words_and_an_embedding(format):
    labels, texts, vectors = make_rows(20)
    data = written(format, labels, texts, vectors)
    embedding = columns_of(format)
    options = {"format": format, "embedding_columns": embedding, "bits": 5, **COLUMNS}
    reader = open_rows(io.BytesIO(data), batch_rows=7, **options)
    assert (reader.n_features, reader.n_dense_features) == (32 + WIDTH, WIDTH)
    rows = np.vstack([batch.X.toarray() for batch in reader])
    np.testing.assert_array_equal(rows[:, 32:], vectors)
    words = open_rows(io.BytesIO(data), format=format, bits=5, **COLUMNS)
    np.testing.assert_array_equal(rows[:, :32], next(iter(words)).X.toarray())

    again = open_rows(io.BytesIO(data), **json.loads(json.dumps(reader.options)))
    np.testing.assert_array_equal(next(iter(again)).X.toarray(), rows)
    with_sizes = open_rows(io.BytesIO(data), **{**options, "text_column": None})
    assert (with_sizes.n_features, with_sizes.n_dense_features) == (WIDTH, 0)
    (batch,) = with_sizes
    assert not issparse(batch.X)
    np.testing.assert_array_equal(batch.X, vectors)


def test_every_entry_of_the_block_is_stored():
    data = b'{"y": 1, "text": "a", "e": [0, 2]}\n{"y": 1, "text": "", "e": [0, 0]}'
    (batch,) = open_rows(io.BytesIO(data), format="jsonl", embedding_columns="e", bits=3, **COLUMNS)
    assert batch.X.indptr.tolist() == [0, 3, 5]
    assert batch.X.has_canonical_format


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("[1]", "not a list of 2 numbers"),
        ("[1, 2, 3]", "not a list of 2 numbers"),
        ("[]", "not a list of 2 numbers"),
        ("null", "a missing list"),
        ("[1, null]", "a missing number"),
        ("[1, 1e39]", "not a finite float32"),
    ],
)
def test_bad_lists_name_the_place(cell, reason):
    good = '{"y": 1, "text": "a", "e": [0.5, 2]}'
    data = f'{good}\n{{"y": 1, "text": "a", "e": {cell}}}\n{good}'.encode()
    options = {"format": "jsonl", "embedding_columns": ["e"], "bits": 3, **COLUMNS}
    with pytest.raises(BadRowError, match=f"line 2, column e: {reason}"):
        list(open_rows(io.BytesIO(data), **options))
    reader = open_rows(io.BytesIO(data), on_error="skip", **options)
    (batch,) = reader
    assert (reader.n_skipped, batch.X.toarray()[:, 8:].tolist()) == (1, [[0.5, 2.0]] * 2)


def test_options_that_do_not_fit(tmp_path):
    labels, texts, vectors = make_rows(3)
    data = written("jsonl", labels, texts, vectors)
    for options, message in (
        ({"embedding_columns": ["e"], "embedding_width": 3}, "not a list of 3 numbers"),
        ({"embedding_width": 3}, "for rows with embedding_columns"),
        ({"embedding_columns": ["e", "f"], "embedding_width": 3}, "embedding_columns names 2"),
        ({"embedding_columns": ["text"]}, "text"),
        ({"embedding_columns": ["missing"]}, "no list of numbers; pass embedding_width"),
    ):
        with pytest.raises(ValueError, match=message):
            list(open_rows(io.BytesIO(data), format="jsonl", **options, **COLUMNS))
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    os.close(write_end)
    with os.fdopen(read_end, "rb") as pipe:
        options = {"format": "jsonl", "embedding_columns": ["e"], **COLUMNS}
        with pytest.raises(ValueError, match="embedding_width is missing"):
            open_rows(pipe, **options)
        (batch,) = open_rows(pipe, embedding_width=WIDTH, **options)
        assert len(batch) == 3


def test_the_command_line_learns_words_and_an_embedding(tmp_path):
    labels, texts, vectors = make_rows(600)
    train, model = tmp_path / "train.jsonl", str(tmp_path / "model.rt")
    train.write_bytes(written("jsonl", labels, texts, vectors))
    options = ["--label-column", "y", "--text-column", "text", "--embedding-columns", "e"]
    named = ["--features", "dictionary", "--n-features", "64"]
    arguments = ["--algorithm", "one-against-some", "--seed", "1", "-q", *options, *named]
    run("train", train, "-m", model, *arguments)
    clf = recalltree.load(model)
    assert clf.n_dense_features == WIDTH

    words = open_rows(train, format="jsonl", features="dictionary", n_features=64, **COLUMNS)
    (batch,) = words
    X = hybrid(batch.X, vectors)
    expected = OneAgainstSomeClassifier(n_dense_features=WIDTH, random_state=1)
    expected.partial_fit(X[:64], batch.y[:64])
    for start in range(64, len(labels), 64):
        expected.partial_fit(X[start : start + 64], batch.y[start : start + 64])
    np.testing.assert_array_equal(clf.predict_topk(X, 3)[1], expected.predict_topk(X, 3)[1])

    found = json.loads(run("evaluate", "-m", model, train, "--json").stdout)
    assert found["error@1"] < 0.1
    one = json.dumps({"text": texts[0], "e": vectors[0].tolist()})
    explanation = run("explain", "-m", model, "-", "-k", "1", input=one).stdout
    assert f"{texts[0].split()[0]} = 1" in explanation


def test_features_of_an_embedding_have_names(tmp_path):
    labels, texts, vectors = make_rows(300)
    train, model = tmp_path / "train.jsonl", str(tmp_path / "model.rt")
    train.write_bytes(written("jsonl", labels, texts, vectors))
    options = ["--label-column", "y", "--embedding-columns", "e"]
    run("train", "--algorithm", "recall-tree", train, "-m", model, "-q", *options)
    one = json.dumps({"e": vectors[0].tolist()})
    explanation = run("explain", "-m", model, "-", "-k", "1", input=one).stdout
    assert all(f"e[{i}] = " in explanation for i in range(WIDTH))
