"""Every kind of X gives the same model, and goes to the core without a needless copy."""

import tracemalloc

import numpy as np
import pytest
from classifiers import CLASSIFIERS, VARIANTS, core_state, digits
from scipy import sparse
from sklearn.base import clone

import recalltree.validation
from recalltree import (
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
    validation,
)
from recalltree.validation import Matrix, check_matrix, make_rows, slice_rows

classifiers = pytest.mark.parametrize("classifier", CLASSIFIERS)
variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)


# --- kinds of X ----------------------------------------------------------------------------------


@variants
def test_every_dense_layout_gives_the_same_model(variant):
    X, y = digits(200)
    X = X.astype(np.float32)
    expected = core_state(clone(variant).fit(X, y))
    wide = np.zeros((400, 128), dtype=np.float32)
    wide[::2, 1::2] = X
    layouts = {
        "float64": X.astype(np.float64),
        "Fortran order": np.asfortranarray(X),
        "strided": wide[::2, 1::2],
        "negative strides": X[::-1, ::-1].copy()[::-1, ::-1],
        "big endian": X.astype(">f4"),
        "integers": X.astype(np.int64),
        "objects": X.astype(object),
        "lists": X.tolist(),
        "unaligned": unaligned(X),
    }
    for name, layout in layouts.items():
        assert core_state(clone(variant).fit(layout, y)) == expected, name


@variants
@pytest.mark.filterwarnings("ignore:Constructing a DIA matrix")
def test_every_sparse_format_gives_the_same_model(variant):
    X, y = digits(200)
    X = X.astype(np.float32)
    canonical = sparse.csr_array(X)
    expected = core_state(clone(variant).fit(canonical, y))
    for kind in ("csr", "csc", "coo", "bsr", "lil", "dok", "dia"):
        for container in (f"{kind}_array", f"{kind}_matrix"):
            layout = getattr(sparse, container)(X)
            assert core_state(clone(variant).fit(layout, y)) == expected, container
    layouts = {
        "float64": canonical.astype(np.float64),
        "64-bit indices": with_indices(canonical, np.int64),
        "unsorted": unsorted(canonical),
        "duplicates": with_duplicates(canonical),
    }
    for name, layout in layouts.items():
        stored = layout.indices.copy(), layout.data.copy()
        assert core_state(clone(variant).fit(layout, y)) == expected, name
        np.testing.assert_array_equal(layout.indices, stored[0])
        np.testing.assert_array_equal(layout.data, stored[1])


@variants
def test_sparse_and_dense_may_alternate(variant):
    X, y = digits(300)
    dense_first = clone(variant).partial_fit(X[:150], y[:150])
    dense_first.partial_fit(sparse.csr_array(X[150:]), y[150:])
    sparse_first = clone(variant).partial_fit(sparse.csr_matrix(X[:150]), y[:150])
    sparse_first.partial_fit(X[150:], y[150:])
    for clf in (dense_first, sparse_first):
        np.testing.assert_array_equal(clf.predict(X), clf.predict(sparse.csc_array(X)))
    dense = clone(variant).partial_fit(X, y)
    assert np.mean(dense.predict(X) == dense_first.predict(X)) > 0.99
    alike = 0.99
    if isinstance(variant, OneAgainstSomeClassifier):
        # Trees centre dense features, and sparse ones not. What a model has beside its pairs
        # differs in size, too, and so does what it forgets within a budget.
        alike = 0.8 if variant.memory_budget is None else 0.6
    assert np.mean(dense.predict(X) == sparse_first.predict(X)) > alike


@variants
def test_data_frames(variant):
    pd = pytest.importorskip("pandas")
    X, y = digits(200)
    expected = core_state(clone(variant).fit(X, y))
    names = [f"pixel {i}" for i in range(64)]
    clf = clone(variant).fit(pd.DataFrame(X, columns=names), pd.Series(y))
    assert clf.feature_names_in_.tolist() == names
    assert clf.n_features_in_ == 64
    assert core_state(clf) == expected
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(X)
    clf.fit(X, y)
    assert not hasattr(clf, "feature_names_in_")


def test_polars_data_frame():
    pl = pytest.importorskip("polars")
    X, y = digits(200)
    clf = RecallTreeClassifier(random_state=0).fit(
        pl.DataFrame(X, schema=[f"pixel {i}" for i in range(64)]), pl.Series(y)
    )
    assert clf.feature_names_in_[3] == "pixel 3"
    assert core_state(clf) == core_state(clone(clf).fit(X, y))


# --- no needless copies --------------------------------------------------------------------------


@pytest.fixture
def given_to_core(monkeypatch):
    """The arrays that the core was given."""
    seen = []

    class Recorded:
        @staticmethod
        def dense(X):
            seen.append(X)
            return recalltree._core.Rows.dense(X)

        @staticmethod
        def csr(indptr, indices, data, n_features):
            seen.append(data)
            return recalltree._core.Rows.csr(indptr, indices, data, n_features)

    monkeypatch.setattr(recalltree.validation, "Rows", Recorded)
    return seen


@classifiers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dense_arrays_are_read_where_they_lie(classifier, dtype, given_to_core, tmp_path):
    X, y = digits(100)
    X = X.astype(dtype)
    np.save(tmp_path / "X.npy", X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for layout in (
        X,
        np.asfortranarray(X),
        X[:, ::-2],
        X[::-1],
        read_only,
        np.load(tmp_path / "X.npy", mmap_mode="r"),
    ):
        given_to_core.clear()
        clf = classifier().fit(layout, y).partial_fit(layout, y)
        clf.predict(layout)
        clf.predict_topk(layout, k=2)
        clf.predict_proba(layout)
        clf.candidates(layout)
        assert len(given_to_core) >= 6
        assert all(np.shares_memory(passed, layout) for passed in given_to_core)


@classifiers
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_csr_matrices_are_read_where_they_lie(classifier, dtype, given_to_core):
    X, y = digits(100)
    for container in (sparse.csr_array, sparse.csr_matrix):
        layout = container(X.astype(dtype))
        given_to_core.clear()
        clf = classifier().fit(layout, y).partial_fit(layout, y)
        clf.predict(layout)
        clf.predict_topk(layout, k=2)
        assert len(given_to_core) >= 4
        assert all(np.shares_memory(passed, layout.data) for passed in given_to_core)


def test_pandas_frame_of_one_type_is_read_where_it_lies(given_to_core):
    pd = pytest.importorskip("pandas")
    X, y = digits(100)
    frame = pd.DataFrame(X.astype(np.float32))
    OneAgainstAllClassifier().fit(frame, y)
    assert all(np.shares_memory(passed, frame.to_numpy()) for passed in given_to_core)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_memory_of_a_call_does_not_grow_with_x(dtype):
    rng = np.random.default_rng(0)
    X = np.asfortranarray(rng.random((2000, 1000), dtype=np.float32).astype(dtype))
    y = np.arange(2000) % 2
    clf = OneAgainstAllClassifier().partial_fit(X[:10], y[:10])
    tracemalloc.start()
    clf.partial_fit(X, y)
    clf.predict(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < X.nbytes / 10


def test_checked_matrix_is_the_matrix():
    X = np.ones((3, 2), dtype=np.float32)
    assert check_matrix(X, estimator=None, is_first=True).values is X
    X = sparse.csr_array(X)
    assert check_matrix(X, estimator=None, is_first=True).values is X


def test_indices_of_a_sparse_matrix_are_checked_once(monkeypatch):
    calls = []

    def count(name):
        check = getattr(validation, name)
        monkeypatch.setattr(validation, name, lambda X: calls.append(name) or check(X))

    count("make_rows")
    count("_check_structure")
    X, y = sparse.csr_array(np.eye(3)), [0, 1, 2]
    clf = RecallTreeClassifier().partial_fit(X, y)
    for name in ("partial_fit", "predict", "candidates", "predict_proba"):
        calls.clear()
        getattr(clf, name)(*((X, y) if name == "partial_fit" else (X,)))
        assert calls == ["make_rows"]


def test_slices_of_rows():
    dense = np.random.default_rng(0).integers(0, 2, size=(9, 5)).astype(float)
    dense[7, 3] = np.nan
    X = sparse.csr_array(dense)
    for matrix in (Matrix(values, make_rows(values)) for values in (X, dense)):
        assert len(slice_rows(matrix, 2, 6)) == 4
        assert slice_rows(matrix, 2, 6).n_features == 5
        assert slice_rows(matrix, 4, 9).find_invalid() == (3, 3)
        assert slice_rows(matrix, 0, 7).find_invalid() is None


# --- layouts -------------------------------------------------------------------------------------


def unaligned(X):
    buffer = np.zeros(X.nbytes + 1, dtype=np.uint8)
    result = buffer[1:].view(X.dtype).reshape(X.shape)
    result[:] = X
    assert not result.flags.aligned
    return result


def with_indices(X, dtype):
    result = sparse.csr_array(X.shape, dtype=X.dtype)
    result.indptr, result.indices = X.indptr.astype(dtype), X.indices.astype(dtype)
    result.data = X.data
    return result


def unsorted(X):
    order = np.concatenate(
        [np.arange(a, b)[::-1] for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)]
    )
    return sparse.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)


def with_duplicates(X):
    twice = np.repeat(X.data / 2, 2)
    return sparse.csr_array((twice, np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
