import numpy as np
import pytest
from classifiers import CLASSIFIERS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier
from recalltree.labels import LabelTable, as_labels, lines_of_pairs

INT64, UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)

KINDS = {
    "strings": ["b", "a", "", "ä漢", "a longer one"],
    "string array": np.array(["b", "a", "c", "dd", "e"]),
    "object strings": np.array(["b", "a", "c", "dd", "e"], dtype=object),
    "integers": [3, -1, 0, 7, 5],
    "64-bit integers": np.array([INT64.min, INT64.max, 0, -1, 1]),
    "unsigned": np.array([UINT64.max, 0, 2**63, 1, 2], dtype=np.uint64),
    "small integers": np.array([-128, 127, 0, 1, 2], dtype=np.int8),
    "object integers": np.array([3, -1, 0, 7, 5], dtype=object),
    "booleans": np.array([True, False, True, False, False]),
    "integral floats": np.array([1.0, -2.0, 0.0, 1e15, 3.0]),
    "float32": np.array([1, -2, 0, 5, 3], dtype=np.float32),
}


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS.keys())
def test_fit_sorts_and_predict_returns_labels(classifier, y):
    X = np.eye(5)
    clf = classifier(n_passes=100, random_state=0).fit(X, y)
    assert clf.classes_.tolist() == sorted(set(np.asarray(y).tolist()))
    predicted = clf.predict(X)
    assert predicted.dtype == clf.classes_.dtype
    assert predicted.tolist() == np.asarray(y).tolist()
    assert clf.predict_topk(X, k=1)[0][:, 0].tolist() == np.asarray(y).tolist()


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS.keys())
def test_partial_fit_keeps_the_order_of_appearance(y):
    clf = OneAgainstAllClassifier()
    for i in range(5):
        clf.partial_fit(np.eye(5)[[i]], y[i : i + 1])
    assert clf.classes_.tolist() == list(dict.fromkeys(np.asarray(y).tolist()))


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "object integers"])
def test_score(kind):
    # scikit-learn's accuracy_score, which score calls, does not take integers held as objects.
    clf = OneAgainstAllClassifier(n_passes=30, random_state=0).fit(np.eye(5), KINDS[kind])
    assert clf.score(np.eye(5), KINDS[kind]) == 1.0


def test_dtype_of_the_labels_is_kept():
    assert OneAgainstAllClassifier().fit(np.eye(2), np.array([1, 2], np.int16)).classes_.dtype == (
        np.int16
    )


def test_late_classes_are_appended_and_columns_do_not_move():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    y = np.array(["m", "z"])[np.arange(60) % 2]
    clf = OneAgainstAllClassifier(random_state=0).fit(X, y)
    before = clf.predict_proba(X)
    clf.partial_fit(X[:3], ["z", "b", "a"])
    assert clf.classes_.tolist() == ["m", "z", "b", "a"]
    assert clf.n_classes_seen_ == 4
    after = clf.predict_proba(X)
    assert after.shape == (60, 4)
    # The two old classes have hardly learned anything new: their columns still say the same.
    old = after[:, :2] / after[:, :2].sum(axis=1, keepdims=True)
    assert np.corrcoef(old[:, 0], before[:, 0])[0, 1] > 0.9


def test_longer_strings_are_not_cut():
    clf = OneAgainstAllClassifier().partial_fit(np.eye(2), np.array(["a", "b"]))
    clf.partial_fit(np.eye(2), np.array(["a much longer label", "b"]))
    assert clf.classes_.tolist() == ["a", "b", "a much longer label"]


def test_classes_gives_places_in_sorted_order_and_is_no_limit():
    clf = OneAgainstAllClassifier()
    clf.partial_fit(np.eye(3), ["c", "x", "a"], classes=["d", "c", "a", "a"])
    assert clf.classes_.tolist() == ["a", "c", "d", "x"]
    assert clf.n_classes_seen_ == 3
    assert "d" not in clf.predict(np.eye(3))
    clf.partial_fit(np.eye(3), ["c", "c", "e"], classes=["z", "y", "a"])
    assert clf.classes_.tolist() == ["a", "c", "d", "x", "y", "z", "e"]


def test_signed_and_unsigned_integers_meet_without_loss():
    clf = OneAgainstAllClassifier().partial_fit([[1.0]], np.array([2**63 - 1]))
    clf.partial_fit([[2.0]], np.array([7], dtype=np.uint64))
    assert clf.classes_.tolist() == [2**63 - 1, 7]
    assert clf.classes_.dtype == np.uint64
    with pytest.raises(ValueError, match=r"no 64-bit integer type holds .* as strings"):
        clone(clf).partial_fit([[1.0]], [-1]).partial_fit(
            [[1.0]], np.array([2**64 - 1], dtype=np.uint64)
        )
    clf = OneAgainstAllClassifier().partial_fit([[1.0]], np.array([5], dtype=np.uint64))
    clf.partial_fit([[2.0]], [-5])
    assert clf.classes_.tolist() == [5, -5]
    assert clf.classes_.dtype == np.int64


MIXED = {
    "int and str": [1, "a"],
    "str and float": ["a", 1.0],
    "bool and int": [True, 2],
    "float and int": [1.0, 2],
    "bytes and str": [b"a", "a"],
}


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("y", MIXED.values(), ids=MIXED.keys())
@pytest.mark.parametrize("as_array", [False, True])
def test_mixed_labels_are_an_error(classifier, y, as_array):
    y = np.array(y, dtype=object) if as_array else y
    names = " and ".join(sorted({type(label).__name__ for label in y}))
    with pytest.raises(ValueError, match=f"y mixes labels of type {names}"):
        classifier().fit(np.eye(2), y)


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        ([1, 2], ["a", "b"], "y holds strings such as 'a', .* are integers such as 1"),
        (["a", "b"], [1, 2], "y holds integers such as 1, .* are strings such as 'a'"),
        ([1, 2], [1.0, 2.0], "y holds floats such as 1.0, .* are integers"),
        ([True, False], [1, 0], "y holds integers such as 1, .* are booleans"),
    ],
)
def test_another_kind_later_is_an_error(first, then, message):
    clf = OneAgainstAllClassifier().partial_fit(np.eye(2), first)
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(np.eye(2), then)
    assert clf.classes_.tolist() == first
    with pytest.raises(ValueError, match=message.replace("y holds", "classes holds")):
        clf.partial_fit(np.eye(2), first, classes=then)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", None], "None: None at position 1"),
        ([None, 1], "None: None at position 0"),
        ([1.0, np.nan], "nan at position 1"),
        (np.array([1.0, np.nan]), "NaN at position 1"),
        (np.array(["a", np.nan], dtype=object), "nan at position 1"),
        ([1.0, np.inf], "infinity at position 1"),
        ([1.0, 2.5], "Unknown label type: continuous, for example 2.5 at position 1"),
        ([1 + 1j, 2], "mixes labels"),
        (np.array([1 + 1j, 2]), "Unknown label type: complex128"),
        ([b"a", b"b"], "Unknown label type: bytes"),
        (np.array([b"a", b"b"]), r"Unknown label type: \|S1"),
        ([("a", "b"), ("b", "a")], "1d array"),
        ([{"a"}, {"b"}], "Unknown label type: set"),
        (np.array(["2020-01-01", "NaT"], dtype="M8[D]"), "Unknown label type: datetime64"),
        ([2**64, 1], "the integer 18446744073709551616"),
        ([2**63, -1], "the integer 9223372036854775808"),
        ([[1, 2], [3, 4]], "1d array"),
        ("ab", "1d array"),
    ],
)
def test_what_is_no_label(y, message):
    with pytest.raises(ValueError, match=message):
        LOMTreeClassifier().fit(np.eye(2), y)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.coo_matrix])
def test_a_sparse_y_is_an_error_that_says_what_would_work(make):
    X, Y = np.eye(3), make(np.array([[1, 0], [0, 1], [1, 1]]))
    clf = LOMTreeClassifier()
    with pytest.raises(ValueError, match=r"y is a sparse matrix of shape \(3, 2\).* y\.nonzero"):
        clf.fit(X, Y)
    rows, labels = Y.nonzero()
    assert clf.fit(X[rows], labels).classes_.tolist() == [0, 1]


def test_data_frame_libraries():
    pd = pytest.importorskip("pandas")
    for y in (
        pd.Series(["b", "a", "b"]),
        pd.Series(["b", "a", "b"], dtype="category"),
        pd.Series(["b", "a", "b"], dtype="string"),
    ):
        assert as_labels(y).tolist() == ["b", "a", "b"]
    assert as_labels(pd.Series([3, 1], dtype="Int64")).dtype == np.int64
    for missing in (pd.Series(["a", None]), pd.Series([1, None], dtype="Int64")):
        with pytest.raises(ValueError, match="position 1"):
            as_labels(missing)


def test_polars():
    pl = pytest.importorskip("polars")
    assert as_labels(pl.Series(["b", "a"])).tolist() == ["b", "a"]
    assert as_labels(pl.Series([2, 1])).tolist() == [2, 1]
    with pytest.raises(ValueError, match="position 1"):
        as_labels(pl.Series(["b", None]))


def test_string_dtype_of_numpy():
    string_dtype = getattr(getattr(np, "dtypes", None), "StringDType", None)
    if string_dtype is None:
        pytest.skip("this NumPy has no StringDType")
    assert as_labels(np.array(["b", "a"], dtype=string_dtype())).tolist() == ["b", "a"]


labels_of_one_kind = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=30),
    st.lists(st.text(max_size=5), min_size=1, max_size=30),
    st.lists(st.booleans(), min_size=1, max_size=30),
    st.lists(st.integers(-(2**50), 2**50).map(float), min_size=1, max_size=30),
)


@given(labels_of_one_kind, st.integers(0, 30), st.booleans())
@settings(max_examples=50, deadline=None)
def test_table_gives_every_label_one_id_for_good(labels, split, sort):
    table = LabelTable()
    growth = table.grow()
    first = growth.encode(as_labels(labels[:split]), sort=sort)
    assert len(table) == 0
    growth.commit()
    known = table.classes.tolist()
    expected = dict.fromkeys(labels[:split])
    assert known == (sorted(expected) if sort else list(expected))
    assert table.classes[first].tolist() == labels[:split]

    growth = table.grow()
    ids = growth.encode(as_labels(labels))
    assert table.classes.tolist() == known
    growth.commit()
    assert table.classes[ids].tolist() == labels
    assert table.classes.tolist()[: len(known)] == known
    assert len(table) == len(set(labels))

    again = LabelTable(table.classes)
    assert again.classes.tolist() == table.classes.tolist()
    assert again.grow().encode(as_labels(labels)).tolist() == ids.tolist()


@given(
    st.lists(st.tuples(st.text(max_size=5), st.floats()), min_size=1, max_size=30),
    st.integers(1, 3),
)
@settings(max_examples=50, deadline=None)
def test_lines_of_pairs_are_those_of_percent_formats(pairs, k):
    pairs *= k
    texts, numbers = zip(*pairs, strict=True)
    rows = zip(*[(f"{text}\t{number:.6g}" for text, number in pairs)] * k, strict=True)
    lines = lines_of_pairs(list(texts), np.reshape(numbers, (-1, k)))
    assert lines == "\n".join("\t".join(row) for row in rows)


def test_lines_of_pairs_refuses_what_is_no_table():
    for texts, numbers in ((["a"], np.zeros((2, 1))), (["a"], np.zeros((1, 0)))):
        with pytest.raises(ValueError, match="texts and numbers must be lines of k each"):
            lines_of_pairs(texts, numbers)
