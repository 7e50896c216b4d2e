"""Merging in groups gives the model that merging at once gives, but for rounding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_merge import MODELS, go_on, new, shards_of, sparse_rows

import recalltree
from recalltree.parameters import MERGE_RULES

SEEDS = st.integers(0, 10_000)


def assert_same_model(ours, theirs):
    """Compare all that was learned. Labels have the same order."""
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    a, b = ours._core.state(), theirs._core.state()
    assert set(a) == set(b)
    for name in a:
        if not name.startswith("histograms."):  # of equal counts, any may come first
            np.testing.assert_allclose(a[name], b[name], rtol=2e-4, atol=2e-5, err_msg=name)
        else:
            np.testing.assert_allclose(
                np.sort(a[name], axis=None), np.sort(b[name], axis=None), rtol=2e-4, err_msg=name
            )


@pytest.mark.parametrize(("make", "rows"), MODELS)
def test_any_grouping(make, rows, tmp_path_factory):
    X, y = rows()
    tmp_path = tmp_path_factory.mktemp("models")
    make().partial_fit(X[:150], y[:150]).save(tmp_path / "base.rt")
    base = tmp_path / "base.rt"

    @settings(max_examples=4, deadline=None)
    @given(seed=SEEDS, rule=st.sampled_from(sorted(MERGE_RULES)))
    def check(seed, rule):
        rng = np.random.default_rng(seed)
        shard = rng.integers(4, size=len(y))
        shard[:150] = -1
        models = [go_on(base, X[shard == i], y[shard == i]) for i in range(4)]
        at_once = recalltree.merge(models, base=base, rule=rule)
        cut = int(rng.integers(1, 4))
        groups = [models[:cut], models[cut:]]
        by_groups = [recalltree.merge(group, base=base, rule=rule) for group in groups]
        assert_same_model(recalltree.merge(by_groups, base=base, rule=rule), at_once)

    check()


def test_without_a_base():
    X, y = sparse_rows()
    models = [new().fit(X[i::3], y[i::3]) for i in range(3)]
    at_once = recalltree.merge(models)
    in_turn = recalltree.merge([recalltree.merge(models[:2]), models[2]])
    assert_same_model(in_turn, at_once)


def test_an_empty_round_changes_nothing(tmp_path):
    X, y = sparse_rows()
    path, _ = shards_of(new(), X, y, tmp_path)
    base = recalltree.load(path)
    merged = recalltree.merge([base, path], base=path)
    ours, theirs = merged._core.state(), base._core.state()
    for name in ("pairs.counts", "pairs.weights", "keys.roots", "vote.scales", "classes.bias"):
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-6, err_msg=name)
    np.testing.assert_array_equal(merged.predict(X), base.predict(X))
