"""Rows that cannot be read: where, what and why is said, and nothing else changes."""

import io
import pickle
import warnings

import numpy as np
import pytest

from recalltree.readers import BadRowError, BadRowWarning, open_rows

HUGE = "1" + "0" * 400


def rows(data, **options):
    batches = list(open_rows(io.BytesIO(data), **options))
    X = np.vstack([batch.X.toarray() for batch in batches])
    return X, np.concatenate([batch.y for batch in batches])


BAD = [
    # svmlight
    ("svmlight", "1 1:1 x", 7, "index:value", "x"),
    ("svmlight", "1 1", 3, "index:value", "1"),
    ("svmlight", "1 -1:2", 3, "index:value", "-1:2"),
    ("svmlight", "1 1.0:2", 3, "index:value", "1.0:2"),
    ("svmlight", "1 0:2", 3, "zero_based=True", "0:2"),
    ("svmlight", "1 9:2", 3, "beyond the last, 8; raise n_features", "9:2"),
    ("svmlight", "1 18446744073709551617:2", 3, "beyond the last", "18446744073709551617:2"),
    ("svmlight", f"1 {HUGE}:2", 3, "beyond the last", f"{HUGE}:2"[:60]),
    ("svmlight", "1 2:", 5, "not a finite decimal number", ""),
    ("svmlight", "1 2:nan", 5, "not a finite decimal number", "nan"),
    ("svmlight", "1 2:inf", 5, "not a finite decimal number", "inf"),
    ("svmlight", "1 2:-Infinity", 5, "not a finite decimal number", "-Infinity"),
    ("svmlight", "1 2:0x10", 5, "not a finite decimal number", "0x10"),
    ("svmlight", "1 2:1,5", 5, "not a finite decimal number", "1,5"),
    ("svmlight", "1 2:1e", 5, "not a finite decimal number", "1e"),
    ("svmlight", "1 2:1.2.3", 5, "not a finite decimal number", "1.2.3"),
    ("svmlight", "1 2:١", 5, "not a finite decimal number", "١"),
    ("svmlight", "1 2:3.5e38", 5, "too large for a float32", "3.5e38"),
    ("svmlight", f"1 2:1e{HUGE}", 5, "too large for a float32", f"1e{HUGE}"[:60]),
    ("svmlight", "1 3:1 2:1 3:5 4:1", 11, "feature 3 appears more than once", "3:5"),
    ("svmlight", "1 qid:x 2:1", 3, "query id", "qid:x"),
    ("svmlight", "1.5 2:1", 1, "not an integral number", "1.5"),
    ("svmlight", "9223372036854775808 2:1", 1, "64-bit", "9223372036854775808"),
    ("svmlight", "1,2 2:1", 1, "not an integer", "1,2"),
    ("svmlight", "2:1 3:1", 1, "no label", "2:1"),
    ("svmlight", "1 2:1\x002", 6, "NUL", "\x002"),
    # Vowpal Wabbit
    ("vw", "1 2:1", 1, "no '|'", "1"),
    ("vw", "1 | a:b", 7, "the value is not a finite", "b"),
    ("vw", "1 | a:1:2", 7, "the value is not a finite", "1:2"),
    ("vw", "1 | a :2", 7, "without a name", ":2"),
    ("vw", "1 |ns:x a", 7, "scale of the namespace", "x"),
    ("vw", "1 |:2 a", 4, "no scale", ":2"),
    ("vw", "1 x | a", 3, "importance weight is not", "x"),
    ("vw", "1 -2 | a", 3, "negative", "-2"),
    ("vw", "1 nan | a", 3, "importance weight is not", "nan"),
    ("vw", "1 2 3 | a", 5, "multiclass", "3"),
    ("vw", "1 2 3 4 5 | a", 9, "before '|'", "5"),
    ("vw", "1 |n:1e30 a:1e30", 11, "exceeds a float32", "a:1e30"),
    ("vw", "1 | a:3e38 a:3e38", 1, "add up", "1"),
    # fastText
    ("fasttext", "__label__ x", 1, "without a name", "__label__"),
]


@pytest.mark.parametrize(
    ("format", "line", "column", "reason", "text"), BAD, ids=[f"{b[0]} {b[1][:20]!r}" for b in BAD]
)
def test_the_place_the_reason_and_the_text_are_said(format, line, column, reason, text, tmp_path):
    good = {"svmlight": "7 1:1", "vw": "7 | w", "fasttext": "__label__7 w"}[format]
    path = tmp_path / "rows.txt"
    path.write_text(f"{good}\n\n{line}\n{good}\n", encoding="utf-8")
    options = {"n_features": 8} if format == "svmlight" else {}
    given = []
    with pytest.raises(BadRowError) as caught:
        given.extend(open_rows(path, format=format, **options))
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), 3, column)
    assert reason in error.reason
    assert error.text == text
    assert f"line 3, column {column}" in str(error)
    assert [len(batch) for batch in given] == [1]  # the row before it
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error)

    reader = open_rows(path, format=format, on_error="skip", **options)
    assert sum(len(batch) for batch in reader) == 2
    assert (reader.n_rows, reader.n_skipped) == (2, 1)
    with pytest.warns(BadRowWarning, match=f"line 3, column {column}"):
        list(open_rows(path, format=format, on_error="warn", **options))


@pytest.mark.parametrize("format", ["svmlight", "vw", "fasttext"])
@pytest.mark.parametrize(
    "wrong",
    [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82", b"\xe2\x28\xa1"],
)
def test_bytes_that_are_not_utf8_are_refused_everywhere(format, wrong):
    good = {"svmlight": b"7 1:1 #", "vw": b"7 | w", "fasttext": b"__label__7 w"}[format]
    for line in (good + wrong, good + wrong + b"x", wrong + good):
        with pytest.raises(BadRowError, match="not UTF-8") as caught:
            list(open_rows(io.BytesIO(line), format=format))
        assert caught.value.text.startswith("\\x")
    name = "é€😀".encode()
    assert len(rows(good + name, format=format)[1]) == 1


def test_columns_count_characters():
    with pytest.raises(BadRowError) as caught:
        list(open_rows(io.BytesIO("7 | é€😀 x:y".encode()), format="vw"))
    assert caught.value.column == len("7 | é€😀 x:") + 1


def test_skipping_equals_reading_a_file_without_the_bad_rows():
    bad = ["3 |a x:nope new words", "x y z |a b", "no bar", "4 |a unseen words too:"]
    good = [f"{i} 2 't{i} |a w{i} w{i + 1}:0.5 |b v{i % 3}" for i in range(10)]
    mixed = [line for pair in zip(good, (bad * 3)[:10], strict=True) for line in pair]
    for options in (
        {"features": "hashed"},
        {"features": "dictionary", "quadratic": "ab"},
    ):
        both = [
            open_rows(
                io.BytesIO("\n".join(lines).encode()), format="vw", on_error="skip", **options
            )
            for lines in (good, mixed)
        ]
        (expected,), (found,) = (list(reader) for reader in both)
        assert (found.X != expected.X).nnz == 0
        np.testing.assert_array_equal(found.y, expected.y)
        np.testing.assert_array_equal(found.sample_weight, expected.sample_weight)
        np.testing.assert_array_equal(found.tags, expected.tags)
        assert both[0].options == both[1].options
        assert [reader.n_skipped for reader in both] == [0, 10]


def test_warnings_are_few_and_the_last_says_how_many():
    data = b"1 1:1\n" + b"1 x\n" * 100
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reader = open_rows(io.BytesIO(data), on_error="warn")
        list(reader)
    assert len(caught) == 11
    assert "100 rows in all" in str(caught[-1].message)
    assert reader.n_skipped == 100


def test_bad_rows_are_numbered_within_their_own_file(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.svm").write_text("1 1:1\n2 1:1\n")
    (tmp_path / "c.svm").write_text("1 1:1\n2 1:oops\n")
    with pytest.raises(BadRowError) as caught:
        list(open_rows(tmp_path / "*.svm"))
    assert (caught.value.path, caught.value.line) == (str(tmp_path / "c.svm"), 2)


@pytest.mark.parametrize("format", ["svmlight", "vw", "fasttext"])
def test_long_lines_are_bounded(format):
    good = {"svmlight": b"7 1:1", "vw": b"7 | w", "fasttext": b"__label__7 w"}[format]
    long = good + b" #" * 500_000
    reader = open_rows(
        io.BytesIO(b"\n".join([good, long, good, long])),
        format=format,
        max_line_bytes=1000,
        on_error="skip",
    )
    assert sum(len(batch) for batch in reader) == 2
    assert reader.n_skipped == 2
    with pytest.raises(BadRowError, match="longer than max_line_bytes=1000") as caught:
        list(open_rows(io.BytesIO(good + b"\n" + long), format=format, max_line_bytes=1000))
    assert caught.value.line == 2


def test_products_of_one_row_are_bounded():
    row = b"1 |a " + b" ".join(b"x%d" % i for i in range(3000))
    with pytest.raises(BadRowError, match="more than 4194304 features of one row"):
        list(open_rows(io.BytesIO(row), format="vw", quadratic="aa"))


def test_copies_of_one_row_are_bounded():
    row = b" ".join(b"__label__%d" % i for i in range(3000)) + b" ".join(
        b" x%d" % i for i in range(3000)
    )
    with pytest.raises(BadRowError, match="too many"):
        list(open_rows(io.BytesIO(row), multilabel="each"))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_ends_of_lines_and_byte_order_marks(end, last, mark):
    text = mark + end.join(["3 1:1", "", "4 2:2"]) + (end if last else "")
    X, y = rows(text.encode(), n_features=2)
    np.testing.assert_array_equal(y, [3, 4])
    np.testing.assert_array_equal(X, [[1, 0], [0, 2]])
