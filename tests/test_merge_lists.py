"""Lists are merged by the core as NumPy merges rows, to the bit; histograms for any threads."""

import numpy as np
import pytest

from recalltree import _core
from recalltree.merging.rules import RULES, Learned, combine

N_ROWS, N_IDS, OFFSET = 40, 50, 0.03
SHARES = (0.25, 0.45, 0.3)


def random_lists(rng, like=None):
    """Return begins, ends and ids of lists, with counts, weights and accumulators beside the ids.

    Those that go on from others keep most of the numbers, and add to some.
    """
    has = rng.random((N_ROWS, N_IDS)) < 0.3
    values = rng.random((3, N_ROWS, N_IDS)).astype(np.float32)
    values[0] = rng.integers(1, 5, size=values[0].shape)
    if like is not None:
        has = like[0] | (has & (rng.random(has.shape) < 0.5))
        changed = rng.random(has.shape) < 0.4
        values = np.where(changed, like[1] + values, like[1])
        values = np.where(like[0], values, values + 0.5).astype(np.float32)
        has &= rng.random(has.shape) < 0.95  # a budget of memory forgets
    return has, np.where(has, values, 0).astype(np.float32)


def as_lists(has, values, names=None):
    ends = np.cumsum(has.sum(axis=1)).astype(np.uint64)
    begins = np.concatenate([[0], ends[:-1]]).astype(np.uint64)
    ids = np.nonzero(has)[1].astype(np.uint32)
    return (begins, ends, ids, names, *(v[has] for v in values))


def models(seed):
    rng = np.random.default_rng(seed)
    base = random_lists(rng)
    return base, [random_lists(rng, like=base) for _ in SHARES]


def merged_by_numpy(rule, base, shards):
    has = base[0] | np.any([one[0] for one in shards], axis=0)
    places = [np.flatnonzero(one[0]) for one in (base, *shards)]
    flat = [values.reshape(3, -1).astype(np.float64) for _, values in (base, *shards)]
    squares = flat[0][2] + OFFSET
    learned = [
        Learned(f[1][at], f[2][at] + OFFSET, at, share)
        for f, at, share in zip(flat[1:], places[1:], SHARES, strict=True)
    ]
    weights, squares = combine(RULES[rule], flat[0][1], squares, learned)
    counts = flat[0][0].copy()
    for f, at in zip(flat[1:], places[1:], strict=True):
        counts[at] += f[0][at] - flat[0][0][at]
    kept = has.ravel()
    found = (np.maximum(counts, 0), weights, np.maximum(squares - OFFSET, 0))
    return has, [values[kept].astype(np.float32) for values in found]


@pytest.mark.parametrize("rule", sorted(RULES))
@pytest.mark.parametrize("is_named", [False, True])
def test_as_numpy_does(rule, is_named):
    base, shards = models(seed=0)
    has, expected = merged_by_numpy(rule, base, shards)
    names = np.random.default_rng(1).permutation(N_IDS).astype(np.uint32)
    lists = [as_lists(*base), *(as_lists(*one) for one in shards)]
    if is_named:  # the second model has other ids for the same things
        back = np.argsort(names)
        of_second, values = shards[1][0][:, names], shards[1][1][:, :, names]
        assert (names[back] == np.arange(N_IDS)).all()
        lists[2] = as_lists(of_second, values, names)
    factors = [(1.0, 1.0, share) for share in (1.0, *SHARES)]
    ids, *found = _core.merge_lists(lists, factors, rule, OFFSET)
    np.testing.assert_array_equal(_core.merged_sizes(lists), has.sum(axis=1))
    np.testing.assert_array_equal(ids, np.nonzero(has)[1])
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_counts_fade():
    base, shards = models(seed=2)
    factors = [(0.5, 1.0, 1.0), (1.0, 0.8, 0.2), (0.9, 0.7, 0.3), (0.7, 0.6, 0.5)]
    lists = [as_lists(*base), *(as_lists(*one) for one in shards)]
    _, counts, _, _ = _core.merge_lists(lists, factors, "sum", OFFSET)
    total = 0.5 * base[1][0].astype(np.float64)
    for (has, values), (now, then, _) in zip(shards, factors[1:], strict=True):
        total += np.where(has, now * values[0] - then * base[1][0], 0.0)
    kept = base[0] | np.any([one[0] for one in shards], axis=0)
    np.testing.assert_allclose(counts, np.maximum(total[kept], 0.0), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda one: (one[0], one[1] + np.uint64(900), *one[2:]), "ends beyond its array"),
        (lambda one: (*one[:2], one[2][::-1].copy(), *one[3:]), "not increasing"),
        (lambda one: (*one[:3], np.arange(3, dtype=np.uint32), *one[4:]), "a number too large"),
        (lambda one: (*one[:4], one[4][:-1].copy(), *one[5:]), "differ in number"),
        (lambda one: (*one[:4], None, *one[5:]), "that another lacks"),
        (lambda one: (one[0][1:].copy(), *one[1:]), "different numbers of rows"),
    ],
)
def test_hostile_lists(change, message):
    base, shards = models(seed=3)
    lists = [as_lists(*base), change(as_lists(*shards[0]))]
    with pytest.raises(ValueError, match=message):
        _core.merge_lists(lists, [(1.0, 1.0, 1.0)] * 2, "sum", OFFSET)
    with pytest.raises(ValueError, match=message):
        _core.merged_sizes(lists)


def test_an_unknown_rule():
    base, _ = models(seed=4)
    with pytest.raises(ValueError, match="no rule 'best'"):
        _core.merge_lists([as_lists(*base)], [(1.0, 1.0, 1.0)], "best", OFFSET)


@pytest.mark.parametrize("limit", [1, 3, 100])
def test_histograms_for_any_number_of_threads(limit):
    base, _ = models(seed=5)
    _, ends, ids, _, counts, weights, _ = as_lists(*base)
    offsets = np.concatenate([[0], ends]).astype(np.uint64)
    keys = np.arange(N_IDS, dtype=np.uint32)
    one = _core.rank_lists(offsets, ids, counts, weights, keys, limit)
    for n_threads in (2, 5, 100):
        several = _core.rank_lists(offsets, ids, counts, weights, keys, limit, n_threads)
        for ours, theirs in zip(several, one, strict=True):
            np.testing.assert_array_equal(ours, theirs)
    none = np.empty(0, dtype=np.uint32)
    empty = _core.rank_lists(np.zeros(1, np.uint64), none, counts[:0], None, none, limit, 3)
    assert [len(one) for one in empty] == [1, 0, 0, 0]
