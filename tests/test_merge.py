"""Merged models: counts are those of one process that saw all rows, to the bit."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import recalltree
from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)

N_ROWS, N_FEATURES = 600, 40


def sparse_rows(seed=0, n=N_ROWS):
    """Return rows of counts, and labels that follow from their features."""
    rng = np.random.default_rng(seed)
    y = rng.integers(30, size=n)
    columns = (y[:, np.newaxis] * 3 + rng.integers(6, size=(n, 4))) % N_FEATURES
    X = sp.csr_matrix(
        (np.ones(columns.size, np.float32), (np.repeat(np.arange(n), 4), columns.ravel())),
        shape=(n, N_FEATURES),
    )
    return X, np.array([f"class{c:02}" for c in y])


def dense_rows(seed=0, n=N_ROWS, n_features=12):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(30, n_features))
    y = rng.integers(30, size=n)
    return (centres[y] + 0.3 * rng.normal(size=(n, n_features))).astype(np.float32), y


def new(kind=OneAgainstSomeClassifier, **parameters):
    return kind(random_state=0, **parameters)


def go_on(path, X, y):
    return recalltree.load(path).partial_fit(X, y)


def shards_of(clf, X, y, tmp_path, n_first=200, n_shards=3):
    """Return a base, models that continued from it with a part of the rows each, and the parts."""
    clf.partial_fit(X[:n_first], y[:n_first])
    clf.save(tmp_path / "base.rt")
    parts = np.array_split(np.arange(n_first, len(y)), n_shards)
    models = [go_on(tmp_path / "base.rt", X[part], y[part]) for part in parts]
    return tmp_path / "base.rt", models


def state_of(clf):
    return clf._core.state()


# Shares of features are fractions unless rows are left as they are.
WHOLE = {"normalize": False, "sublinear_tf": False}
MODELS = [
    pytest.param(lambda: new(**WHOLE), sparse_rows, id="features"),
    pytest.param(lambda: new(), dense_rows, id="trees"),
    pytest.param(lambda: new(keys="path"), dense_rows, id="path"),
    pytest.param(lambda: new(keys="both", **WHOLE), sparse_rows, id="both"),
    pytest.param(lambda: new(RecallTreeClassifier), sparse_rows, id="recall tree, sparse"),
    pytest.param(
        lambda: new(RecallTreeClassifier, path_features="path", path_interactions=True),
        dense_rows,
        id="recall tree, path",
    ),
    pytest.param(lambda: new(OneAgainstAllClassifier), sparse_rows, id="one-against-all"),
    pytest.param(lambda: new(OneAgainstAllClassifier), dense_rows, id="one-against-all, dense"),
]
#: Arrays that do not depend on where rows were learned.
SUMS = ("keys.features", "keys.examples", "pairs.offsets", "pairs.keys", "pairs.counts")
SUMS += ("classes.sums", "classes.seen", "counted.n", "counted.examples", "scale.features")
SUMS += ("n_examples", "keys.offsets", "frequent.roots")


@pytest.mark.parametrize(("make", "rows"), MODELS)
def test_what_is_counted_is_that_of_one_process(make, rows, tmp_path):
    X, y = rows()
    base, models = shards_of(make(), X, y, tmp_path)
    merged = recalltree.merge(models, base=base)
    one = make().partial_fit(X[:200], y[:200]).partial_fit(X[200:], y[200:])
    assert merged.classes_.tolist() == one.classes_.tolist()
    ours, theirs = state_of(merged), state_of(one)
    assert set(ours) == set(theirs)
    compared = [name for name in SUMS if name in theirs]
    assert "n_examples" in compared
    for name in compared:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    if "centring.moments" in theirs:
        np.testing.assert_allclose(ours["centring.moments"], theirs["centring.moments"], rtol=1e-9)
    merged._core.check()
    assert merged.score(X, y) > 0.5


@pytest.mark.parametrize(("make", "rows"), MODELS)
def test_a_merged_model_is_saved_loaded_and_goes_on(make, rows, tmp_path):
    X, y = rows()
    base, models = shards_of(make(), X, y, tmp_path)
    paths = []
    for i, model in enumerate(models):
        paths.append(tmp_path / f"{i}.rt")
        model.save(paths[-1])
    merged = recalltree.merge(paths, base=base)
    merged.save(tmp_path / "merged.rt")
    again = recalltree.load(tmp_path / "merged.rt", verify=True)
    np.testing.assert_array_equal(again.predict_topk(X, k=3)[1], merged.predict_topk(X, k=3)[1])
    again.partial_fit(X[:50], y[:50])
    merged.partial_fit(X[:50], y[:50])
    assert again.n_examples_ == merged.n_examples_ == N_ROWS + 50
    np.testing.assert_array_equal(again.predict(X), merged.predict(X))


@pytest.mark.parametrize(("make", "rows"), MODELS)
def test_one_model_merged_with_its_base_is_itself(make, rows, tmp_path):
    X, y = rows()
    base, (model,) = shards_of(make(), X, y, tmp_path, n_shards=1)
    merged = recalltree.merge([model], base=base)
    ours, theirs = state_of(merged), state_of(model)
    for name in ("pairs.weights", "predictors.weights", "vote.scales"):  # routers have other rows
        if name in theirs:
            np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-5, atol=1e-6)
    assert (merged.predict(X) == model.predict(X)).mean() > 0.99


def test_models_without_a_base(tmp_path):
    X, y = sparse_rows()
    models = [new().fit(X[:300], y[:300]), new().fit(X[300:], y[300:])]
    merged = recalltree.merge(models)
    assert merged.n_examples_ == N_ROWS
    assert merged.score(X, y) > max(model.score(X, y) for model in models)


def test_lom_trees_have_no_merge():
    X, y = dense_rows()
    model = new(LOMTreeClassifier).fit(X, y)
    with pytest.raises(ValueError, match=r"lom-tree cannot be merged: .*takes nodes"):
        recalltree.merge([model, model])


@pytest.mark.parametrize(("make", "rows"), MODELS[:2])
def test_threads_change_nothing(make, rows, tmp_path):
    X, y = rows()
    base, models = shards_of(make(), X, y, tmp_path)
    ours = state_of(recalltree.merge(models, base=base, n_jobs=3))
    theirs = state_of(recalltree.merge(models, base=base))
    for name in theirs:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)


def test_a_merged_model_is_pickled_and_compacted():
    X, y = sparse_rows()
    merged = recalltree.merge([new().fit(X[i::2], y[i::2]) for i in range(2)])
    again = pickle.loads(pickle.dumps(merged))
    np.testing.assert_array_equal(again.predict(X), merged.predict(X))
    assert again.partial_fit(X[:5], y[:5]).n_examples_ == N_ROWS + 5
    small = merged.compact("float16")
    assert (small.predict(X) == merged.predict(X)).mean() > 0.95
