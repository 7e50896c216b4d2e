"""Parts of a file together have its rows, each once and in order; errors name the file's lines."""

import gzip
import io

import numpy as np
import pytest

from recalltree.readers import BadRowError, open_rows
from recalltree.readers.parts import FilePart, cut
from recalltree.readers.sources import find_sources

N = 200


def lines(format):
    """Return rows of very different lengths, as a file of the format has them."""
    words = [" ".join(f"w{j}" for j in range(i % 17 + 1)) for i in range(N)]
    return {
        "svmlight": [f"{i % 5} {i + 1}:1" for i in range(N)],
        "vw": [f"{i % 5} | {text}" for i, text in enumerate(words)],
        "fasttext": [f"__label__{i % 5} {text}" for i, text in enumerate(words)],
        "xc": [f"{N} 300 5", *(f"{i % 5} {i}:1" for i in range(N))],
        "tsv": ["label\ttext", *(f"k{i % 5}\t{text}" for i, text in enumerate(words))],
        "jsonl": [f'{{"label": "k{i % 5}", "text": "{text}"}}' for i, text in enumerate(words)],
    }[format]


OPTIONS = {
    "tsv": {"label_column": "label", "text_column": "text"},
    "jsonl": {"label_column": "label", "text_column": "text"},
}


def read(paths, format, **options):
    return list(open_rows(paths, format, n_features=512, **OPTIONS.get(format, {}), **options))


def assert_same(parts, format):
    (whole,) = {part.path for part in parts}
    expected = read(whole, format)
    found = [batch for part in parts for batch in read(part, format)]
    labels = [label for batch in found for label in batch.y.tolist()]
    assert labels == [label for batch in expected for label in batch.y.tolist()]
    rows = np.vstack([batch.X.toarray() for batch in found])
    np.testing.assert_array_equal(rows, np.vstack([b.X.toarray() for b in expected]))


@pytest.mark.parametrize("format", ["svmlight", "vw", "fasttext", "xc", "tsv", "jsonl"])
@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("first", [0, 33])
def test_parts_of_text_have_each_line_once(tmp_path, format, end, first):
    path = tmp_path / "rows"
    path.write_bytes(((end or "\n").join(lines(format)) + end).encode())
    (source,) = find_sources(path)
    for n_parts in (2, 3, 7, 64):
        parts = cut(source, format, n_parts, N / source.size, first)
        assert len(parts) == n_parts + (first > 0)
        assert_same(parts, format)


def test_every_place_of_a_cut_is_right(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:1\n2 2:1\n\n3 3:1\n")
    size = path.stat().st_size
    for at in range(1, size):
        parts = [FilePart(str(path), "bytes", 0, at), FilePart(str(path), "bytes", at, size)]
        found = [batch.y.tolist() for part in parts for batch in read(part, "svmlight")]
        assert [label for labels in found for label in labels] == [1, 2, 3]


@pytest.mark.parametrize("format", ["svmlight", "tsv", "jsonl"])
def test_a_bad_row_of_a_part_is_named_with_its_line_in_the_file(tmp_path, format):
    text = lines(format)
    bad = {"svmlight": "1 7:x", "tsv": "\ttext", "jsonl": "{no json"}[format]
    text[150] = bad
    path = tmp_path / "rows"
    path.write_text("\n".join(text))
    (source,) = find_sources(path)
    parts = cut(source, format, 4, N / source.size)
    with pytest.raises(BadRowError) as error:
        assert [read(part, format) for part in parts] == "not reached"
    assert (error.value.path, error.value.line) == (str(path), 151)


@pytest.mark.parametrize("format", ["parquet", "arrow"])
def test_parts_of_tables_have_each_row_once(tmp_path, format):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    pq = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / f"rows.{format}"
    table = pa.table({"label": [f"k{i % 5}" for i in range(N)], "n": np.arange(N)})
    if format == "parquet":
        pq.write_table(table, path, row_group_size=37)
    else:
        with pa.ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=37)
    (source,) = find_sources(path)
    for n_parts, first in ((2, 0), (3, 50), (16, 1)):
        parts = cut(source, format, n_parts, N / source.size, first)
        assert sum(part.n_rows for part in parts) == N
        columns = {"label_column": "label", "numeric_columns": ["n"]}
        found = [b.X[:, 0] for part in parts for b in open_rows(part, format, **columns)]
        np.testing.assert_array_equal(np.concatenate(found), np.arange(N))
    last = open_rows(parts[-1], format, label_column="n", numeric_columns=["label"])
    with pytest.raises(BadRowError) as error:
        next(iter(last))
    assert error.value.line == parts[-1].begin + 1


def test_what_cannot_be_cut_stays_whole(tmp_path):
    text = "\n".join(lines("vw")).encode()
    for name, data, format in (("a.gz", gzip.compress(text), "vw"), ("a.csv", text, "csv")):
        (tmp_path / name).write_bytes(data)
        (source,) = find_sources(tmp_path / name)
        (part,) = cut(source, format, 8, 1.0)
        assert part.unit == "file"
        assert part.source().size == len(data)


def test_addresses_are_opened_through_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
    system = fsspec.filesystem("memory")
    for i in range(3):
        with system.open(f"/parts/{i}.svm", "wb") as file:
            file.write(f"{i} 1:1\n".encode())
    found = read("memory://parts/*.svm", "auto")
    assert [label for batch in found for label in batch.y.tolist()] == [0, 1, 2]
    with pytest.raises(FileNotFoundError, match="no file matches the pattern"):
        open_rows("memory://nothing/*.svm")
    with system.open("/parts/0.svm", "wb") as file:
        file.write(b"1 1:x\n")
    with pytest.raises(BadRowError, match=r"memory://.*0\.svm, line 1"):
        read("memory://parts/0.svm", "svmlight")
    assert read(io.BytesIO(b"3 1:1\n"), "svmlight")[0].y.tolist() == [3]
