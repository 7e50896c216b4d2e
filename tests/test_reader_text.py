"""The text formats: what a line means, row by row."""

import io
import json

import numpy as np
import pytest

from recalltree.readers import BadRowError, open_rows


def read(text, **options):
    """Return the rows of a text: labels, dense matrix, weights and tags."""
    text = text.encode() if isinstance(text, str) else text
    batches = list(open_rows(io.BytesIO(text), **options))
    assert len(batches) == 1
    batch = batches[0]
    X = batch.X if options.get("dense") else batch.X.toarray()
    y = None if batch.y is None else batch.y.tolist()
    return y, X, batch.sample_weight, batch.tags


def columns(text, **options):
    """Return {column: value} of the only row."""
    _, X, _, _ = read(text, **options)
    assert X.shape[0] == 1
    return {int(j): float(X[0, j]) for j in np.flatnonzero(X[0])}


# svmlight


def test_svmlight_rows():
    y, X, weights, tags = read("3 1:0.5 4:-2e1\n-1\t2:.5\t3:5.\n+7\n", n_features=4)
    assert y == [3, -1, 7]
    np.testing.assert_array_equal(X, [[0.5, 0, 0, -20], [0, 0.5, 5, 0], [0, 0, 0, 0]])
    assert X.dtype == np.float32
    assert weights is None
    assert tags is None


def test_svmlight_comments_query_ids_and_blank_lines():
    text = "# made by hand\n\n  \n1 qid:12 1:1 # first\n2 qid:3 #2:2\n\t3 2:1#x\n"
    y, X, _, _ = read(text, format="svmlight", n_features=2)
    assert y == [1, 2, 3]
    np.testing.assert_array_equal(X, [[1, 0], [0, 0], [0, 1]])


def test_svmlight_indices_may_come_in_any_order():
    batch = next(iter(open_rows(io.BytesIO(b"1 3:3 1:1 2:2\n"), n_features=3)))
    assert batch.X.has_canonical_format
    np.testing.assert_array_equal(batch.X.indices, [0, 1, 2])
    np.testing.assert_array_equal(batch.X.data, [1, 2, 3])


def test_svmlight_zero_based():
    assert columns("1 0:5 3:2", n_features=4, zero_based=True) == {0: 5.0, 3: 2.0}
    assert columns("1 1:5 4:2", n_features=4) == {0: 5.0, 3: 2.0}


def test_svmlight_dense():
    _, X, _, _ = read("1 2:5", n_features=3, dense=True)
    assert isinstance(X, np.ndarray)
    np.testing.assert_array_equal(X, [[0, 5, 0]])


# labels


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["3", "3.0", "30e-1", "+3", "0.3e1", "003"], [3] * 6),
        (["-0", "0.0", "0e99999999999999999999"], [0, 0, 0]),
        (["9223372036854775807", "-9223372036854775808", "1e18"], [2**63 - 1, -(2**63), 10**18]),
    ],
)
def test_integral_numbers_are_integers(labels, expected):
    y, _, _, _ = read("".join(f"{label} 1:1\n" for label in labels))
    assert y == expected


def test_the_first_row_decides_what_labels_are():
    assert read("cat 1:1\n3 1:1\n")[0] == ["cat", "3"]
    reader = open_rows(io.BytesIO(b"3 1:1\ncat 1:1\n"))
    with pytest.raises(BadRowError, match="label_type='str'"):
        list(reader)


def test_label_type_is_kept_in_the_options():
    reader = open_rows(io.BytesIO(b"3 1:1\n"))
    assert reader.options["label_type"] == "auto"
    list(reader)
    assert reader.options["label_type"] == "int"
    assert read("3 1:1\n", label_type="str")[0] == ["3"]


def test_a_refused_row_does_not_decide_what_labels_are():
    y, _, _, _ = read("3 1:x\ncat 1:1\n", on_error="skip")
    assert y == ["cat"]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("svmlight", "1:1 2:1\n5 1:1\n"),
        ("vw", "|a x\n5 |a x\n"),
        ("fasttext", "x y\n__label__5 x\n"),
    ],
)
def test_rows_without_labels(format, text):
    with pytest.raises(BadRowError, match=r"line 1, column 1.*no label"):
        read(text, format=format)
    y, X, _, _ = read(text, format=format, require_labels=False)
    assert y == [None, "5" if format == "fasttext" else 5]
    assert (X != 0).any(axis=1).all()
    first_line = text.split("\n")[0]
    assert read(first_line, format=format, require_labels=False)[0] is None


# Vowpal Wabbit


def test_vw_labels_weights_and_tags():
    y, _, weights, tags = read("1 | a\n2 0.5 'x | a\n3 2 y| a\n4 'z|s a\n", format="vw")
    assert y == [1, 2, 3, 4]
    np.testing.assert_array_equal(weights, np.float32([1, 0.5, 2, 1]))
    assert tags.tolist() == ["", "x", "y", "z"]


def test_vw_values_scales_and_repeated_features():
    options = {"format": "vw", "features": "dictionary", "n_features": 8}
    assert columns("1 | a b:2 c:-.5 a", **options) == {0: 2.0, 1: 2.0, 2: -0.5}
    assert columns("1 |ns:3 a b:2 |other a", **options) == {0: 3.0, 1: 6.0, 2: 1.0}


def test_vw_dictionary_names():
    reader = open_rows(
        io.BytesIO(b"1 | a |n a b |n b c\n"), format="vw", features="dictionary", quadratic="nn"
    )
    list(reader)
    products = ["n^a*n^a", "n^a*n^b", "n^a*n^c", "n^b*n^b", "n^b*n^c", "n^c*n^c"]
    assert reader.feature_names[:4] == ["a", "n^a", "n^b", "n^c"]
    assert set(products) <= set(reader.feature_names)


def test_vw_quadratic_multiplies():
    options = {"format": "vw", "features": "dictionary", "n_features": 16, "quadratic": "ab"}
    row = "1 |apple x:2 y:3 |b u:5 v:7 |c w"
    values = [2.0, 3.0, 5.0, 7.0, 1.0, 10.0, 14.0, 15.0, 21.0]
    assert columns(row, **options) == dict(enumerate(values))
    assert columns(row, **{**options, "features": "hashed", "bits": 18, "n_features": None}).keys()


def test_vw_without_a_space_before_the_bar_reads_a_tag():
    with pytest.raises(BadRowError, match="put a space before"):
        read("1|x a", format="vw")


# fastText


def test_fasttext_counts_words():
    y, X, _, _ = read(
        "__label__a x y x\n__label__b\n",
        format="fasttext",
        features="dictionary",
        n_features=2,
    )
    assert y == ["a", "b"]
    np.testing.assert_array_equal(X, [[2, 1], [0, 0]])


def test_fasttext_ngrams():
    reader = open_rows(
        io.BytesIO("__label__a der  Bär\tbrummt laut".encode()), features="dictionary", ngrams=3
    )
    list(reader)
    grams = ["der", "Bär", "brummt", "laut", "der Bär", "Bär brummt", "brummt laut"]
    assert sorted(reader.feature_names) == sorted([*grams, "der Bär brummt", "Bär brummt laut"])


def test_hashed_ngrams_agree_with_the_dictionary_on_what_is_equal():
    text = "__label__a x y z x y\n__label__a x  y\n__label__b y x\n"
    _, hashed, _, _ = read(text, ngrams=2, bits=20)
    _, named, _, _ = read(text, ngrams=2, features="dictionary", n_features=16)
    used = hashed[:, hashed.any(axis=0)]
    named = named[:, named.any(axis=0)]
    assert sorted(map(tuple, used.T)) == sorted(map(tuple, named.T))


def test_fasttext_several_labels():
    text = "__label__a x __label__b\n__label__c y\n"
    with pytest.raises(BadRowError, match=r"line 1, column 23: a second label.*: 'b'"):
        read(text)
    assert read(text, multilabel="first")[0] == ["a", "c"]
    y, X, _, _ = read(text, multilabel="each")
    assert y == ["a", "b", "c"]
    np.testing.assert_array_equal(X[0], X[1])


def test_label_prefix():
    assert read("#a x\n#b y\n", format="fasttext", label_prefix="#")[0] == ["a", "b"]


# tf-idf


def test_tf_idf_counts_the_rows_so_far():
    text = "__label__a x x y\n__label__a x\n__label__b y z\n"
    _, X, _, _ = read(text, weighting="tf-idf", features="dictionary", n_features=3)

    def idf(n, count):
        return 1 + np.log((1 + n) / (1 + count))

    expected = [
        [2 * idf(1, 1), idf(1, 1), 0],
        [idf(2, 2), 0, 0],
        [0, idf(3, 2), idf(3, 1)],
    ]
    np.testing.assert_allclose(X, expected, rtol=1e-6)


@pytest.mark.parametrize("features", ["hashed", "dictionary"])
def test_prediction_uses_the_frequencies_and_the_dictionary_of_training(features):
    train = io.BytesIO(b"__label__a x x y\n__label__b y z\n")
    reader = open_rows(train, weighting="tf-idf", features=features, bits=8)
    list(reader)
    second = np.vstack([batch.X.toarray() for batch in reader])  # frozen by now
    options = json.loads(json.dumps(reader.options))
    unlabelled = io.BytesIO(b"y z\nx x new y\n")
    again = open_rows(unlabelled, **options, frozen=True, require_labels=False)
    X = next(iter(again)).X.toarray()
    np.testing.assert_array_equal(X[0], second[1])
    if features == "dictionary":  # where a new word has no column
        np.testing.assert_array_equal(X[1], second[0])
    assert again.options == reader.options


def test_resuming_goes_on_counting():
    lines = [b"__label__a x x y\n", b"__label__b y z\n", b"__label__a z new x\n"]
    options = {"weighting": "tf-idf", "features": "dictionary", "n_features": 8}
    whole = open_rows(io.BytesIO(b"".join(lines)), **options)
    expected = np.vstack([batch.X.toarray() for batch in whole])
    first = open_rows(io.BytesIO(b"".join(lines[:2])), **options)
    assert np.array_equal(next(iter(first)).X.toarray(), expected[:2])
    list(first)  # the pass that was broken off does not count
    second = open_rows(io.BytesIO(lines[2]), **first.options)
    assert np.array_equal(np.vstack([batch.X.toarray() for batch in second]), expected[2:])
    assert second.options["state"] == whole.options["state"]


def test_a_second_pass_counts_nothing_twice():
    reader = open_rows(io.BytesIO(b"__label__a x\n__label__b y\n"), weighting="tf-idf", bits=4)
    list(reader)
    state = reader.options["state"]
    list(reader)
    assert reader.options["state"] == state


def test_a_dictionary_that_is_full_is_a_bad_row():
    text = "__label__a x y\n__label__a x z\n__label__a y\n"
    with pytest.raises(BadRowError, match=r"line 2, column 14: the dictionary is full with 2"):
        read(text, features="dictionary", n_features=2)
    assert len(read(text, features="dictionary", n_features=2, on_error="skip")[0]) == 2
