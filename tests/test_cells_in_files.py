"""Models with cells that are saved, mapped, pickled and compacted."""

import copy
import pickle

import numpy as np
import pytest
from cells import CELLS, fitted, mixture, rows_for
from classifiers import core_state, snapshot
from numpy.testing import assert_array_equal
from sklearn.base import clone

import recalltree

names = pytest.mark.parametrize("name", CELLS)


@names
@pytest.mark.parametrize("mmap", [True, False])
def test_a_loaded_model_answers_the_same(name, mmap, tmp_path):
    clf, X, _ = fitted(name)
    clf.save(tmp_path / "m.rt")
    again = recalltree.load(tmp_path / "m.rt", mmap=mmap, verify=True)
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert again.candidates(X).nnz == clf.candidates(X).nnz
    assert again.get_params() == clf.get_params()
    assert core_state(again) == core_state(clf)


@names
@pytest.mark.parametrize("n_before", [3, 20, 700, 2047, 2048, 2300])
def test_learning_goes_on_where_it_stopped(name, n_before, tmp_path):
    """Before the whitening is known, while it is learned again, and when it is final."""
    X, y = mixture(2600)
    whole, clf = clone(CELLS[name]), clone(CELLS[name])
    X = rows_for(clf, X)
    whole.partial_fit(X, y, classes=np.arange(300))
    clf.partial_fit(X[:n_before], y[:n_before], classes=np.arange(300))
    clf.save(tmp_path / "m.rt")
    for again in (
        recalltree.load(tmp_path / "m.rt"),
        recalltree.load(tmp_path / "m.rt", mmap=False),
        pickle.loads(pickle.dumps(clf)),
        copy.deepcopy(clf),
    ):
        again.partial_fit(X[n_before:], y[n_before:])
        assert core_state(again) == core_state(whole)


@names
def test_later_passes_go_on_where_they_stopped(name, tmp_path):
    X, y = mixture(900)
    clf = clone(CELLS[name]).set_params(n_passes=2, shuffle=False)
    X = rows_for(clf, X)
    clf.fit(X, y)
    clf.save(tmp_path / "m.rt")
    again = recalltree.load(tmp_path / "m.rt")
    for model in (clf, again):
        model.partial_fit(X[:50], np.full(50, 1000))  # a class that comes late
    assert core_state(again) == core_state(clf)


@names
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_compact_models(name, dtype, tmp_path):
    clf, X, y = fitted(name, n=2500)
    before = snapshot(clf)
    small = clf.compact(dtype, X=X, y=y)
    assert snapshot(clf) == before
    small.save(tmp_path / "small.rt")
    again = recalltree.load(tmp_path / "small.rt", verify=True)
    assert_array_equal(again.predict_proba(X), small.predict_proba(X))
    if dtype == "float32":
        assert_array_equal(small.predict_proba(X), clf.predict_proba(X))
    else:
        assert abs(small.compact_report_.error_change) < 0.003
        vectors = clf._core.state()["class_vectors.vectors"]
        assert small._core.state()["class_vectors.vectors"].nbytes == vectors.nbytes / 4
    twice = small.compact(dtype)
    assert_array_equal(twice.predict_proba(X), small.predict_proba(X))
    assert twice.compact_report_.bytes_before == twice.compact_report_.bytes_after
    with pytest.raises(ValueError, match="compacted"):
        small.partial_fit(X, y)


def test_sums_of_many_rows_fit_into_float16():
    """The mean of a class is a sum, which grows with its rows; what is stored does not."""
    X, y = mixture(500, n_classes=5)
    clf = clone(CELLS["cells"]).fit(X, y, sample_weight=np.full(500, 1e6))
    assert np.abs(clf._core.state()["class_vectors.vectors"]).max() > 65504
    small = clf.compact("float16", X=X, y=y)
    assert abs(small.compact_report_.error_change) < 0.003


def test_arrays_are_read_where_they_lie(tmp_path):
    """Arrays that begin with a cache line are not copied."""
    clf, _, _ = fitted("cells")
    clf.save(tmp_path / "m.rt")
    mapped = recalltree.load(tmp_path / "m.rt")
    tensors = mapped._fitted.container.tensors
    for name in ("class_vectors.vectors", "whitening.matrix", "cells.sketches", "cells.scales"):
        assert tensors[name].ctypes.data % 64 == 0
    stored = sum(
        array.nbytes
        for name, array in tensors.items()
        if name.startswith(("whitening.", "class_vectors.", "cells.", "first_rows."))
    )
    found = mapped.memory_by_part_["cells"]
    assert stored <= found <= stored + 32 * len(tensors["cells.levels"])


def test_memory_by_part_has_what_cells_take():
    few, _, _ = fitted("cells", n=2500, n_classes=30)
    many, _, _ = fitted("cells", n=2500, n_classes=1500)
    grown = many.memory_by_part_["cells"] - few.memory_by_part_["cells"]
    n_more = many._core.n_classes - few._core.n_classes
    assert n_more * 2 * 32 * 4 < grown < n_more * (2 * 32 * 4 + 32 + 2 * 44) * 1.3
    assert many.memory_bytes_ == sum(many.memory_by_part_.values())


def test_a_large_model_takes_what_the_paper_promises(tmp_path):
    """Of 384 features: 2.2 times the weights of all classes, and half of the weights compacted."""
    X, y = mixture(20_000, n_classes=10_000, n_features=384, noise=0.3)
    clf = clone(CELLS["cells"]).fit(X, y)
    n = clf._core.n_classes
    weights = 4 * 384 * n
    whitening = 384 * 384 * 4
    assert clf.memory_bytes_ < 2.25 * weights + whitening
    clf.save(tmp_path / "m.rt")
    labels = clf.classes_.nbytes
    assert (tmp_path / "m.rt").stat().st_size < 2.2 * weights + whitening + labels
    small = clf.compact("float16", X=X[:1000], y=y[:1000])
    assert small.compact_report_.bytes_after < 0.66 * weights + whitening + labels
    assert abs(small.compact_report_.error_change) <= 0.003
