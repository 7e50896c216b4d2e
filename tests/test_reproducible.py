"""The same seed gives the same model: in another process, with other instructions, later."""

import functools
import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from classifiers import CLASSIFIERS, VARIANTS, core_state, digits
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification

from recalltree import OneAgainstAllClassifier, RecallTreeClassifier, _core
from recalltree.estimators.passes import learn_pass

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)

PRINT_FINGERPRINTS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_reproducible import _core, fingerprints
print(_core.simd(), fingerprints())
"""


def fingerprints():
    """Return a hash of everything learned and predicted by all variants, dense and sparse."""
    X, y = digits(300)
    X = X + np.linspace(0, 1, 64)  # fractions, so that the order of additions matters
    names = np.array([f"class {i}" for i in range(10)])
    digest = hashlib.sha256()
    for variant in VARIANTS:
        for make in (np.asarray, sparse.csr_array):
            clf = clone(variant).set_params(n_passes=2)
            clf.fit(make(X[:200]), names[y[:200]]).partial_fit(make(X[200:]), names[y[200:]])
            for name, (dtype, shape, content) in sorted(core_state(clf).items()):
                digest.update(f"{name} {dtype} {shape}".encode() + content)
            digest.update(clf.predict_proba(make(X)).tobytes())
            digest.update("".join(clf.predict(make(X))).encode())
    return digest.hexdigest()


@functools.cache
def fingerprints_here():
    return fingerprints()


@pytest.mark.parametrize(("level", "hash_seed"), [("scalar", "1"), ("avx2", "2"), ("avx512", "3")])
def test_same_in_another_process_with_other_instructions(level, hash_seed):
    if level not in _core.simd_levels():
        pytest.skip(f"this machine has no {level}")
    done = subprocess.run(
        [sys.executable, "-c", PRINT_FINGERPRINTS, str(Path(__file__).parent)],
        env={**os.environ, "RECALLTREE_SIMD": level, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [level, fingerprints_here()]


@variants
def test_random_state(variant):
    X, y = digits(200)
    first = core_state(clone(variant).fit(X, y))
    assert core_state(clone(variant).fit(X, y)) == first
    assert core_state(clone(variant).set_params(random_state=1).fit(X, y)) != first
    generator = np.random.RandomState(0)
    drawn = clone(variant).set_params(random_state=generator)
    assert core_state(drawn.fit(X, y)) == first
    assert core_state(drawn.fit(X, y)) != first  # the generator has moved on


def test_order_of_rows(monkeypatch):
    orders = []

    def record(core, examples, order, **options):
        orders.append(order.tolist())
        learn_pass(core, examples, order, **options)

    monkeypatch.setattr("recalltree.estimators.base.learn_pass", record)
    X, y = digits(50)
    RecallTreeClassifier(n_passes=3, random_state=0).fit(X, y)
    assert [sorted(order) for order in orders] == [list(range(50))] * 3
    assert orders[0] != orders[1] != orders[2] != list(range(50))
    orders.clear()
    RecallTreeClassifier(n_passes=2, shuffle=False).fit(X, y).partial_fit(X, y)
    assert orders == [list(range(50))] * 3


@variants
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_prediction_does_not_depend_on_n_jobs(variant, make):
    X, y = digits(1000)
    clf = clone(variant).fit(make(X), y)
    one = results(clf, make(X))
    for n_jobs in (2, 5, -1):
        for a, b in zip(one, results(clf.set_params(n_jobs=n_jobs), make(X)), strict=True):
            np.testing.assert_array_equal(a, b)


@variants
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_prediction_does_not_depend_on_the_rows_beside_it(variant, make):
    X, y = digits(600)
    X = make(X + np.linspace(0, 1, 64) * (X > 0))  # fractions: the order of additions matters
    clf = clone(variant).fit(X, y)
    together = clf.candidates(X)
    for i in range(0, 600, 7):
        alone = clf.candidates(X[i : i + 1])
        row = slice(together.indptr[i], together.indptr[i + 1])
        np.testing.assert_array_equal(alone.indices, together.indices[row])
        np.testing.assert_array_equal(alone.data, together.data[row])


@variants
def test_prediction_by_several_threads_at_once(variant):
    X, y = digits(1000)
    clf = clone(variant).fit(X, y)
    expected = results(clf, X)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: results(clf, X), range(8)):
            for a, b in zip(expected, found, strict=True):
                np.testing.assert_array_equal(a, b)


def results(clf, X):
    candidates = clf.candidates(X)
    return [
        clf.predict(X),
        *clf.predict_topk(X, k=4),
        clf.predict_proba(X),
        candidates.indptr,
        candidates.indices,
        candidates.data,
    ]


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_error_of_threads_is_not_worse_than_that_of_one(classifier, make):
    X, y = make_classification(
        n_samples=12_000,
        n_features=40,
        n_informative=20,
        n_classes=30,
        n_clusters_per_class=1,
        class_sep=2.0,
        random_state=0,
    )
    X_train, X_test = make(X[:9000]), make(X[9000:])

    def error(n_jobs):
        clf = classifier(n_jobs=n_jobs, random_state=0).fit(X_train, y[:9000])
        assert clf._core.n_examples == 9000
        assert clf.n_classes_seen_ == 30
        return 1 - clf.score(X_test, y[9000:])

    assert error(1) < 0.8
    assert error(2) < error(1) + 0.05


def test_negative_samples_go_on_where_they_were():
    X, y = digits(200)
    clf = OneAgainstAllClassifier(negative_samples=1, random_state=0).partial_fit(X, y)
    once = core_state(clf)
    again = OneAgainstAllClassifier(negative_samples=1, random_state=0).partial_fit(X, y)
    assert core_state(again) == once
    whole = OneAgainstAllClassifier(negative_samples=1, random_state=0)
    whole.partial_fit(np.vstack([X, X]), np.r_[y, y])
    assert core_state(clf.partial_fit(X, y)) == core_state(whole)
