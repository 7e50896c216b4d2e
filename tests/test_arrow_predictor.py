"""Prediction of record batches: what columns mean, what passes through, and what is refused."""

import io
import os
import pickle
import shutil
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")

import recalltree  # noqa: E402
from recalltree.arrow import ModelChangedError, Predictor  # noqa: E402
from recalltree.arrow.columns import rows_of  # noqa: E402
from recalltree.readers import open_rows  # noqa: E402
from recalltree.training import learn_from  # noqa: E402

X, Y = load_digits(return_X_y=True)
X = X.astype(np.float32)
N = 200


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "dense.rt"
    labels = np.array([f"digit {y}" for y in Y])
    recalltree.OneAgainstSomeClassifier(random_state=0).fit(X, labels).save(path)
    return path


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "sparse.rt"
    recalltree.OneAgainstSomeClassifier(random_state=0).fit(sp.csr_array(X), Y).save(path)
    return path


def fixed_lists(rows):
    return pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), rows.shape[1])


def pairs(rows):
    """Return rows as lists of structs."""
    matrix = sp.csr_matrix(rows)
    fields = [pa.array(matrix.indices), pa.array(matrix.data)]
    structs = pa.StructArray.from_arrays(fields, names=["index", "value"])
    return pa.ListArray.from_arrays(pa.array(matrix.indptr), structs)


def two_lists(rows):
    matrix = sp.csr_matrix(rows)
    offsets = pa.array(matrix.indptr)
    return tuple(
        pa.ListArray.from_arrays(offsets, pa.array(part)) for part in (matrix.indices, matrix.data)
    )


def as_map(rows):
    matrix = sp.csr_matrix(rows)
    return pa.MapArray.from_arrays(
        pa.array(matrix.indptr), pa.array(matrix.indices), pa.array(matrix.data)
    )


def assert_answers(answers, path, rows, k):
    """Check the answers against those of the model that scikit-learn's users load."""
    labels, probabilities = recalltree.load(path).predict_topk(rows, k)
    assert answers.column("labels").to_pylist() == labels.tolist()
    found = np.array(answers.column("probabilities").to_pylist(), dtype=np.float32)
    np.testing.assert_array_equal(found, probabilities.astype(np.float32))
    assert answers.schema.field("probabilities").type == pa.list_(pa.float32())


DENSE = {
    "fixed": fixed_lists,
    "lists": lambda rows: pa.array(rows.tolist(), pa.list_(pa.float32())),
    "large lists": lambda rows: pa.array(rows.tolist(), pa.large_list(pa.float64())),
    "half": lambda rows: fixed_lists(rows.astype(np.float16)),
    "bytes": lambda rows: pa.array(rows.astype(np.uint8).tolist(), pa.list_(pa.uint8())),
    "tensor": lambda rows: pa.ExtensionArray.from_storage(
        pa.fixed_shape_tensor(pa.float32(), [8, 8]), fixed_lists(rows)
    ),
}


@pytest.mark.parametrize("kind", DENSE)
def test_lists_of_numbers_are_dense_rows(dense, kind):
    batch = pa.record_batch({"x": DENSE[kind](X[:N])})
    answer = Predictor(dense, k=3)
    assert_answers(answer(batch), dense, X[:N], 3)
    assert_answers(answer(batch.slice(17, 50)), dense, X[17:67], 3)


@pytest.mark.parametrize("kind", ["pairs", "map", "two columns", "struct", "64 bits"])
def test_lists_of_indices_and_values_are_sparse_rows(sparse, kind):
    indices, values = two_lists(X[:N])
    columns = {
        "pairs": {"x": pairs(X[:N])},
        "map": {"x": as_map(X[:N])},
        "two columns": {"i": indices, "v": values},
        "struct": {"x": pa.StructArray.from_arrays([indices, values], names=["indices", "values"])},
        "64 bits": {
            "i": indices.cast(pa.large_list(pa.int64())),
            "v": values.cast(pa.large_list(pa.float64())),
        },
    }[kind]
    batch = pa.record_batch(columns)
    features = None if "x" in columns else ("i", "v")
    answer = Predictor(sparse, k=2, features=features)
    assert_answers(answer(batch), sparse, sp.csr_array(X[:N]), 2)
    assert_answers(answer(batch.slice(17, 50)), sparse, sp.csr_array(X[17:67]), 2)
    assert answer(batch).schema.field("labels").type == pa.list_(pa.int64())


def lies_in(array, column):
    """Return whether the numbers of an array lie in a buffer of the column."""
    at = array.__array_interface__["data"][0]
    buffers = [buffer for buffer in column.buffers() if buffer is not None]
    return any(b.address <= at and at + array.nbytes <= b.address + b.size for b in buffers)


@pytest.mark.parametrize("start", [0, 9])
def test_rows_are_read_where_they_lie(start):
    def rows(features, **columns):
        batch = pa.record_batch(columns).slice(start)
        return rows_of(batch, features, 64, empty_nulls=False)

    column = fixed_lists(X)
    assert lies_in(rows(["x"], x=column), column)
    column = pairs(X)
    found = rows(["x"], x=column)
    assert lies_in(found.data, column)
    assert lies_in(found.indices, column)
    indices, values = two_lists(X)
    found = rows([("i", "v")], i=indices, v=values)
    assert lies_in(found.indices, indices)
    assert lies_in(found.data, values)
    assert (start > 0) or lies_in(found.indptr, indices)


def test_columns_are_put_side_by_side(tmp_path):
    words, embedding = sp.csr_array(X), X[:, :16] + 1
    rows = recalltree.hybrid(words, embedding)
    clf = recalltree.OneAgainstSomeClassifier(n_dense_features=16, random_state=0).fit(rows, Y)
    clf.save(tmp_path / "both.rt")
    batch = pa.record_batch({"e": fixed_lists(embedding[:N]), "id": range(N), "w": pairs(X[:N])})
    answer = Predictor(tmp_path / "both.rt", k=3, features=["w", "e"], keep=["id"])
    assert_answers(answer(batch), tmp_path / "both.rt", rows[:N], 3)
    assert answer(batch).column("id").to_pylist() == list(range(N))


def test_columns_of_numbers_are_found_by_the_names_of_a_data_frame(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed (extra: test)")
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    recalltree.RecallTreeClassifier(random_state=0).fit(frame, Y).save(tmp_path / "frame.rt")
    shuffled = frame.iloc[:N, ::-1].assign(id=range(N))
    answer = Predictor(tmp_path / "frame.rt", k=1, keep=["id"])
    assert_answers(
        answer(pa.RecordBatch.from_pandas(shuffled)), tmp_path / "frame.rt", frame[:N], 1
    )
    found = answer(shuffled.set_axis(range(N, 2 * N)))
    assert list(found.index) == list(range(N, 2 * N))
    assert list(found["id"]) == list(range(N))
    with pytest.raises(ValueError, match="no column 'pixel3'"):
        answer(pa.RecordBatch.from_pandas(shuffled.drop(columns="pixel3")))


# --- text -----------------------------------------------------------------------------------------

WORDS = ["purr meow", "bark wag", "chirp  fly", "wag bark bark", "Meow, purr!", "fly"]
KINDS = ["cat", "dog", "bird", "dog", "cat", "bird"]


def learned(tmp_path, rows, **options):
    """Return the path of a model that learned rows, its reader and its estimator."""
    reader = open_rows(io.BytesIO(rows), **options)
    clf = recalltree.OneAgainstSomeClassifier(
        random_state=0, n_dense_features=reader.n_dense_features
    )
    for _ in learn_from(clf, reader):
        pass
    path = tmp_path / "text.rt"
    clf.save(path, extra={"rows": reader.options})
    return path, reader.options


@pytest.mark.parametrize("features", ["hashed", "dictionary"])
@pytest.mark.parametrize("weighting", ["tf", "tf-idf"])
def test_columns_of_tables_become_the_features_that_the_reader_made(tmp_path, features, weighting):
    lines = ["kind\tsize\ttitle\ta\tb"]
    numbers = [(i, i % 3 - 0.5, -i) for i in range(60)]
    words = WORDS * 10
    rows = zip(KINDS * 10, words, numbers, strict=True)
    lines += [f"{kind}\t{n[0]}\t{text}\t{n[1]}\t{n[2]}" for kind, text, n in rows]
    data = "\n".join(lines).encode()
    path, options = learned(
        tmp_path,
        data,
        format="tsv",
        label_column="kind",
        numeric_columns=["size"],
        text_column="title",
        embedding_columns=["a", "b"],
        features=features,
        weighting=weighting,
        bits=12,
    )
    reader = open_rows(io.BytesIO(data), **options, frozen=True)
    (expected,) = reader
    columns = {
        "title": words,
        "size": pa.array([n[0] for n in numbers], pa.int32()),
        "a": [n[1] for n in numbers],
        "b": [n[2] for n in numbers],
        "other": ["x"] * 60,
    }
    answer = Predictor(path, k=2)
    assert_answers(answer(pa.record_batch(columns)), path, expected.X, 2)
    table = pa.table(columns)
    assert answer(table).to_pylist() == answer(pa.record_batch(columns)).to_pylist()


LINES = {
    "fasttext": (
        [f"__label__{k} {w}" for k, w in zip(KINDS, WORDS, strict=True)],
        WORDS,
        {"ngrams": 2, "weighting": "tf-idf"},
    ),
    "vw": (
        [f"{k} |a {w.replace(':', '')} |b n:2" for k, w in zip(KINDS, WORDS, strict=True)],
        [f"|a {w} |b n:2" for w in WORDS],
        {"quadratic": "ab", "features": "dictionary"},
    ),
    "svmlight": (
        [f"{i % 3} {i + 1}:1 20:0.5" for i in range(6)],
        [f"{i + 1}:1 20:0.5" for i in range(6)],
        {"n_features": 32},
    ),
}


@pytest.mark.parametrize("format", LINES)
def test_text_becomes_the_features_of_lines(tmp_path, format):
    lines, given, options = LINES[format]
    path, options = learned(tmp_path, "\n".join(lines * 10).encode(), format=format, **options)
    reader = open_rows(
        io.BytesIO("\n".join(given).encode()), **options, frozen=True, require_labels=False
    )
    (expected,) = reader
    answer = Predictor(path, k=2, features="line")
    assert_answers(answer(pa.record_batch({"line": given})), path, expected.X, 2)
    assert_answers(answer(pa.record_batch({"line": lines})), path, expected.X, 2)
    empty = sp.vstack([expected.X[:1], sp.csr_matrix((2, expected.X.shape[1])), expected.X[1:2]])
    cells = [given[0], "", " \n", given[1].replace(" ", "\n ", 1)]
    assert_answers(answer(pa.record_batch({"line": cells})), path, sp.csr_matrix(empty), 2)
    nulls = pa.record_batch({"line": [given[0], None]})
    with pytest.raises(ValueError, match="column 'line' is null in row 1"):
        answer(nulls)
    lenient = Predictor(path, k=2, features="line", nulls="empty")
    assert_answers(lenient(nulls), path, sp.csr_matrix(empty)[:2], 2)


def test_a_line_that_is_no_row_is_named(tmp_path):
    path, _ = learned(tmp_path, b"1 1:1\n2 2:1\n" * 9, format="svmlight", n_features=8)
    answer = Predictor(path)
    with pytest.raises(ValueError, match=r"column 'line', row 2 of the batch, .*: '9:1'"):
        answer(pa.record_batch({"line": ["1:1", "", "9:1"]}))
    with pytest.raises(ValueError, match="column 'line': 2 lines are 1 rows"):
        answer(pa.record_batch({"line": ["1:1", "# nothing"]}))


def test_text_for_a_model_that_does_not_know_how_is_refused(sparse):
    with pytest.raises(ValueError, match="column 'title' holds text, and the model file does not"):
        Predictor(sparse)(pa.record_batch({"title": ["cat"]}))


# --- what is refused ------------------------------------------------------------------------------


def lists(rows, kind=None):
    return pa.array(rows, kind or pa.list_(pa.float32()))


BAD = {
    "missing": ({"y": [1.0]}, "no column 'x'"),
    "null row": ({"x": lists([[1.0] * 64, None])}, "column 'x' is null in row 1"),
    "null number": ({"x": lists([[1.0] * 64, [1.0] * 63 + [None]])}, "null within row 1"),
    "lengths": ({"x": lists([[1.0] * 64, [1.0]])}, "column 'x': row 1 of the batch has 1 numbers"),
    "width": ({"x": lists([[1.0, 2.0]])}, "column 'x': there are 2 numbers"),
    "type": ({"x": pa.array([1], pa.date32())}, "column 'x' holds date32"),
    "items": ({"x": lists([["a"]], pa.list_(pa.string()))}, "column 'x' holds string"),
    "struct": (
        {"x": lists([[{"a": 1.0, "b": 2.0}]], pa.list_(pa.struct({"a": "f4", "b": "f4"})))},
        "column 'x' holds lists of struct",
    ),
    "not finite": ({"x": lists([[1.0] * 64, [np.nan] * 64])}, "column x, row 1"),
    "beyond": (
        {"x": lists([[], [{"i": 64, "v": 1.0}]], pa.list_(pa.struct({"i": "i4", "v": "f4"})))},
        "column 'x', row 1 of the batch: there is no feature 64",
    ),
    "negative": (
        {"x": lists([[{"i": -1, "v": 1.0}]], pa.list_(pa.struct({"i": "i4", "v": "f4"})))},
        "there is no feature -1",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_columns_are_named(dense, what):
    columns, message = BAD[what]
    with pytest.raises(ValueError, match=message):
        Predictor(dense, features="x")(pa.record_batch(columns))


def test_null_sparse_rows_are_errors_or_empty(sparse):
    column = pa.concat_arrays([pairs(X[:2]), pa.nulls(1, pairs(X[:2]).type), pairs(X[2:4])])
    batch = pa.record_batch({"x": column})
    with pytest.raises(ValueError, match="column 'x' is null in row 2"):
        Predictor(sparse)(batch)
    expected = sp.csr_array(np.vstack([X[:2], 0 * X[:1], X[2:4]]))
    assert_answers(Predictor(sparse, nulls="empty")(batch), sparse, expected, 1)
    indices, values = (part.take(pa.array([0, None, 1])) for part in two_lists(X[:2]))
    struct = pa.StructArray.from_arrays(
        [indices, values], names=["indices", "values"], mask=pa.array([False, True, False])
    )
    expected = sp.csr_array(np.vstack([X[:1], 0 * X[:1], X[1:2]]))
    found = Predictor(sparse, nulls="empty")(pa.record_batch({"x": struct}))
    assert_answers(found, sparse, expected, 1)


def test_lists_of_a_pair_that_differ_are_refused(sparse):
    indices, values = two_lists(X[:3])
    batch = pa.record_batch({"i": indices, "v": pa.array([[1.0], [], []], values.type)})
    with pytest.raises(ValueError, match="columns 'i' and 'v' differ in row 0"):
        Predictor(sparse, features=("i", "v"))(batch)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"k": 11}, "from 1 to the number of classes, 10"),
        ({"k": True}, "k=True"),
        ({"threshold": 2}, "threshold=2"),
        ({"nulls": "drop"}, "nulls='drop'"),
        ({"features": []}, "features is empty"),
        ({"features": [3]}, "features="),
        ({"keep": 3}, "keep=3"),
        ({"keep": {"id": "no type"}}, "'no type' is no type"),
        ({"keep": ["labels"]}, "two columns of the answers have one name"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_bad_options_are_refused(dense, options, message):
    with pytest.raises(ValueError, match=message):
        Predictor(dense, **options)


# --- answers --------------------------------------------------------------------------------------


def test_the_schema_is_that_of_the_answers(dense):
    keep = {"id": "int32", "when": pa.timestamp("us", "UTC"), "tags": pa.list_(pa.string())}
    answer = Predictor(dense, k=2, features="x", keep=keep, labels="classes")
    columns = {
        "id": pa.array([1, 2], pa.int64()),
        "when": pa.array([1, 2], pa.timestamp("us", "UTC")),
        "tags": [["a"], None],
        "x": fixed_lists(X[:2]),
    }
    batch = pa.record_batch(columns)
    assert answer(batch).schema == answer.arrow_schema
    assert answer(batch.slice(0, 0)).schema == answer.arrow_schema
    assert answer(pa.table(columns).slice(0, 0)).schema == answer.arrow_schema
    assert answer.schema == (
        "`id` INT, `when` TIMESTAMP, `tags` ARRAY<STRING>, `classes` ARRAY<STRING>, "
        "`probabilities` ARRAY<FLOAT>"
    )
    bare = Predictor(dense, probabilities=None, features="x")
    assert bare(batch).schema.names == ["labels"] == bare.arrow_schema.names
    untyped = Predictor(dense, keep=["id"], features="x")
    assert untyped(batch).column("id").to_pylist() == [1, 2]
    with pytest.raises(ValueError, match="the type of column 'id'"):
        untyped.schema  # noqa: B018
    with pytest.raises(ValueError, match=r"column 'tags' is of type .* cannot pass through"):
        Predictor(dense, keep={"tags": "int8"}, features="x")(batch)


def test_answers_below_a_threshold_are_left_out(dense):
    labels, probabilities = recalltree.load(dense).predict_topk(X[:N], 4)
    found = Predictor(dense, k=4, threshold=0.25)(pa.record_batch({"x": fixed_lists(X[:N])}))
    expected = [
        [label for label, p in zip(*row, strict=True) if p >= 0.25]
        for row in zip(labels.tolist(), probabilities.tolist(), strict=True)
    ]
    assert found.column("labels").to_pylist() == expected
    sizes = set(map(len, expected))
    assert len(sizes) > 1
    assert [len(p) for p in found.column("probabilities").to_pylist()] == list(map(len, expected))


@pytest.mark.parametrize("labels", [Y, Y % 2 == 0, Y.astype(float), np.array(["é", "日本"])[Y % 2]])
def test_labels_of_every_type_come_back(tmp_path, labels):
    recalltree.RecallTreeClassifier(random_state=0).fit(X, labels).save(tmp_path / "m.rt")
    batch = pa.record_batch({"x": fixed_lists(X[:N])})
    assert_answers(Predictor(tmp_path / "m.rt", k=2)(batch), tmp_path / "m.rt", X[:N], 2)


# --- the file -------------------------------------------------------------------------------------


def test_a_pickle_holds_a_path_and_a_digest(dense):
    answer = Predictor(dense, k=3, keep={"id": "int64"})
    pickled = pickle.dumps(answer.batches)
    assert len(pickled) < 2000 < dense.stat().st_size
    code = (
        "import pickle, sys, pyarrow as pa; batches = pickle.load(sys.stdin.buffer);"
        "reader = pa.ipc.open_stream(sys.argv[1]);"
        "print([row['labels'] for batch in batches(reader) for row in batch.to_pylist()])"
    )
    rows = pa.record_batch({"id": range(5), "x": fixed_lists(X[:5])})
    file = dense.with_suffix(".arrows")
    with pa.ipc.new_stream(file, rows.schema) as writer:
        writer.write_batch(rows)
    done = subprocess.run(
        [sys.executable, "-c", code, file], input=pickled, capture_output=True, check=True
    )
    expected = recalltree.load(dense).predict_topk(X[:5], 3)[0].tolist()
    assert done.stdout.decode().strip() == str(expected)


def test_a_file_that_changed_is_an_error_that_says_so(dense, tmp_path):
    path = tmp_path / "model.rt"
    shutil.copy(dense, path)
    answer = Predictor(path, features="x")
    pickled = pickle.dumps(answer)
    batch = pa.record_batch({"x": fixed_lists(X[:9])})
    before = answer(batch)
    recalltree.load(path).partial_fit(X[:9], np.array(["new"] * 9)).save(path)
    for predictor in (answer, pickle.loads(pickled)):
        with pytest.raises(ModelChangedError, match=r"model\.rt has changed since the predictor"):
            predictor(batch)
    shutil.copy(dense, path)  # the same content, at another time
    assert answer(batch) == before
    path.unlink()
    with pytest.raises(FileNotFoundError, match="no such model file on this machine"):
        answer(batch)


def test_a_file_that_was_changed_in_place_is_an_error(dense, tmp_path):
    path = tmp_path / "model.rt"
    shutil.copy(dense, path)
    answer = Predictor(path, features="x")
    with path.open("r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(b"\xff" * 8)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ModelChangedError, match="has changed"):
        answer(pa.record_batch({"x": fixed_lists(X[:9])}))


def test_other_kinds_of_batches_are_refused(dense):
    with pytest.raises(TypeError, match="batch is a list"):
        Predictor(dense)([1, 2])


def test_import_imports_no_engine():
    code = (
        "import sys, recalltree.arrow;"
        "print([m for m in ('ray', 'pyspark', 'duckdb', 'daft', 'dask') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
