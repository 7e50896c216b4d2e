"""Tables of every format have the same rows: CSV, TSV, JSON lines, Parquet and Arrow."""

import gzip
import io
import json
import os
import sys

import numpy as np
import pytest
import scipy.sparse as sp

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
pytest.importorskip("pyarrow.parquet")

from recalltree.readers import (  # noqa: E402
    BadRowError,
    BadRowWarning,
    DamagedFileError,
    OneReadError,
    open_rows,
)

TABLE = {
    "section": ["cats", "dogs", "cats", "birds"],
    "title": ["Purr, purr!", "A dog's BARK", "", "the “Meow” — cat"],
    "size": [1.5, -2.0, 0.1, 3e38],
    "n": [3, 0, 7, 2],
    "weight": [1.0, 0.5, 2.0, 0.0],
}


def write(format, table):
    """Return the bytes of a file of the format."""
    sink = io.BytesIO()
    columns = pa.table(table)
    if format == "parquet":
        pa.parquet.write_table(columns, sink, row_group_size=3)
    elif format == "arrow":
        with pa.ipc.new_file(sink, columns.schema) as writer:
            writer.write_table(columns, max_chunksize=3)
    elif format == "arrow stream":
        with pa.ipc.new_stream(sink, columns.schema) as writer:
            writer.write_table(columns, max_chunksize=3)
    elif format == "jsonl":
        for row in columns.to_pylist():
            sink.write(json.dumps(row).encode() + b"\n")
    else:
        delimiter, quote = (",", '"') if format == "csv" else ("\t", "")
        lines = [list(table), *zip(*table.values(), strict=True)]
        text = "".join(
            delimiter.join(f"{quote}{cell}{quote}" for cell in line) + "\n" for line in lines
        )
        sink.write(text.encode())
    return sink.getvalue()


FORMATS = ["csv", "tsv", "jsonl", "parquet", "arrow", "arrow stream"]


def reader_of(format, table, **options):
    data = table if isinstance(table, bytes) else write(format, table)
    return open_rows(io.BytesIO(data), format=format.split()[0], **options)


def read(format, table, **options):
    batches = list(reader_of(format, table, **options))
    dense = [b.X.toarray() if sp.issparse(b.X) else b.X for b in batches]
    y = [label for b in batches for label in (b.y if b.y is not None else [None] * len(b))]
    return np.vstack(dense), y


@pytest.mark.parametrize("format", FORMATS)
def test_columns_of_numbers(format):
    for batch in reader_of(
        format,
        TABLE,
        label_column="section",
        numeric_columns=["size", "n"],
        weight_column="weight",
    ):
        assert isinstance(batch.X, np.ndarray)
        assert batch.X.dtype == batch.sample_weight.dtype == np.float32
    X, y = read(format, TABLE, label_column="section", numeric_columns=["size", "n"])
    np.testing.assert_array_equal(X, np.float32([TABLE["size"], TABLE["n"]]).T)
    assert y == TABLE["section"]


@pytest.mark.parametrize("format", FORMATS)
def test_columns_of_text(format):
    reader = reader_of(
        format, TABLE, label_column="n", text_column="title", features="dictionary", n_features=16
    )
    X = np.vstack([batch.X.toarray() for batch in reader])
    names = ["purr", "a", "dog", "s", "bark", "the", "meow", "cat"]
    assert reader.feature_names == names
    assert reader.n_features == X.shape[1] == 16
    expected = [[2], [0, 1, 1, 1, 1], [], [0, 0, 0, 0, 0, 1, 1, 1]]
    np.testing.assert_array_equal(X, [row + [0] * (16 - len(row)) for row in expected])
    for batch in reader:
        assert batch.y.dtype == np.int64
        assert batch.X.has_canonical_format


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("dense", [False, True])
def test_numbers_come_before_words(format, dense):
    options = {
        "label_column": "section",
        "text_column": "title",
        "features": "dictionary",
        "n_features": 10,
    }
    words, _ = read(format, TABLE, **options)
    X, _ = read(format, TABLE, numeric_columns=["size", "n"], dense=dense, **options)
    assert X.shape[1] == 12
    np.testing.assert_array_equal(X[:, :2], np.float32([TABLE["size"], TABLE["n"]]).T)
    np.testing.assert_array_equal(X[:, 2:], words)


def test_the_words_of_two_columns_are_two_features():
    table = {"y": [1, 2], "a": ["same other", "x"], "b": ["same", "x"]}
    X, _ = read("csv", table, label_column="y", text_column=["a", "b"], bits=20)
    np.testing.assert_array_equal((X != 0).sum(axis=1), [3, 2])
    reader = reader_of(
        "csv", table, label_column="y", text_column=["a", "b"], features="dictionary", ngrams=2
    )
    list(reader)
    assert set(reader.feature_names) == {
        *("a^same", "a^other", "a^same other", "b^same", "a^x", "b^x"),
    }


def test_text_of_a_table_is_featurised_as_fasttext_is():
    text = ["one two two", "three one"]
    rows, _ = read("csv", {"y": [1, 2], "t": text}, label_column="y", text_column="t", ngrams=2)
    lines = "".join(f"__label__a {line}\n" for line in text)
    (batch,) = open_rows(io.BytesIO(lines.encode()), ngrams=2)
    np.testing.assert_array_equal(rows, batch.X.toarray())


def test_lowercase_is_a_choice_and_knows_more_than_ascii():
    table = {"y": [1], "t": ["Straße ÉTÉ été"]}
    for lowercase, names in ((True, ["straße", "été"]), (False, ["Straße", "ÉTÉ", "été"])):
        reader = reader_of(
            "csv",
            table,
            label_column="y",
            text_column="t",
            features="dictionary",
            lowercase=lowercase,
        )
        list(reader)
        assert reader.feature_names == names


def test_prediction_from_a_table_without_labels():
    options = {"label_column": "section", "text_column": "title", "weighting": "tf-idf", "bits": 6}
    trained = reader_of("csv", TABLE, **options)
    list(trained)
    kept = json.loads(json.dumps(trained.options))
    seen = np.vstack([batch.X.toarray() for batch in trained])
    without = {name: column for name, column in TABLE.items() if name != "section"}
    for format in FORMATS:
        reader = open_rows(
            io.BytesIO(write(format, without)),
            **{**kept, "format": format.split()[0]},
            require_labels=False,
            frozen=True,
        )
        batches = list(reader)
        assert all(batch.y is None for batch in batches)
        np.testing.assert_array_equal(np.vstack([b.X.toarray() for b in batches]), seen)


@pytest.mark.parametrize("format", FORMATS)
def test_labels_of_several_kinds(format):
    options = {"numeric_columns": ["n"], "label_column": "y"}
    for values, expected in (
        ([1, 2, 3, 4], [1, 2, 3, 4]),
        ([1.0, 2.0, -3.0, 4.0], [1, 2, -3, 4]),
        (["1", "2", "3", "4"], [1, 2, 3, 4]),
        (["a", "2", "3", "4"], ["a", "2", "3", "4"]),
    ):
        table = {"y": values, "n": TABLE["n"]}
        assert read(format, table, **options)[1] == expected
        as_text = read(format, table, label_type="str", **options)[1]
        assert all(isinstance(label, str) for label in as_text)


@pytest.mark.parametrize("format", FORMATS)
def test_bad_cells(format):
    text = format in ("csv", "tsv")
    table = {
        "y": ["a", "b", "c", "d"],
        "x": ["1", "nan", "3", "1e39"] if text else [1.0, float("nan"), 3.0, 1e39],
        "w": [1.0, 1.0, -1.0, 1.0],
    }
    options = {"numeric_columns": ["x"], "label_column": "y", "weight_column": "w"}
    first = 3 if text else 2  # a header is a line
    given = []
    with pytest.raises(BadRowError) as caught:
        given.extend(reader_of(format, table, **options))
    assert (caught.value.line, caught.value.column) == (first, "x")
    assert "finite" in caught.value.reason
    assert [label for batch in given for label in batch.y] == ["a"]
    reader = reader_of(format, table, on_error="skip", **options)
    assert [label for batch in reader for label in batch.y] == ["a"]
    assert reader.n_skipped == 3


@pytest.mark.parametrize("format", ["jsonl", "parquet", "arrow"])
def test_missing_cells(format):
    table = {"y": ["a", None, "c"], "x": [1.0, 2.0, None], "t": ["u", None, "v"]}
    options = {"label_column": "y", "text_column": "t", "bits": 8, "on_error": "skip"}
    assert read(format, table, **options)[1] == ["a", "c"]
    assert read(format, table, require_labels=False, **options)[1] == ["a", None, "c"]
    assert read(format, table, numeric_columns=["x"], **options)[1] == ["a"]


def test_rows_of_csv_that_have_too_many_or_too_few_cells():
    data = b'y,x\na,1\nb\nc,"3"\nd,4,5\ne,6\n"f","7"\ng,8,9'
    options = {"label_column": "y", "numeric_columns": ["x"]}
    reader = reader_of("csv", data, on_error="skip", **options)
    assert [label for batch in reader for label in batch.y] == ["a", "c", "e", "f"]
    assert reader.n_skipped == 3
    given = []
    with pytest.raises(BadRowError, match=r"line 3.*1 cell, where the header has 2"):
        given.extend(reader_of("csv", data, **options))
    assert [batch.y.tolist() for batch in given] == [["a"]]


def test_bad_rows_of_a_long_csv_keep_their_numbers():
    lines = [b"y,x"]
    wrong = {5: b"oops", 20_001: b"1,x", 50_000: b"1,2,3", 50_001: b"1,nan", 99_999: b"1"}
    lines += [wrong.get(number, b"1,%d" % number) for number in range(2, 100_001)]
    options = {"label_column": "y", "numeric_columns": ["x"], "on_error": "warn"}
    with pytest.warns(BadRowWarning) as caught:
        X, _ = read("csv", b"\n".join(lines), **options)
    assert X[:, 0].tolist() == [float(n) for n in range(2, 100_001) if n not in wrong]
    places = [str(w.message) for w in caught]
    assert [f"line {n}," in place for n, place in zip(wrong, places, strict=True)] == [True] * 5


def test_csv_quotes_newlines_marks_and_bytes():
    data = b'\xef\xbb\xbfy,t\r\na,"one ""two"",\nthree"\r\n\r\nb,four'
    reader = reader_of("csv", data, label_column="y", text_column="t", features="dictionary")
    list(reader)
    assert reader.feature_names == ["one", "two", "three", "four"]
    for cell in (b"\xff", b"a\0b"):
        with pytest.raises(BadRowError, match="not text in UTF-8"):
            read("csv", b"y,t\na," + cell + b"\n", label_column="y", text_column="t")
        with pytest.raises(BadRowError, match="not text in UTF-8"):
            read("csv", b"y,t\n" + cell + b",a\n", label_column="y", text_column="t")


def test_a_row_of_csv_that_is_too_long():
    data = b"y,t\na," + b"x" * (10 << 20) + b"\n"
    with pytest.raises(DamagedFileError, match="longer than 4194304 bytes"):
        read("csv", data, label_column="y", text_column="t")


def test_tsv_has_no_quotes():
    X, y = read("tsv", b'y\tt\n"a\tx "y\n', label_column="y", text_column="t", bits=8)
    assert y == ['"a']
    assert X.sum() == 2


def test_bad_lines_of_json():
    lines = [
        '{"y": "a", "x": 1}',
        '{"y": "b", "x": "2"}',
        "",
        '{"y": "c", "x": 3',
        "[1, 2]",
        '{"y": "d", "x": 4, "more": {"z": []}}',
        '{"y": "e"} {"y": "f"}',
        '{"y": "g"}',
        '{"x": 7, "y": "h"}',
    ]
    data = "\n".join(lines).encode()
    options = {"label_column": "y", "numeric_columns": ["x"]}
    with pytest.warns(BadRowWarning) as caught:
        _, y = read("jsonl", data, on_error="warn", **options)
    assert y == ["a", "d", "h"]
    numbers = [int(str(w.message).split("line ")[1].split(",")[0]) for w in caught]
    assert numbers == [2, 4, 5, 7, 8]


def test_json_numbers_are_the_nearest_floats():
    # 1 + 2**-24 + 2**-54 is not a double, and rounds up only if it is not rounded twice.
    data = b'{"y": 1, "x": 1.00000005960464483090}'
    X, _ = read("jsonl", data, label_column="y", numeric_columns=["x"])
    assert X[0, 0] == np.nextafter(np.float32(1), np.float32(2))


def test_dictionary_columns_and_large_strings():
    table = {
        "y": pa.array(["a", "b", "a"]).dictionary_encode(),
        "t": pa.array(["u v", "v", None], pa.large_string()),
        "x": pa.array([1, 2, 3], pa.int8()),
        "z": pa.array([True, False, True]),
    }
    for format in ("parquet", "arrow", "arrow stream"):
        X, y = read(
            format, table, label_column="y", text_column="t", numeric_columns=["x", "z"], bits=4
        )
        assert y == ["a", "b", "a"]
        np.testing.assert_array_equal(X[:, :2], [[1, 1], [2, 0], [3, 1]])
        assert X[:, 2:].sum() == 3


def test_a_dictionary_that_is_full():
    table = {"y": [1, 2, 3], "t": ["a b", "a c", "b"]}
    options = {"label_column": "y", "text_column": "t", "features": "dictionary", "n_features": 2}
    with pytest.raises(BadRowError, match="dictionary is full with 2"):
        read("csv", table, **options)
    assert read("csv", table, on_error="skip", **options)[1] == [1, 3]


def test_batches_are_at_most_as_large_as_asked_for():
    table = {"y": list(range(1000)), "x": list(range(1000))}
    for format in FORMATS:
        batches = list(
            reader_of(format, table, label_column="y", numeric_columns=["x"], batch_rows=64)
        )
        assert max(len(batch) for batch in batches) <= 64
        assert np.concatenate([batch.y for batch in batches]).tolist() == table["y"]


@pytest.mark.parametrize("format", ["csv", "jsonl", "arrow stream"])
def test_compressed_tables_and_passes(format, tmp_path):
    path = tmp_path / "table"
    path.write_bytes(gzip.compress(write(format, TABLE)))
    reader = open_rows(
        path, format=format.split()[0], label_column="section", numeric_columns=["n"]
    )
    for _ in range(2):
        assert [label for batch in reader for label in batch.y] == TABLE["section"]
        assert reader.position == (path.stat().st_size, path.stat().st_size)


def test_parquet_through_a_pipe():
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as pipe:
        pipe.write(write("parquet", TABLE))
    with os.fdopen(read_end, "rb") as pipe:
        reader = open_rows(pipe, label_column="section", numeric_columns=["n"])
        assert reader.format == "parquet"
        with pytest.raises(OneReadError, match="save it to a file"):
            list(reader)


@pytest.mark.parametrize("format", FORMATS)
def test_files_that_are_something_else(format):
    reader = reader_of(format, b"\x00\x01\xff" * 100, label_column="y", numeric_columns=["x"])
    with pytest.raises((DamagedFileError, BadRowError, ValueError)):
        list(reader)


@pytest.mark.parametrize("format", FORMATS)
def test_columns_that_are_not_there(format):
    if format == "jsonl":
        with pytest.raises(BadRowError, match="missing number"):
            read(format, TABLE, label_column="section", numeric_columns=["height"])
        return
    with pytest.raises(ValueError, match=r"no column 'height'; its columns are 'section', 'title'"):
        read(format, TABLE, label_column="section", numeric_columns=["height"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"label_column": "y"},
            r"the columns of features with text_column.*columns are 'y' \(nothing\)",
        ),
        ({"text_column": "a"}, r"name the column of labels with label_column \(--label-column\);"),
        ({"label_column": "y", "numeric_columns": ["a", "a"]}, "distinct names"),
        ({"label_column": "y", "text_column": "t", "zero_based": True}, "zero_based=True has no"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        open_rows(
            io.BytesIO(b"y,t\n" if "label_column" in options else b"a,b,c\n"),
            format="csv",
            **options,
        )


def test_without_pyarrow(monkeypatch):
    for module in [name for name in sys.modules if name.split(".")[0] == "pyarrow"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delitem(sys.modules, "recalltree.readers.tables.arrow_files", raising=False)
    with pytest.raises(ImportError, match=r"recalltree\[arrow\]"):
        open_rows(io.BytesIO(b""), format="parquet", label_column="y", text_column="t")
    (batch,) = open_rows(io.BytesIO(b"y\tt\na\tone two\n"), format="tsv", bits=4)
    assert batch.y.tolist() == ["a"]
