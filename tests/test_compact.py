"""Compacted models: smaller, for prediction only, and as accurate as their weights allow."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from classifiers import VARIANTS, digits, snapshot
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone

import recalltree
from recalltree import RecallTreeClassifier
from recalltree._core import MappedOneAgainstAll
from recalltree.model_file import read_header
from recalltree.model_file.compaction import from_bfloat16, to_bfloat16

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)
layouts = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
dtypes = pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])


@variants
@layouts
@dtypes
def test_smaller_and_nearly_the_same(tmp_path, variant, make, dtype):
    X, y = digits(1000)
    clf = clone(variant).fit(make(X), y)
    clf.save(tmp_path / "whole.rt")
    before = snapshot(clf)
    small = clf.compact(dtype, X=make(X), y=y)
    assert snapshot(clf) == before
    small.save(tmp_path / "small.rt")
    again = recalltree.load(tmp_path / "small.rt", verify=True)

    report = small.compact_report_
    assert report.bytes_before == (tmp_path / "whole.rt").stat().st_size
    assert report.bytes_after == (tmp_path / "small.rt").stat().st_size
    state = clf._core.state()
    left_out = sum(array.nbytes for name, array in state.items() if name.endswith("accumulators"))
    narrowed = 0 if dtype == "float32" else 2 * report.n_weights_after
    assert report.bytes_before - report.bytes_after >= left_out + narrowed > 0
    assert report.error_before == pytest.approx(1 - clf.score(make(X), y))
    assert report.error_after == pytest.approx(1 - again.score(make(X), y))
    assert f"{report.bytes_after:,} bytes" in str(report)
    assert "error 0." in str(report)

    for model in (small, again, pickle.loads(pickle.dumps(small)), copy.deepcopy(again)):
        found = model.predict_proba(make(X))
        if dtype == "float32":
            assert_array_equal(found, clf.predict_proba(make(X)))
        else:
            assert abs(report.error_change) < 0.02
            assert_array_equal(found, small.predict_proba(make(X)))
        assert_array_equal(model.classes_, clf.classes_)
        assert model.get_params() == clf.get_params()


@layouts
def test_scores_are_those_of_rounded_weights(make):
    X, y = digits(300)
    clf = recalltree.OneAgainstAllClassifier().fit(make(X), y)
    scores = clf.candidates(make(X)).toarray()
    for dtype, precision in (("float16", 2**-11), ("bfloat16", 2**-8)):
        rounded = clf.compact(dtype).candidates(make(X)).toarray()
        # Each weight is off by half a unit in the last place, features are at most 1.
        bound = (
            64 * precision * max(np.abs(clf._core.predictor(k)["weights"]).max() for k in range(10))
        )
        assert 0 < np.abs(rounded - scores).max() <= bound


def test_only_learning_is_refused(tmp_path):
    X, y = digits(100)
    small = RecallTreeClassifier().fit(X, y).compact()
    small.save(tmp_path / "small.rt")
    for model in (small, recalltree.load(tmp_path / "small.rt", mmap=False)):
        for _ in range(2):
            with pytest.raises(ValueError, match=r"compacted.*fit to start from scratch"):
                model.partial_fit(X, y)
        model.predict(X)
        assert model.tree_.n_nodes > 0
        assert model.explain(X[:1])
    assert read_header(tmp_path / "small.rt")["contents"] == "prediction"
    small.fit(X, y).partial_fit(X, y)
    assert not hasattr(small, "compact_report_")


def test_zero_weights_are_left_out():
    X, y = digits(300)
    clf = RecallTreeClassifier().fit(sparse.csr_array(X), y)
    state = {name: array.copy() for name, array in clf._core.state().items()}
    state["predictors.weights"][::3] = 0
    state["routers.weights"][-9:] = -0.0
    core = type(clf._core).from_state(state, **clf._core.config)
    clf._fitted = replace(clf._fitted, core=core)
    small = clf.compact()
    report = small.compact_report_
    names = ("predictors", "routers", "path")
    n_zeros = sum(int((state[f"{name}.weights"] == 0).sum()) for name in names)
    assert n_zeros > 0
    assert report.n_weights_before - report.n_weights_after == n_zeros
    assert_array_equal(small.predict_proba(X[:50]), clf.predict_proba(X[:50]))


def test_compacting_again(tmp_path):
    X, y = digits(300)
    clf = RecallTreeClassifier().fit(sparse.csr_array(X), y)
    for first in ("float32", "float16", "bfloat16"):
        clf.compact(first).save(tmp_path / "small.rt")
        small = recalltree.load(tmp_path / "small.rt")
        twice = small.compact(first)
        assert_array_equal(twice.predict_proba(X[:9]), small.predict_proba(X[:9]))
        assert twice.compact_report_.bytes_before == twice.compact_report_.bytes_after


def test_weights_beyond_float16():
    X, y = digits(300)
    clf = RecallTreeClassifier(learning_rate=1e8, loss="squared", max_candidates=3).fit(X, y)
    state = {name: array.copy() for name, array in clf._core.state().items()}
    state["predictors.weights"][0, 0] = 1e5
    core = type(clf._core).from_state(state, **clf._core.config)
    clf._fitted = replace(clf._fitted, core=core)
    with pytest.raises(ValueError, match=r"float16.*1e\+05.*bfloat16"):
        clf.compact("float16")
    clf.compact("bfloat16")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"dtype": "int8"}, "dtype='int8': it must be one of float32, float16, bfloat16"),
        ({"X": [[1.0]]}, "X and y together"),
    ],
)
def test_wrong_arguments(arguments, message):
    clf = RecallTreeClassifier().fit([[1.0]], [1])
    with pytest.raises(ValueError, match=message):
        clf.compact(**arguments)


def test_bfloat16_rounds_to_nearest_even():
    rng = np.random.default_rng(0)
    values = rng.normal(size=10_000).astype(np.float32) * np.float32(10) ** rng.integers(
        -30, 30, 10_000
    )
    values = np.append(values.astype(np.float32), np.float32([0.0, -0.0, 1.00390625, 1.01171875]))
    found = from_bfloat16(to_bfloat16(values))
    error = np.abs(found.astype(np.float64) - values)
    neighbours = [from_bfloat16(to_bfloat16(values) + np.uint16(step)) for step in (1, 0xFFFF)]
    for other in neighbours:
        fine = np.isfinite(other) & (np.sign(other) == np.sign(found))
        assert (error[fine] <= np.abs(other.astype(np.float64) - values)[fine]).all()
    assert found[-2:].tolist() == [1.0, 1.015625]  # ties
    assert np.signbit(found[-3])
    with pytest.raises(ValueError, match="rounds to infinity"):
        to_bfloat16(np.array([np.finfo(np.float32).max], dtype=np.float32))


def test_float16_is_read_exactly():
    """Every finite float16, as the core widens it."""
    bits = np.arange(2**16, dtype=np.uint16)
    halves = bits.view(np.float16)
    halves = np.where(np.isfinite(halves), halves, np.float16(0))
    clf = recalltree.OneAgainstAllClassifier().fit(np.eye(64), ["a", "b"] * 32)
    state = dict(clf.compact("float16")._core.state())
    for start in range(0, 2**16, 64):
        row = halves[start : start + 64]
        state["predictors.weights"] = np.stack([row, row])
        core = MappedOneAgainstAll(state, **clf._core.config)
        assert core.predictor(0)["weights"].tobytes() == row.astype(np.float32).tobytes()
