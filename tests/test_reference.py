"""The references by themselves: they learn, and their statistics hold together."""

import numpy as np
import pytest
from streams import make_stream

from recalltree.reference import (
    LOMTreeReference,
    OneAgainstAllReference,
    RecallTreeReference,
)
from recalltree.reference.recall_tree import log2_ceil, log2_floor


def learn(model, stream, n_steps=None):
    for _, _, x, y, weight, first_pass in list(stream.steps())[:n_steps]:
        model.learn(x, y, weight, first_pass)
    return model


def separable(n_classes, n_features=12, n_rows=600):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(n_classes, n_features))
    y = rng.integers(n_classes, size=n_rows)
    return centres[y] + 0.05 * rng.normal(size=(n_rows, n_features)), y


@pytest.mark.parametrize(
    ("model", "allowed_error"),
    [
        (OneAgainstAllReference(12), 0.02),
        (RecallTreeReference(12), 0.05),
        (RecallTreeReference(12, max_candidates=3), 0.05),
        (LOMTreeReference(12), 0.3),
    ],
    ids=["one-against-all", "recall tree", "recall tree with few candidates", "LOMTree"],
)
def test_a_separable_problem_is_learned(model, allowed_error):
    X, y = separable(n_classes=8)
    for _ in range(3):
        for x, label in zip(X, y, strict=True):
            model.learn(x, label)
    error = np.mean([model.predict(x) != label for x, label in zip(X, y, strict=True)])
    assert error <= allowed_error


@pytest.mark.parametrize("count_decay", [None, 50.0])
def test_every_example_is_counted_on_its_way_down_the_recall_tree(count_decay):
    stream = make_stream(seed=1, n_classes=30, n_features=8, weighted=True)
    tree = learn(RecallTreeReference(8, max_candidates=4, count_decay=count_decay), stream, 800)
    assert len(tree.nodes) > 7
    for node in tree.nodes:
        assert node.histogram.total == pytest.approx(sum(node.histogram.counts.values()))
        children = [child for child in (node.left, node.right) if child is not None]
        assert all(child.depth == node.depth + 1 <= tree.max_depth for child in children)
        passed_on = sum(child.histogram.total for child in children)
        assert passed_on <= node.histogram.total * (1 + 1e-12)
        if node.depth == 0:
            assert passed_on == pytest.approx(node.histogram.total)


def test_candidates_and_depth_follow_the_classes_seen():
    tree = RecallTreeReference(1)
    assert (tree.max_candidates, tree.max_depth) == (1, 1)
    for n_seen in range(1, 70):
        tree.learn(np.ones(1), n_seen)
        assert tree.max_candidates == max(1, 4 * log2_ceil(n_seen))
        assert tree.max_depth == max(1, log2_floor(n_seen))


def test_a_class_that_arrives_late_is_learned():
    X, y = separable(n_classes=8)
    tree = RecallTreeReference(12)
    late = y == 7
    for x, label in zip(X[~late], y[~late], strict=True):
        tree.learn(x, label)
    for _ in range(3):
        for x, label in zip(X, y, strict=True):
            tree.learn(x, label)
    assert np.mean([tree.predict(x) == 7 for x in X[late]]) > 0.9


def test_the_progressive_error_is_that_of_predictions_made_before_learning():
    stream = make_stream(seed=2, n_classes=6, n_features=5, weighted=True)
    models = [RecallTreeReference(5), OneAgainstAllReference(5), LOMTreeReference(5)]
    for model in models:
        errors = total = 0.0
        for _, _, x, y, weight, _ in list(stream.steps())[:300]:
            errors += weight * (model.predict(x) != y)
            total += weight
            model.learn(x, y, weight)
        assert (model.progressive.errors, model.progressive.weight) == (errors, total)
        assert errors < total


def test_old_counts_fade():
    tree = RecallTreeReference(1, count_decay=10.0)
    for label in [0] * 100 + [1] * 10:
        tree.learn(np.ones(1), label)
    counts = tree.nodes[0].histogram.counts
    assert counts[0] == pytest.approx(0.5 * sum(0.5 ** (i / 10) for i in range(100)))
    assert counts[1] == pytest.approx(sum(0.5 ** (i / 10) for i in range(10)))


def walk(node):
    """Yield a node and everything below it."""
    yield node
    if node.router is not None:
        yield from walk(node.left)
        yield from walk(node.right)


@pytest.mark.parametrize("max_nodes", [None, 5])
def test_the_lom_tree_stays_a_tree_within_its_budget(max_nodes):
    stream = make_stream(seed=3, n_classes=20, n_features=6, weighted=True, n_passes=2)
    tree = LOMTreeReference(6, max_nodes=max_nodes, swap_resistance=0.5)
    for position, (_, _, x, y, weight, first_pass) in enumerate(stream.steps()):
        tree.learn(x, y, weight, first_pass)
        if position % 50:
            continue
        reached = list(walk(tree.root))
        routers = [node for node in reached if node.router is not None]
        assert len(routers) == tree.n_routers <= tree.budget
        assert len(reached) == len(tree.nodes) == 2 * len(routers) + 1
        assert tree.root.parent is None
        for node in routers:
            assert node.left.parent is node.right.parent is node
            assert node.min_count == min(node.left.min_count, node.right.min_count)
        lightest = min(node.min_count for node in reached if node.router is None)
        assert tree.lightest_leaf().min_count == tree.root.min_count == lightest
    assert tree.n_swaps > 0


def test_negatives_are_sampled_with_larger_importance():
    rng = np.random.default_rng(0)

    def sample(others, m):
        return list(rng.choice(others, size=m, replace=False))

    model = OneAgainstAllReference(3, negative_samples=2, sample=sample)
    for label in range(5):
        model.learn(np.ones(3), label)
    negatives, importance = model.negatives(labels=[0], weight=0.5)
    assert len(set(negatives)) == 2
    assert 0 not in negatives
    assert importance == 0.5 * 4 / 2
