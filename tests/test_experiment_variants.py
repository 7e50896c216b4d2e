"""Ablation of one-against-some: one thing changes at a time, and it does change."""

import numpy as np
import pytest
import scipy.sparse as sp
from experiment_runs import ROOT  # noqa: F401  (makes `experiments` importable)
from experiments import averaged_embeddings, variants
from experiments.averaged_embeddings import AveragedEmbeddings, huffman_tree, ways_to_leaves
from experiments.budget import Budget
from experiments.questions import one_against_some_ablation

from recalltree.reference import one_against_some, vote_weights

N_FEATURES, N_CLASSES = 12, 6


def documents(n: int, seed: int = 0):
    """Rows of counts: each class has features of its own and some that all share."""
    random = np.random.default_rng(seed)
    y = random.integers(N_CLASSES, size=n)
    X = random.poisson(0.2, (n, N_FEATURES)).astype(float)
    X[np.arange(n), y] += 1 + random.poisson(1.0, n)
    return X, y


def learned(kind, passes=1, n=60, **parameters):
    X, y = documents(n)
    model = kind(N_FEATURES, sparse=True, max_candidates=4, **parameters)
    variants.learn_and_test(model, X, y, *documents(20, seed=1), passes=passes)
    return model


def scores(model):
    return np.concatenate([model.scores(x, N_CLASSES).scores() for x in documents(10, seed=2)[0]])


def test_the_square_root_is_what_the_reference_does_besides_shares():
    plain = learned(variants.OneVote)
    same = learned(variants.SquareRoot, scale=vote_weights.AFFINITY_SCALE)
    np.testing.assert_allclose(scores(plain), scores(same))


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (variants.Logistic, {}),
        (variants.OneVote, {}),
        (variants.ShareOfClass, {"scale": 15.0}),
        (variants.ShareOfKey, {"scale": 15.0}),
        (variants.Cosine, {"scale": 15.0}),
        (variants.NaiveBayes, {"scale": 1.0}),
        (variants.RandomRouters, {"keys": "trees"}),
    ],
)
def test_a_variant_learns_otherwise(kind, parameters):
    keys = {name: value for name, value in parameters.items() if name == "keys"}
    plain, other = (
        learned(one_against_some.OneAgainstSomeReference, **keys),
        learned(kind, **parameters),
    )
    assert not np.array_equal(scores(plain), scores(other))
    wrong, recalled = variants.learn_and_test(other, *documents(40), *documents(40, seed=1))
    assert wrong < 20 < recalled <= 40


def test_only_later_passes_count_an_example_for_itself():
    plain = one_against_some.OneAgainstSomeReference
    np.testing.assert_array_equal(scores(learned(plain)), scores(learned(variants.CountsItself)))
    again = learned(plain, passes=2), learned(variants.CountsItself, passes=2)
    assert not np.array_equal(*map(scores, again))


def test_adaptive_lists_hold_most_of_the_count():
    model = learned(variants.AdaptiveLabels)
    for key in range(N_FEATURES):
        counts, (listed, held_by) = model.histograms[key].counts, model.ranking(key)
        assert held_by == [counts[label] for label in listed]
        held = sum(counts[label] for label in listed)
        assert held >= model.share * sum(counts.values())
        assert held - counts[listed[-1]] < model.share * sum(counts.values())


def test_frequent_classes_are_near_the_root():
    counts = np.array([100, 1, 7, 30, 2])
    lengths = [len(nodes) for nodes, _ in ways_to_leaves(huffman_tree(counts))]
    assert lengths == [1, 4, 3, 2, 4]


def test_embeddings_learn_many_rows_as_they_learn_one(monkeypatch):
    if averaged_embeddings._compiled() is None:
        pytest.skip("no C compiler")
    random = np.random.default_rng(0)
    y = random.integers(8, size=300)
    # Some features fold onto the same row of embeddings, and one example has none.
    rows = [[label, *(8 + random.integers(40, size=2))] for label in y]
    rows[150] = []
    starts = np.cumsum([0, *map(len, rows)])
    X = sp.csr_array((np.ones(starts[-1]), np.concatenate(rows), starts), shape=(300, 48))
    monkeypatch.setattr(averaged_embeddings, "MAX_ROWS", 30)
    models = [AveragedEmbeddings(48, np.arange(1, 9), 0.5, n_dimensions=21) for _ in range(2)]
    fast = models[0].predict_and_learn(X, y)
    monkeypatch.setattr(averaged_embeddings, "_compiled", lambda: None)
    slow = models[1].predict_and_learn(X, y)
    assert fast.tolist() == slow.tolist()
    assert (fast[150:] == y[150:]).mean() > 0.5
    for name in ("embeddings", "deciders"):
        np.testing.assert_allclose(*(getattr(m, name) for m in models), rtol=1e-3, atol=1e-5)


def test_embeddings_answer_with_the_most_probable_class():
    random = np.random.default_rng(0)
    model = AveragedEmbeddings(20, np.arange(1, 9), learning_rate=0.5, n_dimensions=5)
    for _ in range(300):
        label = int(random.integers(8))
        model.learn(np.array([label, 8 + int(random.integers(12))]), label)
    for label in range(8):
        features = np.array([label, 9])
        _, hidden = model.mean(features)
        right = [1 / (1 + np.exp(-(model.deciders[nodes] @ hidden))) for nodes, _ in model.ways]
        chances = [
            np.prod(np.where(sides == 1, p, 1 - p))
            for (_, sides), p in zip(model.ways, right, strict=True)
        ]
        assert sum(chances) == pytest.approx(1.0, abs=1e-5)
        assert model.predict(features) == int(np.argmax(chances)) == label


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("idf", "normalize"), ["idf: False", "normalize: False"]),
        (("labels (M): 32", "idf"), ["labels (M): 32", "idf: False"]),
    ],
)
def test_variants_are_chosen_by_what_they_change(names, expected):
    tried = one_against_some_ablation.VARIANTS[one_against_some_ablation.SPARSE]
    assert [v.name for v in one_against_some_ablation.chosen(tried, names)] == expected
    assert one_against_some_ablation.chosen(tried, None) == tried


def test_a_variant_that_is_not_there_is_named():
    budget = Budget(sets=("webdirectory",), variants=("keys", "depht"))
    with pytest.raises(ValueError, match=r"no variant 'depht'; there are defaults, keys, "):
        list(one_against_some_ablation.units(budget))
