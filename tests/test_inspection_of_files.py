"""Inspection says the same of a model that was loaded, mapped or read."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from classifiers import VARIANTS, digits
from sklearn.base import clone

import recalltree
from recalltree.inspection import (
    Evaluation,
    find_class,
    node_table,
    report_page,
    summary,
    tree_text,
)


@pytest.fixture(scope="module", params=[np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
def make(request):
    return request.param


@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_loaded_model_looks_the_same(variant, mmap, make, tmp_path):
    X, y = digits(400)
    X = make(X)
    clf = clone(variant).fit(X, y)
    clf.save(tmp_path / "m.rt")
    loaded = recalltree.load(tmp_path / "m.rt", mmap=mmap)
    for i in range(10):
        ours, theirs = (c.explain(X[[i]]).as_dict() for c in (clf, loaded))
        np.testing.assert_equal(theirs, ours)
    # Memory and work done belong to the process, not to the file.
    ours, theirs = (summary(c) for c in (clf, loaded))
    for found in (ours, theirs):
        for name in ("memory_bytes", "memory_by_part", "work"):
            del found[name]
    assert json.dumps(theirs) == json.dumps(ours)
    results = [Evaluation(c).update(X, y).as_dict() for c in (clf, loaded)]
    for found in results:
        del found["microseconds_per_row"]
    assert results[0] == results[1]
    np.testing.assert_array_equal(loaded.progressive_curve_, clf.progressive_curve_)
    if node_table(clf) is not None:
        assert tree_text(loaded, max_depth=100) == tree_text(clf, max_depth=100)
        assert find_class(loaded, 3) == find_class(clf, 3)
    assert report_page(loaded, (X, y)).startswith("<!DOCTYPE html>")


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_a_compact_model_can_be_looked_at(variant, dtype, make, tmp_path):
    X, y = digits(400)
    X = make(X)
    clf = clone(variant).fit(X, y)
    small = clf.compact(dtype=dtype)
    for i in range(5):
        explanation = small.explain(X[[i]])
        assert explanation.label == small.predict(X[[i]])[0]
        assert len(explanation.route) == len(clf.explain(X[[i]]).route)
    assert summary(small)["n_classes"] == 10
    assert report_page(small, (X, y)).startswith("<!DOCTYPE html>")
