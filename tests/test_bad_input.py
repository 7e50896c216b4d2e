"""Bad input is a clear ValueError, and the model is bit for bit what it was before."""

import numpy as np
import pytest
from classifiers import VARIANTS, digits, snapshot
from scipy import sparse
from sklearn.base import clone

N, N_FEATURES = 40, 64


def good():
    X, y = digits(N)
    return X, y


def with_value(value, dtype=np.float64):
    X = good()[0].astype(dtype)
    X[3, 5] = value
    return X


def broken_csr(change):
    X = sparse.csr_array(good()[0])
    X.has_canonical_format = True  # so that nothing looks at it before we do
    change(X)
    return X


def set_index(position, value):
    def change(X):
        X.indices[position] = value

    return change


def set_indptr(position, value):
    def change(X):
        X.indptr[position] = value

    return change


def broken_csc():
    X = sparse.csc_array(good()[0])
    X.indices[7] = N
    return X


def broken_coo():
    X = sparse.coo_array(good()[0])
    X.col[3] = N_FEATURES
    return X


BAD_X = {
    "NaN": (lambda: with_value(np.nan), "X contains NaN at row 3, column 5"),
    "NaN in float32": (lambda: with_value(np.nan, np.float32), "NaN at row 3, column 5"),
    "infinity": (lambda: with_value(-np.inf), "X contains infinity: -inf at row 3, column 5"),
    "too large": (lambda: with_value(1e39), r"too large for float32: 1e\+39 at row 3, column 5"),
    "sparse NaN": (lambda: sparse.csr_array(with_value(np.nan)), "NaN at row 3, column 5"),
    "sparse infinity": (lambda: sparse.csc_matrix(with_value(np.inf)), "inf at row 3, column 5"),
    "narrow": (lambda: good()[0][:, 1:], "63 features, but .* expecting 64"),
    "wide": (lambda: np.hstack([good()[0]] * 2), "128 features, but .* expecting 64"),
    "sparse, wide": (lambda: sparse.csr_array(np.hstack([good()[0]] * 2)), "128 features"),
    "far too wide": (
        lambda: sparse.csr_array(
            (np.ones(1), np.array([2**40], dtype=np.int64), np.r_[0, np.ones(N, dtype=np.int64)]),
            shape=(N, 2**41),
        ),
        "X has 2199023255552 features, and 536870912 is the most",
    ),
    "no rows": (lambda: good()[0][:0], "0 sample"),
    "no columns": (lambda: good()[0][:, :0], "0 feature"),
    "one dimension": (lambda: good()[0][:, 0], "Reshape your data"),
    "sparse, one dimension": (lambda: sparse.coo_array(np.ones(N)), "Reshape your data"),
    "three dimensions": (lambda: good()[0].reshape(N, 8, 8), "dim 3"),
    "complex": (lambda: good()[0] + 1j, "Complex data not supported"),
    "sparse complex": (lambda: sparse.csr_array(good()[0] + 1j), "Complex data not supported"),
    "text": (lambda: good()[0].astype(str).astype(object) + "x", "could not convert string"),
    "index too large": (lambda: broken_csr(set_index(9, N_FEATURES)), "column 64, outside of 0"),
    "index far too large": (lambda: broken_csr(set_index(9, 2**31 - 1)), "column 2147483647"),
    "negative index": (lambda: broken_csr(set_index(9, -1)), "column -1, outside of 0 to 63"),
    "indptr too large": (lambda: broken_csr(set_indptr(-1, 2**30)), "indptr must rise"),
    "indptr not rising": (lambda: broken_csr(set_indptr(2, 10**6)), "indptr must rise"),
    "csc index too large": (broken_csc, "row 40, outside of 0 to 39"),
    "coo index too large": (broken_coo, "column 64, outside of 0 to 63"),
}

BAD_Y = {
    "missing": (None, "requires y to be passed"),
    "None": ([None] * N, "position 0"),
    "one None": (["a"] * (N - 1) + [None], "position 39"),
    "NaN": (np.full(N, np.nan), "NaN at position 0"),
    "continuous": (np.linspace(0, 1, N), "continuous"),
    "mixed": ([1, "a"] * (N // 2), "mixes labels"),
    "short": (np.zeros(N - 1, dtype=int), "inconsistent numbers of samples"),
    "empty": ([], "inconsistent numbers of samples"),
    "two columns": (np.full((N, 2), 7), r"1d array|y\[0, 0\] is 7: a matrix with a column for"),
    "complex": (np.zeros(N, dtype=complex), "Unknown label type: complex128"),
}

BAD_WEIGHT = {
    "negative": (np.r_[np.ones(N - 1), -1.0], "Negative values in sample_weight: -1.0"),
    "NaN": (np.r_[np.ones(N - 1), np.nan], "sample_weight contains NaN"),
    "infinite": (np.r_[np.ones(N - 1), np.inf], "sample_weight contains infinity"),
    "too large": (np.full(N, 1e39), "too large for float32"),
    "short": (np.ones(N - 1), r"shape \(39,\); X has 40 rows"),
    "two columns": (np.ones((N, 2)), r"shape \(40, 2\)"),
    "text": (["a"] * N, "could not convert string"),
    "complex": (np.ones(N, dtype=complex), "Complex"),
    "negative number": (-1.0, "Negative values"),
}

PREDICT = {
    "predict": lambda clf, X: clf.predict(X),
    "predict_topk": lambda clf, X: clf.predict_topk(X, k=2),
    "predict_proba": lambda clf, X: clf.predict_proba(X),
    "candidates": lambda clf, X: clf.candidates(X),
}

BAD_IN_FIT = [name for name in BAD_X if name not in ("narrow", "wide", "sparse, wide")]

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)


@pytest.fixture
def clf(variant):
    """A fitted estimator that must not change."""
    fitted = clone(variant).fit(*good())
    before = snapshot(fitted)
    yield fitted
    assert snapshot(fitted) == before


@variants
@pytest.mark.parametrize("name", BAD_IN_FIT)
def test_bad_x_in_fit(clf, name):
    make, message = BAD_X[name]
    with pytest.raises(ValueError, match=message):
        clf.fit(make(), good()[1])


@variants
@pytest.mark.parametrize("name", BAD_X)
def test_bad_x_in_partial_fit(clf, name):
    make, message = BAD_X[name]
    with pytest.raises(ValueError, match=message):
        clf.partial_fit(make(), good()[1] + 100)  # new labels, which must not stay


@variants
@pytest.mark.parametrize("name", BAD_X)
@pytest.mark.parametrize("method", PREDICT)
def test_bad_x_in_prediction(clf, name, method):
    make, message = BAD_X[name]
    with pytest.raises(ValueError, match=message):
        PREDICT[method](clf, make())


@variants
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", BAD_Y)
def test_bad_y(clf, name, method):
    y, message = BAD_Y[name]
    with pytest.raises(ValueError, match=message):
        getattr(clf, method)(good()[0], y)


@variants
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
@pytest.mark.parametrize("name", BAD_WEIGHT)
def test_bad_weight(clf, name, method):
    weight, message = BAD_WEIGHT[name]
    with pytest.raises(ValueError, match=message):
        getattr(clf, method)(good()[0], good()[1] + 100, sample_weight=weight)


@variants
def test_bad_classes(clf):
    for classes, message in [(["a"], "classes holds strings"), ([None], "position 0")]:
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(*good(), classes=classes)


@variants
@pytest.mark.parametrize("k", [0, -1, 11, 2.0, "2", None, True])
def test_bad_k(clf, k):
    with pytest.raises(ValueError, match="k must be an integer from 1 to the number of classes"):
        clf.predict_topk(good()[0], k=k)


@variants
def test_changed_parameters(clf):
    before = clf.learning_rate
    clf.set_params(learning_rate=0.5)
    with pytest.raises(ValueError, match="learning_rate changed since learning began"):
        clf.partial_fit(*good())
    clf.set_params(learning_rate=before)
    clf.set_params(n_jobs=0)
    with pytest.raises(ValueError, match="n_jobs=0: n_jobs must be None or an integer"):
        clf.partial_fit(*good())
    clf.set_params(n_jobs=None)


@variants
def test_all_weights_zero(clf):
    with pytest.raises(ValueError, match="sample_weight is zero for every row"):
        clf.fit(*good(), sample_weight=np.zeros(N))
    clf.partial_fit(*good(), sample_weight=np.zeros(N))  # nothing to learn, nothing learned


@variants
def test_first_call_leaves_no_trace(variant):
    for method in ("fit", "partial_fit"):
        clf = clone(variant)
        before = vars(clf).copy()
        with pytest.raises(ValueError, match="NaN at row 3"):
            getattr(clf, method)(with_value(np.nan), good()[1])
        with pytest.raises(ValueError, match="mixes"):
            getattr(clf, method)(good()[0], [1, "a"] * (N // 2))
        assert vars(clf) == before


def test_column_is_named():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(with_value(np.nan), columns=[f"pixel {i}" for i in range(N_FEATURES)])
    with pytest.raises(ValueError, match=r"row 3, column 5 \('pixel 5'\)"):
        clone(VARIANTS[0]).fit(X, good()[1])
