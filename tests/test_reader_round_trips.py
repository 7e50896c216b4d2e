"""Rows written in each format come back exactly, whatever they are."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalltree.label_lists import LabelLists
from recalltree.readers import open_rows, write_rows

N_FEATURES = 64
bits = st.integers(0, 2**32 - 1).map(lambda b: np.uint32(b).view(np.float32))
numbers = st.one_of(bits.filter(lambda x: bool(np.isfinite(x))), st.integers(-9, 9).map(np.float32))
nonzero = numbers.filter(lambda x: x != 0)
# Everything but what separates, or ends a line; no surrogates, which UTF-8 does not have.
words = st.text(
    st.characters(exclude_characters=" \t\n\r\v\f\0|:#'", exclude_categories=["Cs"]), min_size=1
)
integers = st.integers(-(2**63), 2**63 - 1)
rows_of_numbers = st.lists(
    st.dictionaries(st.integers(0, N_FEATURES - 1), numbers), min_size=1, max_size=8
)


def written(value):
    return repr(float(value))


class InPieces(io.BytesIO):
    """A file that gives what it has in pieces."""

    piece = 1 << 20

    def read1(self, size=-1):
        return super().read1(min(self.piece, size))


def read(text, piece, **options):
    file = InPieces(text.encode() if isinstance(text, str) else text)
    file.piece = piece
    reader = open_rows(file, batch_rows=5, **options)
    return reader, list(reader)


def as_dense(X):
    """Value for value: `toarray` adds them to zeros, so that -0.0 would become 0.0."""
    if isinstance(X, np.ndarray):
        return X
    rows, out = X.tocoo(), np.zeros(X.shape, dtype=X.dtype)
    out[rows.row, rows.col] = rows.data
    return out


def stack(batches):
    X = np.vstack([as_dense(b.X) for b in batches])
    return X, [label for b in batches for label in b.y.tolist()]


def dense(rows):
    X = np.zeros((len(rows), N_FEATURES), dtype=np.float32)
    for i, row in enumerate(rows):
        for j, value in row.items():
            X[i, j] = value
    return X


ends = st.sampled_from(["\n", "\r\n", "\n\n"])
pieces = st.integers(1, 100)


@given(rows_of_numbers, st.data(), st.booleans(), ends, pieces)
@settings(deadline=None)
def test_svmlight(rows, data, zero_based, end, piece):
    kind = data.draw(st.sampled_from([integers, words]))
    labels = data.draw(st.lists(kind, min_size=len(rows), max_size=len(rows)))
    lines = [
        " ".join([str(y), *(f"{j + (not zero_based)}:{written(v)}" for j, v in row.items())])
        for y, row in zip(labels, rows, strict=True)
    ]
    _, batches = read(
        end.join(lines),
        piece,
        format="svmlight",
        n_features=N_FEATURES,
        zero_based=zero_based,
        label_type="int" if kind is integers else "str",
    )
    X, y = stack(batches)
    assert X.tobytes() == dense(rows).tobytes()
    assert y == labels


vw_rows = st.lists(
    st.tuples(
        words,
        st.one_of(st.none(), nonzero.map(abs)),
        st.one_of(st.just(""), words),
        st.dictionaries(st.tuples(st.one_of(st.just(""), words), words), nonzero, max_size=6),
    ),
    min_size=1,
    max_size=6,
)


@given(vw_rows, ends, pieces)
@settings(deadline=None)
def test_vw(rows, end, piece):
    lines = []
    for label, weight, tag, features in rows:
        spaces = {}
        for (space, name), value in features.items():
            spaces.setdefault(space, []).append(f"{name}:{written(value)}")
        head = " ".join([label, *([written(weight)] if weight is not None else []), f"'{tag}"])
        body = "".join(f"|{space} {' '.join(names)} " for space, names in spaces.items())
        lines.append(f"{head} {body or '|'}")
    reader, batches = read(
        end.join(lines), piece, format="vw", features="dictionary", bits=10, label_type="str"
    )
    X, y = stack(batches)
    column = {name: j for j, name in enumerate(reader.feature_names)}
    assert y == [label for label, *_ in rows]
    tags = [tag for b in batches for tag in (b.tags if b.tags is not None else [""] * len(b))]
    assert tags == [tag for _, _, tag, _ in rows]
    ones = [
        np.ones(len(b), np.float32) if b.sample_weight is None else b.sample_weight for b in batches
    ]
    weights = np.float32([1 if weight is None else weight for _, weight, _, _ in rows])
    assert np.concatenate(ones).tobytes() == weights.tobytes()
    for i, (_, _, _, features) in enumerate(rows):
        expected = np.zeros(X.shape[1], dtype=np.float32)
        with np.errstate(over="ignore"):
            for (space, name), value in features.items():
                expected[column[f"{space}^{name}" if space else name]] += value
        assert X[i].tobytes() == expected.tobytes()


@given(
    st.lists(st.tuples(words, st.lists(words, max_size=8)), min_size=1, max_size=6), ends, pieces
)
@settings(deadline=None)
def test_fasttext(rows, end, piece):
    # Words of fastText end at white space only, and labels are those with the prefix.
    def is_word(word):
        return not word.startswith("__label__") and not any(c.isspace() for c in word)

    rows = [(label, [word for word in words if is_word(word)]) for label, words in rows]
    lines = [" ".join([f"__label__{label}", *text]) for label, text in rows]
    reader, batches = read(end.join(lines), piece, format="fasttext", features="dictionary", bits=8)
    X, y = stack(batches)
    assert y == [label for label, _ in rows]
    names = reader.feature_names
    for i, (_, text) in enumerate(rows):
        assert {names[j]: X[i, j] for j in np.flatnonzero(X[i])} == {
            word: text.count(word) for word in text
        }


# Labels that have no comma, so that one can stand between them.
names = words.filter(lambda word: "," not in word)


@pytest.mark.parametrize("format", ["svmlight", "xc", "vw"])
@given(rows_of_numbers, st.data(), ends, pieces)
@settings(deadline=None)
def test_several_labels(format, rows, data, end, piece):
    kind = data.draw(st.sampled_from([integers, names]))
    least = 0 if format == "xc" else 1  # a row of svmlight has a label or a feature
    labels = [data.draw(st.lists(kind, min_size=least, max_size=4, unique=True)) for _ in rows]
    if data.draw(st.booleans()):  # written by the package
        file = io.BytesIO()
        write_rows(file, dense(rows), LabelLists(*flat(labels)), format)
        text = file.getvalue()
    else:
        text = end.join(by_hand(format, rows, labels))
    _, batches = read(
        text,
        piece,
        format=format,
        n_features=N_FEATURES,
        label_type="int" if kind is integers else "str",
        multilabel="any",
    )
    X, y = stack(batches)
    expected = dense(rows)
    assert (X + 0.0).tobytes() == (expected + 0.0).tobytes()  # zeros are not all written
    assert y == labels


def flat(lists):
    values = np.empty(sum(map(len, lists)), dtype=object)
    values[:] = [label for row in lists for label in row]
    return values, np.cumsum([0, *map(len, lists)])


def by_hand(format, rows, labels):
    lines = [f"{len(rows)} {N_FEATURES} 9"] if format == "xc" else []
    for row, own in zip(rows, labels, strict=True):
        pairs = [f"{j + (format == 'svmlight')}:{written(v)}" for j, v in row.items()]
        lines.append(" ".join([",".join(map(str, own)), *bar(format), *pairs]))
        lines[-1] += " "  # a row of nothing but a blank
    return lines


def bar(format):
    return ["|"] if format == "vw" else []


@given(
    st.lists(st.tuples(st.lists(words, max_size=4, unique=True), words), min_size=1, max_size=6),
    ends,
    pieces,
)
@settings(deadline=None)
def test_several_labels_of_fasttext(rows, end, piece):
    def is_word(word):
        return not word.startswith("__label__") and not any(c.isspace() for c in word)

    rows = [(labels, word) for labels, word in rows if is_word(word)]
    rows = rows or [(["a"], "word")]
    lines = [" ".join([word, *(f"__label__{label}" for label in labels)]) for labels, word in rows]
    _, batches = read(end.join(lines), piece, format="fasttext", multilabel="any")
    assert stack(batches)[1] == [labels for labels, _ in rows]


tables = st.lists(st.tuples(words, numbers, numbers), min_size=1, max_size=8)


def delimited(rows, delimiter, quote):
    def cell(value):
        text = value if isinstance(value, str) else written(value)
        return quote + text.replace('"', '""' if quote else '"') + quote

    lines = [["y", "a", "b"], *rows]
    return "".join(delimiter.join(map(cell, line)) + "\n" for line in lines).encode()


def columnar(rows, format):
    import pyarrow as pa
    import pyarrow.parquet

    labels, a, b = zip(*rows, strict=True)
    table = pa.table({"y": labels, "a": pa.array(a, pa.float32()), "b": pa.array(b, pa.float32())})
    sink = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def lists_of(rows, format):
    """Tables with a column of lists, or of text between semicolons."""
    import pyarrow as pa
    import pyarrow.parquet

    labels, a = zip(*rows, strict=True)
    if format in ("csv", "tsv"):
        quote, delimiter = ('"', ",") if format == "csv" else ("", "\t")
        cells = [(";".join(own), written(x)) for own, x in rows]
        lines = [("y", "a"), *cells]
        return "".join(delimiter.join(quote + c + quote for c in line) + "\n" for line in lines)
    if format == "jsonl":
        return "\n".join(json.dumps({"y": own, "a": float(x)}) for own, x in rows)
    column = pa.array(labels, pa.list_(pa.string()))
    table = pa.table({"y": column, "a": pa.array(a, pa.float32())})
    sink = io.BytesIO()
    if format == "parquet":
        pyarrow.parquet.write_table(table, sink)
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


WRITERS = {
    "csv": lambda rows: delimited(rows, ",", '"'),
    "tsv": lambda rows: delimited(rows, "\t", ""),
    "jsonl": lambda rows: b"\n".join(
        json.dumps({"y": y, "a": float(a), "b": float(b)}).encode() for y, a, b in rows
    ),
    "parquet": lambda rows: columnar(rows, "parquet"),
    "arrow": lambda rows: columnar(rows, "arrow"),
}


@pytest.mark.parametrize("format", WRITERS)
@given(rows=tables, piece=pieces)
@settings(deadline=None)
def test_tables(format, rows, piece):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    _, batches = read(
        WRITERS[format](rows),
        piece,
        format=format,
        label_column="y",
        label_type="str",
        numeric_columns=["a", "b"],
    )
    X, y = stack(batches)
    assert y == [label for label, _, _ in rows]
    assert X.tobytes() == np.float32([[a, b] for _, a, b in rows]).tobytes()


# Blanks around labels are no part of them, and a semicolon separates them.
plain_names = words.filter(lambda word: ";" not in word and '"' not in word)


@pytest.mark.parametrize("format", WRITERS)
@given(
    rows=st.lists(
        st.tuples(st.lists(plain_names, max_size=4, unique=True), numbers), min_size=1, max_size=8
    ),
    piece=pieces,
)
@settings(deadline=None)
def test_several_labels_of_tables(format, rows, piece):
    pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    _, batches = read(
        lists_of(rows, format),
        piece,
        format=format,
        label_column="y",
        label_type="str",
        multilabel="any",
        label_separator=";" if format in ("csv", "tsv") else None,
        numeric_columns=["a"],
    )
    X, y = stack(batches)
    assert y == [labels for labels, _ in rows]
    assert X.tobytes() == np.float32([[a] for _, a in rows]).tobytes()
