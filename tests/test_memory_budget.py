"""A limit of memory: it is held, whatever comes, and what is left of the model is sound."""

import re

import numpy as np
import pytest
import scipy.sparse as sp
from classifiers import core_state
from command_line import run, write_rows
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from streams import make_stream

import recalltree
from recalltree import OneAgainstSomeClassifier
from recalltree.cli.options import ByteSize


def words(n=1500, n_classes=60, n_features=300, seed=0):
    """Return sparse rows of a few features each, most of them typical of their class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n) ** 2 // n_classes
    typical = rng.integers(n_features, size=(n_classes, 12))
    columns = np.where(
        rng.random((n, 8)) < 0.7,
        typical[y[:, np.newaxis], rng.integers(12, size=(n, 8))],
        (n_features * rng.random((n, 8)) ** 3).astype(int),
    )
    rows = np.repeat(np.arange(n), 8)
    X = sp.csr_matrix((np.ones(8 * n), (rows, columns.ravel())), shape=(n, n_features))
    return X, y


def budget_of(clf, share):
    """Return a budget that leaves a share of the pairs and histograms of a model without one."""
    if len(clf._core.state()["pairs.keys"]) == 0:
        return clf.memory_bytes_
    return int(clf.memory_bytes_ - (1 - share) * clf._core.pairs_memory["used"])


@pytest.fixture(scope="module")
def free():
    """A model without a limit."""
    return OneAgainstSomeClassifier(random_state=0).partial_fit(*words())


@pytest.fixture(scope="module")
def small(free):
    """One that had to forget most of its pairs."""
    limit = budget_of(free, 0.3)
    return OneAgainstSomeClassifier(random_state=0, memory_budget=limit).partial_fit(*words())


@settings(max_examples=25, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    seed=st.integers(0, 2**32 - 1),
    sparse=st.booleans(),
    share=st.sampled_from([0.3, 0.5, 0.9]),
    keys=st.sampled_from(["features", "features", "both", "trees"]),
    n_jobs=st.sampled_from([1, 1, 3]),
    max_labels=st.sampled_from([512, 3]),
    count_decay=st.sampled_from([None, 100.0]),
    n_parts=st.integers(1, 30),
)
def test_memory_stays_within_the_budget(
    seed, sparse, share, keys, n_jobs, max_labels, count_decay, n_parts
):
    stream = make_stream(seed, n_classes=30, n_features=40, sparse=sparse)
    X = sp.csr_matrix(stream.X) if sparse else stream.X
    parameters = {"keys": keys, "max_labels": max_labels, "count_decay": count_decay}
    free = OneAgainstSomeClassifier(random_state=0, **parameters).partial_fit(X, stream.labels)
    limit = budget_of(free, share)
    if n_jobs > 1 and keys != "features":  # threads that learn together grow other trees
        limit += (free.memory_bytes_ - free._core.pairs_memory["used"]) // 4
    clf = OneAgainstSomeClassifier(random_state=0, memory_budget=limit, n_jobs=n_jobs, **parameters)
    for rows in np.array_split(np.arange(len(stream.X)), n_parts):
        clf.partial_fit(X[rows], stream.labels[rows])
        assert clf.memory_bytes_ <= limit
    assert np.isin(clf.predict(X[:100]), stream.labels).all()
    assert np.isfinite(clf.predict_proba(X[:100])).all()


@pytest.mark.parametrize("keys", ["features", "both", "trees"])
def test_a_budget_that_is_large_enough_changes_nothing(keys):
    X, y = words()
    free = OneAgainstSomeClassifier(keys=keys, n_passes=2, random_state=0).fit(X, y)
    roomy = OneAgainstSomeClassifier(
        keys=keys, n_passes=2, random_state=0, memory_budget=free.memory_bytes_
    ).fit(X, y)
    assert roomy.memory_bytes_ == free.memory_bytes_
    assert core_state(roomy) == core_state(free)


def test_one_byte_less_is_too_few(free):
    X, y = words()
    limit = free.memory_bytes_ - 1
    clf = OneAgainstSomeClassifier(random_state=0, memory_budget=limit).partial_fit(X, y)
    assert clf.memory_bytes_ <= limit
    assert core_state(clf) != core_state(free)


def test_it_does_not_matter_how_rows_are_batched(small):
    X, y = words()
    parts = OneAgainstSomeClassifier(**small.get_params())
    for start in range(0, len(y), 7):
        parts.partial_fit(X[start : start + 7], y[start : start + 7])
    assert core_state(parts) == core_state(small)


def test_what_is_kept_is_what_was_counted(free, small):
    everything, left = free._core.state(), small._core.state()
    assert len(left["pairs.keys"]) < 0.5 * len(everything["pairs.keys"])
    # Histograms and classes know of the same pairs.
    lengths = np.diff(left["keys.offsets"].astype(np.int64))
    listed = zip(left["keys.labels"], np.repeat(left["keys.features"], lengths), strict=True)
    lengths = np.diff(left["pairs.offsets"].astype(np.int64))
    known = zip(np.repeat(np.arange(len(lengths)), lengths), left["pairs.keys"], strict=True)
    assert sorted(listed) == sorted(known)
    # Counts of classes and features themselves are not forgotten.
    for name in ("keys.features", "keys.examples", "classes.sums", "frequent.labels"):
        np.testing.assert_array_equal(left[name], everything[name])
    # Nor are the pairs that are worth most.
    assert left["pairs.counts"].mean() > 2 * everything["pairs.counts"].mean()


def test_a_small_model_is_worth_something(free, small):
    X, y = words(seed=0)
    assert free.score(X, y) > 0.8
    assert small.score(X, y) > 0.6 * free.score(X, y)


def test_a_small_model_goes_on_from_a_file(small, tmp_path):
    X, _ = words()
    small.save(tmp_path / "small.rt")
    for options in ({}, {"mmap": False}):
        loaded = recalltree.load(tmp_path / "small.rt", **options)
        assert loaded.memory_budget == small.memory_budget
        np.testing.assert_array_equal(loaded.predict_proba(X), small.predict_proba(X))
        assert loaded.explain(X[0]).label == small.predict(X[0])[0]
        more = words(seed=1)
        again = recalltree.load(tmp_path / "small.rt", mmap=False).partial_fit(*more)
        loaded.partial_fit(*more)
        assert core_state(loaded) == core_state(again)
        assert loaded.memory_bytes_ <= small.memory_budget


def test_later_passes_leave_out_no_more_than_there_is(small):
    X, y = words()
    clf = OneAgainstSomeClassifier(**{**small.get_params(), "n_passes": 4}).fit(X, y)
    state = clf._core.state()
    assert clf.memory_bytes_ <= clf.memory_budget
    assert (state["pairs.counts"] > 0).all()
    assert all(np.isfinite(state[name]).all() for name in ("pairs.weights", "vote.scales"))
    assert clf.score(X, y) >= small.score(X, y) - 0.05


def test_threads_share_a_budget(small):
    X, y = words(n=6000)
    clf = OneAgainstSomeClassifier(**{**small.get_params(), "n_jobs": 4})
    for rows in np.array_split(np.arange(len(y)), 5):
        clf.partial_fit(X[rows], y[rows])
        assert clf.memory_bytes_ <= clf.memory_budget
    assert clf.score(X, y) > 0.3


def test_pairs_that_are_worth_the_same_are_told_apart():
    # Every pair has the same count, the same frequencies and no weight yet.
    X = sp.csr_matrix(np.eye(400))
    free = OneAgainstSomeClassifier().partial_fit(X, np.arange(400))
    limit = budget_of(free, 0.9)
    clf = OneAgainstSomeClassifier(memory_budget=limit).partial_fit(X, np.arange(400))
    assert 200 < len(clf._core.state()["pairs.keys"]) < 400
    assert clf.memory_bytes_ <= limit


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a_budget_that_is_too_small_is_an_error(sparse):
    X, y = words()
    X = X if sparse else X.toarray()
    with pytest.raises(ValueError, match=r"memory_budget=2000 is too small: .* bytes so far"):
        OneAgainstSomeClassifier(memory_budget=2000).fit(X, y)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_the_error_says_what_would_work(sparse):
    X, y = words()
    X = X if sparse else X.toarray()
    budgets = [2000]
    while len(budgets) < 6:
        clf = OneAgainstSomeClassifier(random_state=0, memory_budget=budgets[-1])
        try:
            clf.fit(X, y)
            break
        except ValueError as error:
            advice = re.search(r"Give at least (\d+) bytes, .*, or None for no limit", str(error))
            budgets.append(int(advice[1]))
    assert len(budgets) > 1
    assert clf.memory_bytes_ <= budgets[-1]
    assert clf.score(X, y) > 0.5


@pytest.mark.parametrize("keys", ["trees", "cells", "cells+trees"])
def test_a_dense_model_fits_or_does_not(keys):
    X, y = words(n=300)
    X = X.toarray()
    free = OneAgainstSomeClassifier(keys=keys, random_state=0).fit(X, y)
    limit = free.memory_bytes_
    same = OneAgainstSomeClassifier(keys=keys, random_state=0, memory_budget=limit).fit(X, y)
    assert core_state(same) == core_state(free)
    with pytest.raises(ValueError, match="too small"):
        OneAgainstSomeClassifier(keys=keys, random_state=0, memory_budget=limit - 1).fit(X, y)


@pytest.mark.parametrize("given", [0, -1, 2.5, "64MB"])
def test_what_is_no_number_of_bytes(given):
    with pytest.raises(ValueError, match="memory_budget"):
        OneAgainstSomeClassifier(memory_budget=given).fit([[0.0], [1.0]], [0, 1])


def test_the_budget_is_an_option_of_the_command_line(tmp_path):
    rows, model = write_rows(tmp_path / "rows.vw", 500), tmp_path / "model.rt"
    options = ("--algorithm", "one-against-some", "--bits", 8, "--memory-budget", "30 kB")
    run("train", rows, "-m", model, *options)
    clf = recalltree.load(model)
    assert clf.memory_budget == 30_000
    run("train", rows, "-m", model, "--algorithm", "lom-tree", *options[-2:], exit_code=2)


@pytest.mark.parametrize("text", ["", "64XB", "-3", "1e3", "MB"])
def test_sizes_that_are_none(text):
    with pytest.raises(Exception, match="not a number of bytes"):
        ByteSize().convert(text, None, None)
