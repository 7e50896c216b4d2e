"""Rules of scikit-learn for its own estimators: parameters, copies, routing of weights."""

import copy
import inspect
import pickle

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

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.validation import count_threads

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


def test_interactions_need_path_features():
    X, y = digits(20)
    with pytest.raises(ValueError, match=r"path_interactions=True .* use path_features='leaf'"):
        RecallTreeClassifier(path_interactions=True).fit(X, y)
    RecallTreeClassifier(path_interactions=True, path_features="path").fit(X, y)


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
    assert len(shared) == 9
    for classifier in CLASSIFIERS:
        # One may have more to say about a parameter, and may not have all of them.
        for name in shared.keys() & inspect.signature(classifier).parameters:
            described_here = " ".join(described(classifier, name).split())
            assert described_here.startswith(" ".join(shared[name].split()))


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
