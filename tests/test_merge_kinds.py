"""Merging models with lists of labels, cells, decay, budgets of memory, and new classes."""

import numpy as np
import pytest
from test_merge import dense_rows, go_on, new, shards_of, sparse_rows

import recalltree
from recalltree import RecallTreeClassifier


def embeddings(n=4_000, n_classes=60, width=24, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(n_classes, width))
    y = rng.integers(n_classes, size=n)
    return (centres[y] + 0.4 * rng.normal(size=(n, width))).astype(np.float32), y


def test_lists_of_labels(tmp_path):
    X, y = sparse_rows()
    lists = [[label, f"even{i % 2}"] for i, label in enumerate(y.tolist())]
    base = tmp_path / "base.rt"
    new(normalize=False, sublinear_tf=False).partial_fit(X[:200], lists[:200]).save(base)
    models = [go_on(base, X[i:j], lists[i:j]) for i, j in ((200, 350), (350, 600))]
    merged = recalltree.merge(models, base=base)
    one = new(normalize=False, sublinear_tf=False).partial_fit(X[:200], lists[:200])
    one.partial_fit(X[200:], lists[200:])
    ours, theirs = merged._core.state(), one._core.state()
    for name in ("pairs.counts", "keys.examples", "classes.sums", "counted.examples"):
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name)
    # Marginal probabilities continue from the base, as far as both models moved them.
    np.testing.assert_allclose(ours["marginals"][1::2], theirs["marginals"][1::2], rtol=0.2)
    assert merged.score(X, lists) > one.score(X, lists) - 0.1
    assert merged.partial_fit(X[:10], lists[:10]).n_examples_ == 610


def test_classes_that_one_model_met(tmp_path):
    X, y = sparse_rows()
    base = tmp_path / "base.rt"
    known = np.array([label < "class10" for label in y])
    new().partial_fit(X[known], y[known]).save(base)
    tens, twenties = (np.array([label.startswith(f"class{d}") for label in y]) for d in (1, 2))
    models = [go_on(base, X[rows], y[rows]) for rows in (twenties, tens)]
    merged = recalltree.merge(models, base=base)
    assert merged.n_classes_seen_ == 30
    assert merged.classes_[:10].tolist() == recalltree.load(base).classes_.tolist()
    for rows, model in zip((twenties, tens), models, strict=True):
        assert merged.score(X[rows], y[rows]) > 0.7
        # What one model alone has learned stays as it is.
        own, all_ = model._core.state(), merged._core.state()
        at = {label: i for i, label in enumerate(merged.classes_)}
        for i, label in list(enumerate(model.classes_))[10:]:
            begin, end = own["pairs.offsets"][i : i + 2].astype(int)
            to = int(all_["pairs.offsets"][at[label]])
            ours = all_["pairs.weights"][to : to + end - begin]
            np.testing.assert_allclose(ours, own["pairs.weights"][begin:end], rtol=1e-5)


def test_labels_that_were_only_named(tmp_path):
    X, y = dense_rows()
    first = new().partial_fit(X[:100], y[:100], classes=np.arange(40))
    second = new().partial_fit(X[100:200], y[100:200])
    merged = recalltree.merge([first, second])
    assert merged.classes_.tolist() == list(range(40))


# --- cells ---------------------------------------------------------------------------------------


def test_cells_add_up(tmp_path):
    X, y = embeddings()
    base = tmp_path / "base.rt"
    new(keys="cells").partial_fit(X[:2048], y[:2048]).save(base)
    parts = (slice(2048, 3000), slice(3000, 4000))
    models = [go_on(base, X[part], y[part]) for part in parts]
    merged = recalltree.merge(models, base=base)
    one = go_on(base, X[2048:], y[2048:])
    ours, theirs = merged._core.state(), one._core.state()
    assert set(ours) == set(theirs)
    np.testing.assert_array_equal(ours["class_vectors.n_rows"], theirs["class_vectors.n_rows"])
    width = ours["whitening.mean"].size
    means = [state["class_vectors.vectors"][:, :width] for state in (ours, theirs)]
    np.testing.assert_allclose(*means, rtol=1e-4, atol=1e-4)
    assert merged.score(X, y) > one.score(X, y) - 0.01
    merged.save(tmp_path / "merged.rt")
    again = recalltree.load(tmp_path / "merged.rt", verify=True)
    np.testing.assert_array_equal(again.predict(X), merged.predict(X))
    assert again.partial_fit(X[:10], y[:10]).n_examples_ == 4010


def test_cells_need_a_whitening_that_is_final(tmp_path):
    X, y = embeddings()
    models = [new(keys="cells").fit(X[i : i + 1000], y[i : i + 1000]) for i in (0, 1000)]
    with pytest.raises(ValueError, match=r"no base was given\. Let one model learn that many rows"):
        recalltree.merge(models)
    new(keys="cells").partial_fit(X[:500], y[:500]).save(tmp_path / "base.rt")
    models = [go_on(tmp_path / "base.rt", X[i : i + 100], y[i : i + 100]) for i in (500, 600)]
    with pytest.raises(ValueError, match=r"base.rt has learned 500 rows"):
        recalltree.merge(models, base=tmp_path / "base.rt")


def test_cells_of_another_whitening(tmp_path):
    X, y = embeddings(5_000)
    models = [new(keys="cells").fit(X[i : i + 2048], y[i : i + 2048]) for i in (0, 2500)]
    models[0].save(tmp_path / "base.rt")
    other = models[1].partial_fit(X[:10], y[:10])
    with pytest.raises(ValueError, match=r"models\[0\] whitens rows otherwise than .*base.rt"):
        recalltree.merge([other], base=tmp_path / "base.rt")


def test_cells_and_trees_with_many_features(tmp_path):
    X, y = embeddings(width=110)
    base, models = shards_of(new(), X, y, tmp_path, n_first=2048, n_shards=2)
    merged = recalltree.merge(models, base=base)
    assert merged._core.config["keys"] == "auto"
    one = go_on(base, X[2048:], y[2048:])
    assert merged.score(X, y) > one.score(X, y) - 0.01


# --- counts that fade, memory that is bounded ----------------------------------------------------


@pytest.mark.parametrize("kind", [recalltree.OneAgainstSomeClassifier, RecallTreeClassifier])
def test_counts_fade_by_the_clock_of_each_model(kind, tmp_path):
    X, y = dense_rows()
    base, models = shards_of(new(kind, count_decay=100.0), X, y, tmp_path, n_shards=2)
    merged = recalltree.merge(models, base=base)
    merged._core.check()

    def weight(clf):
        """Return the weight of the counted examples as it is today."""
        state = clf._core.state()
        if kind is RecallTreeClassifier:
            unit = 2.0 ** ((clf.n_examples_ - 1 - state["tree.decay_origin"][0]) / 100.0)
            return state["histograms.sums"][0, 0] / unit
        total, origin = state["counted.examples"]
        return total / 2.0 ** ((clf.n_examples_ - origin) / 100.0)

    n = [model.n_examples_ - 200 for model in models]
    kept = weight(recalltree.load(base))
    new_ones = [weight(m) - kept * 2.0 ** (-k / 100.0) for m, k in zip(models, n, strict=True)]
    expected = kept * 2.0 ** (-sum(n) / 100.0) + sum(new_ones)
    assert weight(merged) == pytest.approx(expected, rel=1e-6)
    assert merged.partial_fit(X[:20], y[:20]).score(X, y) > 0.4


def test_a_budget_of_memory_holds_again_after_the_next_example(tmp_path):
    X, y = sparse_rows()
    unlimited = new().partial_fit(X, y)
    budget = int(unlimited.memory_bytes_ * 0.8)
    base, models = shards_of(new(memory_budget=budget), X, y, tmp_path)
    merged = recalltree.merge(models, base=base)
    merged._core.check()
    assert merged.partial_fit(X[:1], y[:1]).memory_bytes_ <= budget
