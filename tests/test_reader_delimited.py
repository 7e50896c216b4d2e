"""CSV and TSV against Python's csv module, and the columns that are found in them."""

import csv
import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalltree._core import split_delimited
from recalltree.readers import BadRowError, DamagedFileError, open_rows

cells = st.text(st.sampled_from('ab,"\n\t é'), max_size=6)
tables = st.lists(st.lists(cells, min_size=3, max_size=3), min_size=1, max_size=12)


def split(text, wanted, *, cut):
    """Return the wanted columns, read in two pieces."""
    columns = [[] for _ in wanted]
    rest = b""
    for piece, is_last in ((text[:cut], False), (text[cut:], True)):
        n_bytes, _, _, found, refused = split_delimited(
            rest + piece, delimiter=",", quotes=True, n_columns=3, wanted=wanted, is_last=is_last
        )
        assert not refused
        rest = (rest + piece)[n_bytes:]
        for column, (offsets, data) in zip(columns, found, strict=True):
            ends = offsets.tolist()
            column += [data.tobytes()[a:b].decode() for a, b in pairwise(ends)]
    return columns


@given(rows=tables, cut=st.floats(0, 1), end=st.sampled_from(["\n", "\r\n"]))
@settings(deadline=None)
def test_what_the_csv_module_writes(rows, cut, end):
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=end).writerows(rows)
    text = out.getvalue().encode()
    expected = [[row[j] for row in rows] for j in (2, 0)]
    assert split(text, [2, 0], cut=int(cut * len(text))) == expected


def test_quotes_within_a_cell_are_characters():
    data = b'y,t\na,a 5" nail\nb,"said ""no"" twice" twice\n'
    reader = open_rows(io.BytesIO(data), format="csv", features="dictionary", n_features=9)
    (batch,) = reader
    assert reader.feature_names == ["a", "5", "nail", "said", "no", "twice"]
    assert batch.X.sum(axis=1).tolist() == [[3], [4]]


def test_a_quote_that_is_not_closed():
    data = b'y,x\na,1\nb,"2\nc,3\n'
    reader = open_rows(io.BytesIO(data), format="csv", numeric_columns=["x"])
    given = []
    with pytest.raises(BadRowError, match=r"line 3.*a quote that is not closed"):
        given.extend(reader)
    assert [batch.y.tolist() for batch in given] == [["a"]]
    with pytest.raises(DamagedFileError, match="a row is longer than 4194304 bytes"):
        list(open_rows(io.BytesIO(data + b"x,1\n" * 2**21), format="csv", numeric_columns=["x"]))


def test_a_header_that_is_no_text():
    with pytest.raises(DamagedFileError, match="header"):
        open_rows(io.BytesIO(b"\xff\xfe,y\n1,2\n"), format="csv")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("label,text\na,one two\n", ("label", "text_column", ["text"])),
        ("Text,CATEGORY\none two,a\n", ("CATEGORY", "text_column", ["Text"])),
        ("kind,title\na,one two\nb,three four five\n", ("kind", "text_column", ["title"])),
        ("title,code\none two,7\nthree four,8\n", ("code", "text_column", ["title"])),
        ("id,y,a,b\n9,1,2,3\n8,2,3.5,4\n", ("y", "numeric_columns", ["a", "b"])),
        ("y,url\na,x.org/1\nb,x.org/2\n", ("y", "text_column", ["url"])),
    ],
)
def test_columns_that_can_only_be_meant(table, expected):
    reader = open_rows(io.BytesIO(table.encode()), format="csv", bits=6)
    label, option, columns = expected
    assert (reader.options["label_column"], reader.options[option]) == (label, columns)
    n_rows = table.count("\n") - 1
    assert sum(len(batch) for batch in reader) == n_rows


@pytest.mark.parametrize(
    "table",
    [
        "label,category,text\na,b,one two\n",  # two columns may be the labels
        "a,b\none two,three four\n",
        "a,b\none,two\n",
        "y,title,text\na,one two,three four\n",  # several texts
        "y,price,text\na,1.5,one two\n",  # numbers may be features, or not
        "y,x\n",  # no rows to look at
    ],
)
def test_columns_that_could_be_meant_are_listed(table):
    names = table.split("\n")[0].split(",")
    with pytest.raises(ValueError, match=", ".join(rf"'{name}' \(\w+\)" for name in names)):
        open_rows(io.BytesIO(table.encode()), format="csv")


def test_columns_that_are_named_stay():
    data = b"label,price,text\na,1.5,one two\n"
    reader = open_rows(io.BytesIO(data), format="csv", numeric_columns=["price"])
    assert reader.options["label_column"] == "label"
    assert reader.options["text_column"] == []
    reader = open_rows(io.BytesIO(data), format="csv", label_column="text", weight_column="price")
    assert reader.options["text_column"] == ["label"]
    new = open_rows(io.BytesIO(b"one\n1\n2\n"), format="csv", require_labels=False)
    assert np.vstack([batch.X for batch in new]).tolist() == [[1], [2]]
    assert new.options["label_column"] is None


def test_columns_of_a_pipe_are_found():
    class Pipe(io.BytesIO):
        def seekable(self):
            return False

    reader = open_rows(Pipe(b"label\ttext\na\tone two\nb\tthree four\n"), format="tsv", bits=6)
    assert [batch.y.tolist() for batch in reader] == [["a", "b"]]


def test_columns_of_other_tables_are_found():
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    data = b'{"label": "a", "vector": [1, 2]}\n{"label": "b", "vector": [3, 4]}\n'
    reader = open_rows(io.BytesIO(data), format="jsonl")
    assert reader.options["embedding_columns"] == ["vector"]
    assert np.vstack([batch.X for batch in reader]).tolist() == [[1, 2], [3, 4]]
