"""Rows with several labels: lists instead of one label, in every format."""

import io
import json
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

from recalltree.label_lists import LabelLists
from recalltree.readers import BadRowError, open_rows, write_rows

TABLE = {"label_column": "y", "numeric_columns": ["n"]}


def read(text, **options):
    """Return the lists of labels, and the features."""
    text = text.encode() if isinstance(text, str) else text
    batches = list(open_rows(io.BytesIO(text), **options))
    assert all(isinstance(batch.y, LabelLists) for batch in batches)
    rows = [batch.X if options.get("dense") else batch.X.toarray() for batch in batches]
    return [labels for batch in batches for labels in batch.y.tolist()], np.vstack(rows)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("svmlight", "1,5,7 1:1\n2 2:1\n 3:1\n"),
        ("xc", "3 4 8\n1,5,7 1:1\n2 2:1\n 3:1\n"),
        ("xc", "3 4 8\n1,5,7 1:1\n2 2:1\n3:1\n"),
        ("vw", "1,5,7 | 1\n2 | 2\n | 3\n"),
        ("vw", "1,5,7 0.5 'tag | 1\n2 | 2\n| 3\n"),
    ],
)
def test_labels_between_commas(format, text):
    y, X = read(text, format=format, multilabel="any", n_features=4)
    assert y == [[1, 5, 7], [2], []]
    assert (X != 0).sum(axis=1).tolist() == [1, 1, 1]
    with pytest.raises(BadRowError, match=rf"line {3 + (format == 'xc')}, column 1.*no label"):
        read(text, format=format, multilabel="all", n_features=4)
    options = {"format": format, "n_features": 4, "require_labels": False}
    assert read(text, multilabel="all", **options)[0] == y
    (batch,) = open_rows(io.BytesIO(text.encode()), multilabel="first", **options)
    assert batch.y.tolist() == [1, 2, None]


def test_labels_of_fasttext():
    y, X = read("a __label__x b __label__y __label__x\nb\n", format="fasttext", multilabel="any")
    assert y == [["x", "y"], []]
    assert X.sum(axis=1).tolist() == [2, 1]


def test_one_label_per_row_stays_one_label():
    for text, expected in (("1,5 1:1\n", ["1,5"]), ("1 1:1\n2 1:1\n", [1, 2])):
        (batch,) = open_rows(io.BytesIO(text.encode()))
        assert isinstance(batch.y, np.ndarray)
        assert batch.y.tolist() == expected


@pytest.mark.parametrize("label_type", ["auto", "int", "str"])
def test_a_label_counts_once(label_type):
    y, _ = read("3,1,3,1.0,2 1:1\n", multilabel="all", label_type=label_type)
    assert y == [["3", "1", "1.0", "2"] if label_type == "str" else [3, 1, 2]]
    many = np.random.default_rng(0).integers(300, size=2000)
    y, _ = read(",".join(map(str, many)) + " 1:1", multilabel="all", label_type=label_type)
    assert [int(label) for label in y[0]] == list(dict.fromkeys(many.tolist()))


def test_the_first_label_decides_what_labels_are():
    assert read("cat,3 1:1\n3 1:1\n", multilabel="any")[0] == [["cat", "3"], ["3"]]
    assert read(" 1:1\n3,1 1:1\n", format="svmlight", multilabel="any")[0] == [[], [3, 1]]
    with pytest.raises(BadRowError, match=r"line 1, column 3.*pass label_type='str': 'cat'"):
        read("3,cat 1:1\n", multilabel="any")
    text = "3,x 1:1\nx 1:1\n"  # a row that is refused decides nothing
    assert read(text, multilabel="any", on_error="skip")[0] == [["x"]]


def test_batches_without_any_label_have_empty_lists():
    (batch,) = open_rows(io.BytesIO(b" 1:1\n 2:1\n"), format="svmlight", multilabel="any")
    assert batch.y.tolist() == [[], []]


def test_batches_of_many_labels_are_cut():
    reader = open_rows(io.BytesIO(b"1,2,3 1:1\n4,5 1:1\n6 1:1\n"), multilabel="all", batch_rows=2)
    assert [batch.y.tolist() for batch in reader] == [[[1, 2, 3], [4, 5]], [[6]]]


def test_the_header_says_how_many_features_there_are(tmp_path):
    for name, text in {"a": "1 7 3\n1 6:1\n", "b": "1 9 3\n\n2,0 8:1\n"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    reader = open_rows(tmp_path / "*.txt", multilabel="all")
    assert (reader.format, reader.n_features) == ("xc", 9)
    assert [batch.y.tolist() for batch in reader] == [[[1], [2, 0]]]
    again = open_rows(tmp_path / "a.txt", **reader.options)
    assert (again.n_features, again.options) == (9, reader.options)
    assert open_rows(tmp_path / "a.txt", bits=4).n_features == 16
    with pytest.raises(BadRowError, match="beyond the last, 5; raise n_features"):
        list(open_rows(tmp_path / "a.txt", n_features=6))


def test_rows_without_anything_count_in_the_format_with_a_header():
    y, X = read("2 3 4\n \n1 2:1\n", multilabel="any")
    assert (y, X.tolist()) == ([[], [1]], [[0, 0, 0], [0, 0, 1]])


BAD = [
    ("svmlight", "1,,2 1:1", 3, "without a name", ",2"),
    ("svmlight", "1, 1:1", 3, "without a name", ""),
    ("svmlight", "1,2,x 1:1", 5, "not an integer", "x"),
    ("svmlight", "1,2.5 1:1", 3, "not an integral number", "2.5"),
    ("svmlight", "1,2 x", 5, "index:value", "x"),
    ("xc", "1,,2 1:1", 3, "without a name", ",2"),
    ("xc", "1 1:1 1:2", 7, "feature 1 appears more than once", "1:2"),
    ("xc", "1 1:1 # comment", 7, "index:value", "#"),
    ("vw", "1,,2 | a", 3, "without a name", ",2"),
    ("vw", "1,2 x | a", 5, "importance weight is not", "x"),
    ("vw", "1,2 3 4 | a", 7, "before the tag", "4"),
]


@pytest.mark.parametrize(
    ("format", "line", "column", "reason", "text"), BAD, ids=[f"{b[0]} {b[1]}" for b in BAD]
)
def test_bad_rows_name_the_place(format, line, column, reason, text, tmp_path):
    good = {"svmlight": "7,8 1:1", "xc": "7,8 1:1", "vw": "7,8 | w"}[format]
    head = "9 9 9" if format == "xc" else good
    path = tmp_path / "rows.txt"
    path.write_text(f"{head}\n{good}\n{line}\n{good}\n")
    with pytest.raises(BadRowError, match=reason) as caught:
        list(open_rows(path, format=format, multilabel="any"))
    error = caught.value
    assert (error.path, error.line, error.column, error.text) == (str(path), 3, column, text)
    reader = open_rows(path, format=format, multilabel="any", on_error="skip")
    lists = [labels for batch in reader for labels in batch.y.tolist()]
    assert lists == [[7, 8]] * (2 + (format != "xc"))
    assert reader.n_skipped == 1


@pytest.mark.parametrize("header", ["1 9", "1 9 9 9", "1 9 x", "1,2 3:1", "-1 2 3"])
def test_a_header_that_is_none(header):
    with pytest.raises(BadRowError, match=r"line 1, column \d: .*rows, features and labels"):
        read(f"{header}\n1 1:1\n", format="xc", multilabel="any")


# tables


def columnar(format, labels):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    import pyarrow.parquet

    table = pa.table({"y": labels, "n": range(len(labels))})
    sink = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


@pytest.mark.parametrize("format", ["parquet", "arrow"])
@pytest.mark.parametrize(
    "type_name", ["list string", "large_list large_string", "list int32", "list float64", "list 2"]
)
def test_columns_of_lists(format, type_name):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    kind, of = type_name.split()
    if of == "2":
        lists, type_ = [["a", "b"], None, ["b", "b"]], pa.list_(pa.string(), 2)
    else:
        a, b, c = "abc" if "string" in of else (1, 2, 3)
        lists = [[a, b], None, [c, a, c], [], [b]]
        type_ = getattr(pa, {"list": "list_"}.get(kind, kind))(getattr(pa, of)())
    data = columnar(format, pa.array(lists, type_))
    y, X = read(data, multilabel="any", dense=True, **TABLE)
    assert y == [list(dict.fromkeys(labels or [])) for labels in lists]
    assert X.ravel().tolist() == list(range(len(lists)))
    with pytest.raises(BadRowError, match="line 2, column y: no label"):
        read(data, multilabel="all", dense=True, **TABLE)
    with pytest.raises(ValueError, match=r"holds .*list.*multilabel='all'"):
        list(open_rows(io.BytesIO(data), **TABLE))


def test_lists_of_dictionary_encoded_labels():
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    flat = pa.array(["a", "b", "a"]).dictionary_encode()
    data = columnar("parquet", pa.ListArray.from_arrays(pa.array([0, 2, 3]), flat))
    assert read(data, multilabel="all", dense=True, **TABLE)[0] == [["a", "b"], ["a"]]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_labels_in_cells_of_text(delimiter):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    cells = ["cats; dogs ;cats", "", " ", "big cats"]
    lines = ["y,n", *(f"{cell},{i}" for i, cell in enumerate(cells))]
    text = "\n".join(lines).replace(",", delimiter)
    options = {"format": "csv" if delimiter == "," else "tsv", "label_separator": ";", **TABLE}
    y, _ = read(text, multilabel="any", dense=True, **options)
    assert y == [["cats", "dogs"], [], [], ["big cats"]]
    with pytest.raises(BadRowError, match="line 3, column y: no label"):
        read(text, multilabel="all", dense=True, **options)
    numbers = text.replace("cats", "1").replace("dogs", "2").replace("big ", "0")
    assert read(numbers, multilabel="any", dense=True, **options)[0] == [[1, 2], [], [], [1]]


@pytest.mark.parametrize(
    ("cell", "reason"),
    [("1;;2", "an empty label"), ("1;x", "not a finite decimal"), ("1;2.5", "not an integral")],
)
def test_bad_cells_of_labels(cell, reason):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    options = {"format": "csv", "label_separator": ";", "multilabel": "all", **TABLE}
    text = f"y,n\n1;2,1\n{cell},2\n3,4\n"
    with pytest.raises(BadRowError, match=rf"line 3, column y: .*{reason}"):
        read(text, dense=True, **options)
    assert read(text, dense=True, on_error="skip", **options)[0] == [[1, 2], [3]]


def test_labels_of_a_bad_row_do_not_decide_what_labels_are():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    text = "y,n\n1;2,x\ncat;2,2\n"
    options = {"format": "csv", "label_separator": ";", "multilabel": "all", **TABLE}
    assert read(text, dense=True, on_error="skip", **options)[0] == [["cat", "2"]]


def test_lists_in_json_lines():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    rows = [{"y": ["a", "b"], "n": 1}, {"y": [], "n": 2}, {"y": None, "n": 3}, {"n": 4}]
    text = "\n".join(map(json.dumps, rows))
    assert read(text, multilabel="any", dense=True, **TABLE)[0] == [["a", "b"], [], [], []]
    for bad in ('{"y": "a", "n": 1}', '{"y": ["a", null], "n": 1}', '{"y": [["a"]], "n": 1}'):
        with pytest.raises(BadRowError, match="line 5, "):
            read(f"{text}\n{bad}", multilabel="any", dense=True, **TABLE)
    text = '{"y": [1, 2], "n": 1}\n{"y": [3], "n": 1}'
    assert read(text, multilabel="any", dense=True, **TABLE)[0] == [[1, 2], [3]]
    text = '{"y": "a;b", "n": 1}\n{"y": "", "n": 1}'
    assert read(text, multilabel="any", label_separator=";", dense=True, **TABLE)[0] == [
        ["a", "b"],
        [],
    ]


@pytest.mark.parametrize(
    ("format", "options", "message"),
    [
        ("csv", {"multilabel": "all"}, "needs label_separator"),
        ("csv", {"label_separator": ";"}, "pass multilabel='all'"),
        ("csv", {"multilabel": "each", "label_separator": ";"}, "no meaning for the format 'csv'"),
        ("csv", {"multilabel": "all", "label_separator": ""}, "must not be empty"),
        ("svmlight", {"multilabel": "all", "label_separator": ";"}, "label_separator.* no meaning"),
        ("svmlight", {"multilabel": "several"}, "refuse, all, any, first, each"),
    ],
)
def test_options_that_do_not_fit(format, options, message):
    table = TABLE if format == "csv" else {}
    with pytest.raises(ValueError, match=message):
        open_rows(io.BytesIO(b""), format=format, **options, **table)


def test_a_column_of_text_is_no_column_of_lists():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    with pytest.raises(ValueError, match=r"holds text, not lists.*pass label_separator"):
        read(columnar("parquet", ["a", "b"]), multilabel="all", **TABLE)


def test_a_missing_column_of_labels_is_no_row_without_labels():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    options = {"format": "csv", "label_separator": ";", "multilabel": "any", **TABLE}
    with pytest.raises(ValueError, match="no column 'y'"):
        read("n\n1\n", **options)
    (batch,) = open_rows(io.BytesIO(b"n\n1\n"), require_labels=False, **options)
    assert batch.y is None


# written


def test_the_rows_that_scikit_learn_writes():
    random = np.random.default_rng(0)
    X = random.random((30, 8)) * (random.random((30, 8)) < 0.5)
    X[:, 0] = 1  # an empty line would be no row
    X = csr_matrix(X, dtype=np.float32)
    Y = csr_matrix(random.random((30, 5)) < 0.3)
    file = io.BytesIO()
    dump_svmlight_file(X, Y, file, multilabel=True)
    options = {"format": "svmlight", "multilabel": "any", "zero_based": True, "n_features": 8}
    y, rows = read(file.getvalue(), **options)
    np.testing.assert_array_equal(rows, X.toarray())
    assert y == [row.nonzero()[1].tolist() for row in Y]
    assert any(not labels for labels in y)


@pytest.mark.parametrize("format", ["xc", "svmlight", "vw"])
def test_rows_are_written_to_files(format, tmp_path):
    X = np.float32([[0.1, 0, 3], [0, 1e-30, -2]])
    path = tmp_path / "rows.txt"
    for y, expected in (
        ([[3, 1], [2]], [[3, 1], [2]]),
        (csr_matrix([[0, 1, 1], [0, 0, 0]]), [[1, 2], []]),
        ([{"b", "a"}, {"c"}], [["a", "b"], ["c"]]),
        (["cat", "dog"], [["cat"], ["dog"]]),
        (np.array([3.0, 4.0]), [[3], [4]]),
    ):
        write_rows(path, X, y, format)
        found, rows = read(path.read_bytes(), format=format, multilabel="any", n_features=4)
        assert found == expected
        np.testing.assert_array_equal(rows[:, :3], X)


def test_what_cannot_be_written(tmp_path):
    path = tmp_path / "rows.txt"
    for label in ("", "a b", "a,b", "a|b", "a:b", "#1", "'a", "a\nb"):
        with pytest.raises(ValueError, match=r"label .* cannot be written"):
            write_rows(path, [[1.0]], [[label]])
    with pytest.raises(ValueError, match="neither labels nor features"):
        write_rows(path, [[1.0], [0.0]], [[1], []], format="svmlight")
    with pytest.raises(ValueError, match="no finite float32"):
        write_rows(path, [[1e39]], [[1]])
    with pytest.raises(ValueError, match="2 rows and y has the labels of 1"):
        write_rows(path, [[1.0], [0.0]], [[1]])
    with pytest.raises(ValueError, match="svmlight, xc, vw"):
        write_rows(path, [[1.0]], [[1]], format="csv")
    assert not path.exists()


@pytest.mark.parametrize("format", ["vw", "svmlight"])
def test_a_comma_in_a_label_is_pointed_out_once(format):
    row = b"owl,lark | x\n" if format == "vw" else b"owl,lark 1:1\n"
    reader = open_rows(io.BytesIO(3 * row), format=format, label_type="str", batch_rows=1)
    with pytest.warns(UserWarning, match="multilabel='all'") as warned:
        labels = [label for batch in reader for label in batch.y]
    assert labels == ["owl,lark"] * 3
    assert len(warned) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(open_rows(io.BytesIO(row), format=format, multilabel="all", label_type="str"))
        list(open_rows(io.BytesIO(row.replace(b",", b"-")), format=format, label_type="str"))
