"""What scikit-learn asks of its own estimators, and what goes to the core without a copy."""

import copy
import inspect
import pickle
import tracemalloc

import joblib
import numpy as np
import pytest
from classifiers import CLASSIFIERS, VARIANTS, core_state, digits
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_classifiers_train,
    check_dataframe_column_names_consistency,
    check_estimators_pickle,
    check_inplace_ensure_writeable,
    check_param_validation,
)
from sklearn.utils.metadata_routing import get_routing_for_object

import recalltree.validation
from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.validation import check_matrix, count_threads, slice_rows

classifiers = pytest.mark.parametrize("classifier", CLASSIFIERS)
variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)


# --- scikit-learn's checks of itself -------------------------------------------------------------


@classifiers
@pytest.mark.parametrize(
    "check",
    [
        check_param_validation,
        check_dataframe_column_names_consistency,
        check_inplace_ensure_writeable,
    ],
)
def test_private_check(classifier, check):
    check(classifier.__name__, classifier())


@classifiers
def test_training_on_read_only_memory_maps(classifier):
    clf = classifier(n_passes=2)
    check_classifiers_train(classifier.__name__, clf, readonly_memmap=True)
    check_classifiers_train(classifier.__name__, clf, readonly_memmap=True, X_dtype="float32")
    check_estimators_pickle(classifier.__name__, clf, readonly_memmap=True)


@classifiers
def test_parameters(classifier):
    clf = classifier()
    names = list(inspect.signature(classifier).parameters)
    assert sorted(clf.get_params()) == sorted(names)
    clf.set_params(n_passes=7, random_state=3)
    assert clone(clf).get_params() == clf.get_params()
    assert clone(clf).n_passes == 7


@classifiers
@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_parameters_are_finite(classifier, value):
    with pytest.raises(ValueError, match="'learning_rate' parameter"):
        classifier(learning_rate=value).fit(*digits(20))


def test_limits_may_be_large():
    X, y = digits(50)
    huge = 10**12
    for clf in (
        RecallTreeClassifier(max_candidates=65_534, max_depth=1000, random_state=0),
        OneAgainstAllClassifier(negative_samples=huge, random_state=0),
        LOMTreeClassifier(max_nodes=huge, random_state=0),
    ):
        assert clf.fit(X, y).score(X, y) > 0.5


def test_shared_parameters_are_described_alike():
    shared = {
        name: described(CLASSIFIERS[0], name)
        for name in inspect.signature(CLASSIFIERS[1]).parameters
        if name not in ("negative_samples", "random_state", "n_jobs")
    }
    assert len(shared) == 8
    for classifier in CLASSIFIERS:
        for name, text in shared.items():
            assert described(classifier, name) == text


@classifiers
def test_documented_defaults_are_the_defaults(classifier):
    for name, parameter in inspect.signature(classifier).parameters.items():
        first_line = described(classifier, name).splitlines()[0]
        default = repr(parameter.default).replace("'", '"')
        assert first_line.endswith(f"default={default}"), first_line


@classifiers
def test_core_has_the_same_defaults(classifier):
    config = classifier._core_type(n_features=1).config
    for name, value in classifier()._model_config().items():
        assert config[name] == value, name


def described(classifier, name):
    """Return the entry of a parameter in the docstring of its class."""
    lines = inspect.getdoc(classifier).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"{name} : "))
    end = next(i for i in range(start + 1, len(lines)) if not lines[i].startswith(" "))
    return "\n".join(lines[start:end])


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
    assert np.mean(dense.predict(X) == sparse_first.predict(X)) > 0.99


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
    assert check_matrix(X, estimator=None, is_first=True) is X
    X = sparse.csr_array(X)
    assert check_matrix(X, estimator=None, is_first=True) is X


def test_slices_of_rows():
    dense = np.random.default_rng(0).integers(0, 2, size=(9, 5)).astype(float)
    dense[7, 3] = np.nan
    X = sparse.csr_array(dense)
    for matrix in (X, dense):
        assert len(slice_rows(matrix, 2, 6)) == 4
        assert slice_rows(matrix, 2, 6).n_features == 5
        assert slice_rows(matrix, 4, 9).find_invalid() == (3, 3)
        assert slice_rows(matrix, 0, 7).find_invalid() is None


# --- copies of a model ---------------------------------------------------------------------------


@variants
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_copies_are_equal_and_independent(variant, make, tmp_path):
    X, y = digits(300)
    clf = clone(variant).fit(make(X[:200]), y[:200])
    joblib.dump(clf, tmp_path / "clf.joblib")
    copies = {
        "pickle": pickle.loads(pickle.dumps(clf)),
        "copy": copy.copy(clf),
        "deepcopy": copy.deepcopy(clf),
        "joblib": joblib.load(tmp_path / "clf.joblib"),
        "memory map": joblib.load(tmp_path / "clf.joblib", mmap_mode="r"),
    }
    before = core_state(clf)
    for other in copies.values():
        assert core_state(other) == before
        assert other.get_params() == clf.get_params()
        assert other.progressive_error_ == clf.progressive_error_
        assert other.n_iter_ == clf.n_iter_
        np.testing.assert_array_equal(other.classes_, clf.classes_)
        other.partial_fit(make(X[200:]), y[200:] + 5)
        assert core_state(clf) == before
    clf.partial_fit(make(X[200:]), y[200:] + 5)
    for name, other in copies.items():
        assert core_state(other) == core_state(clf), name
        np.testing.assert_array_equal(other.classes_, clf.classes_)


@classifiers
def test_unfitted_copies(classifier):
    clf = classifier(n_passes=2)
    assert pickle.loads(pickle.dumps(clf)).get_params() == clf.get_params()
    assert copy.deepcopy(clf).get_params() == clf.get_params()
    nothing_learned = clf.partial_fit(np.eye(2), [1, 2], sample_weight=[0, 0])
    again = pickle.loads(pickle.dumps(nothing_learned))
    assert again.partial_fit(np.eye(2), ["a", "b"]).classes_.tolist() == ["a", "b"]


# --- sample weights and routing ------------------------------------------------------------------


@variants
def test_weight_zero_is_absence(variant):
    X, y = digits(200)
    weight = np.arange(200) % 3
    kept = weight > 0
    for make in (np.asarray, sparse.csr_array):
        for n_passes in (1, 3):
            clf = clone(variant).set_params(n_passes=n_passes)
            with_zeros = clone(clf).fit(make(X), y, sample_weight=weight)
            without = clone(clf).fit(make(X[kept]), y[kept], sample_weight=weight[kept])
            assert core_state(with_zeros) == core_state(without)


@variants
def test_weight_one_is_none(variant):
    X, y = digits(200)
    expected = core_state(clone(variant).fit(X, y))
    assert core_state(clone(variant).fit(X, y, sample_weight=np.ones(200))) == expected
    assert core_state(clone(variant).fit(X, y, sample_weight=1)) == expected
    assert core_state(clone(variant).fit(X, y, sample_weight=np.full(200, 2.0))) != expected


@variants
def test_score_is_weighted(variant):
    X, y = digits(300)
    clf = clone(variant).fit(X[:100], y[:100])
    weight = np.linspace(0, 1, 300)
    expected = np.average(clf.predict(X) == y, weights=weight)
    assert clf.score(X, y, sample_weight=weight) == pytest.approx(expected)
    assert clf.score(X, y) != pytest.approx(expected)


@classifiers
def test_metadata_requests(classifier):
    with config_context(enable_metadata_routing=True):
        clf = (
            classifier()
            .set_fit_request(sample_weight=True)
            .set_partial_fit_request(sample_weight=True, classes=True)
            .set_score_request(sample_weight=True)
        )
        requests = get_routing_for_object(clf)
        assert requests.fit.requests == {"sample_weight": True}
        assert requests.partial_fit.requests == {"sample_weight": True, "classes": True}
        assert requests.score.requests == {"sample_weight": True}


@variants
def test_sample_weight_is_routed(variant):
    X, y = digits(200)
    weight = np.linspace(0.1, 3, 200)
    with config_context(enable_metadata_routing=True):
        clf = clone(variant).set_fit_request(sample_weight=True)
        pipe = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
        pipe.fit(X, y, sample_weight=weight)
        direct = clone(variant).fit(StandardScaler().fit_transform(X), y, sample_weight=weight)
        assert core_state(pipe[-1]) == core_state(direct)

        clf.set_score_request(sample_weight=True)
        result = cross_validate(
            clf, X, y, params={"sample_weight": weight}, cv=2, return_estimator=True
        )
        assert len(result["test_score"]) == 2


def test_grid_search():
    X, y = digits(300)
    search = GridSearchCV(
        RecallTreeClassifier(random_state=0), {"max_candidates": [1, 20]}, cv=2
    ).fit(X, y)
    assert search.best_params_ == {"max_candidates": 20}
    assert search.best_estimator_.score(X, y) > 0.8


# --- options -------------------------------------------------------------------------------------


def test_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(6)), raising=False)
    assert [count_threads(n) for n in (None, 1, 9, -1, -2, -6, -99)] == [1, 1, 9, 6, 5, 1, 1]


def test_verbose_writes_to_standard_error_alone(capfd):
    X, y = digits(200)
    RecallTreeClassifier().fit(X, y).partial_fit(X, y)
    assert capfd.readouterr() == ("", "")
    RecallTreeClassifier(verbose=1, n_passes=2).fit(X, y)
    out, err = capfd.readouterr()
    assert out == ""
    for words in ("100%", "rows/s", "progressive error 0."):
        assert words in err


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
