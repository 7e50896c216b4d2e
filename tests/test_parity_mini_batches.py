"""Several threads learn what the references learn in mini-batches: the same bits for any number.

The core computes in float32 and the reference in float64. So the streams here are such that no
decision is closer than float32 can tell; a test that meets a closer one says so.
"""

import hashlib

import numpy as np
import pytest
from side_by_side import CoreModel, assert_close, assert_rows_agree
from streams import make_stream, with_several_labels

from recalltree import _core
from recalltree.reference import (
    OneAgainstAllReference,
    RecallTreeInMiniBatches,
    rows_of_mini_batch,
)
from recalltree.reference.random_bits import BITS_64, mix

CLEAR = 2e-6  # decisions on numbers that are farther apart are the same in float32
COUNT_TOLERANCE = 1e-10
BOUND_TOLERANCE = 1e-7


class ClearRecallTree(RecallTreeInMiniBatches):
    """The reference; it refuses decisions that float32 cannot make."""

    def goes_right(self, node, margin):
        assert margin == 0 or abs(margin) > CLEAR, "a margin too close to 0: take another stream"
        return super().goes_right(node, margin)

    def stops(self, node, child):
        gap = abs(self.recall(node) - self.recall(child))
        assert gap < 1e-15 or gap > 1e-9, "bounds too close to each other: take another stream"
        return super().stops(node, child)


def mini_batches(stream, smallest=None):
    """Yield the rows of one mini-batch after the other, and whether it is the first pass.

    Those of a Recall Tree have a 64th of the rows learned before, at most.
    """
    n = len(stream.X)
    done = 0
    while done < len(stream.order):
        most = rows_of_mini_batch(done)
        if smallest is not None:
            most = min(most, max(smallest, done // 64))
        end = min(done + most, (done // n + 1) * n)
        yield stream.order[done:end], done < n
        done = end


def labels_of(stream, rows):
    if stream.lists is not None:
        return [stream.lists[row] for row in rows]
    return [int(stream.labels[row]) for row in rows]


def assert_progress_agrees(model, reference):
    assert model.progressive_weight == pytest.approx(reference.progressive.weight, rel=1e-12)
    assert model.progressive_errors == pytest.approx(reference.progressive.errors, rel=1e-12)


def assert_trees_agree(model, reference):
    tree = model.tree()
    nodes = reference.nodes
    for side in ("left", "right"):
        children = [getattr(node, side) for node in nodes]
        assert tree[side].tolist() == [-1 if c is None else c.number for c in children]
    for node in nodes:
        labels, counts = model.histogram(node.number)
        ranking = node.histogram.ranking()
        assert labels.tolist() == ranking
        expected = [node.histogram.counts[y] for y in ranking]
        assert_close(counts, expected, "counts", COUNT_TOLERANCE)
        assert_close(tree["total"][node.number], node.histogram.total, "total", COUNT_TOLERANCE)
        bound = reference.recall(node)
        assert_close(tree["recall_bound"][node.number], bound, "recall bound", BOUND_TOLERANCE)
        assert_rows_agree(model.router(node.number), node.router, f"router {node.number}")


def assert_predictors_agree(model, reference):
    for label, predictor in reference.predictors.items():
        theirs = model.predictor(label)
        assert_rows_agree(theirs, predictor, f"predictor {label}")
        if "path_nodes" in theirs:
            on_path = dict(zip(theirs["path_nodes"], theirs["path_weights"], strict=True))
            for number, correction in getattr(predictor, "corrections", {}).items():
                what = f"path weight of class {label} at node {number}"
                assert_close(on_path.get(number, 0.0), correction.bias, what)


def run_recall_tree(stream, config, n_threads):
    core = CoreModel(_core, _core.RecallTree, stream, config)
    reference = ClearRecallTree(**core.reference_config())
    for rows, first_pass in mini_batches(stream, smallest=1):
        core.learn_together(rows, first_pass, n_threads)
        weights = stream.weights[rows]
        reference.learn_mini_batch(stream.X[rows], labels_of(stream, rows), weights, first_pass)
        assert core.model.n_classes_seen == len(reference.predictors)
        assert_progress_agrees(core.model, reference)
        assert_trees_agree(core.model, reference)
        assert_predictors_agree(core.model, reference)
    return reference


TREES = {
    "defaults": {},
    "few candidates": {"max_candidates": 3, "max_depth": 6, "routing_order": "update_first"},
    "paths": {"path_features": "path", "min_gradient": 0.0, "l2": 1e-3, "max_candidates": 4},
    "leaves, fading": {"path_features": "leaf", "count_decay": 40.0, "max_candidates": 4},
    "hinge": {"loss": "hinge", "router_weighting": "entropy", "max_candidates": 3},
    "squared, fading fast": {
        "loss": "squared",
        "count_decay": 1.5,
        "router_weighting": "unit",
        "max_candidates": 3,
    },
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("config", TREES.values(), ids=TREES)
def test_every_mini_batch_of_a_recall_tree_agrees(config, sparse):
    stream = short_stream(21, sparse, n_classes=14, n_passes=2)
    reference = run_recall_tree(stream, config, n_threads=2)
    if "max_candidates" in config:
        assert max(node.depth for node in reference.nodes) > 1


def test_every_mini_batch_with_several_labels_agrees():
    stream = with_several_labels(short_stream(22, True, n_classes=14), seed=3)
    run_recall_tree(stream, {"max_candidates": 6}, n_threads=3)


def short_stream(seed, sparse, n_classes, n_passes=1):
    """The beginning of a stream, again and again."""
    whole = make_stream(
        seed=seed, n_classes=n_classes, n_features=14, sparse=sparse, weighted=True, late=False
    )
    n = 400
    return type(whole)(
        X=whole.X[:n],
        labels=whole.labels[:n],
        weights=whole.weights[:n],
        order=np.tile(np.arange(n), n_passes),
        sparse=sparse,
        n_passes=n_passes,
    )


class SamplingOneAgainstAll(OneAgainstAllReference):
    """The reference, which draws what the core draws: Floyd's algorithm, on places of classes."""

    seed = 5

    def negatives(self, labels, weight):
        self.labels = labels
        return super().negatives(labels, weight)

    def sample(self, others, m):
        classes, drawn = list(self.predictors), []
        known = [label for label in self.labels if label in classes]
        n = len(others)
        spare = iter([c for c in classes[n:] if c not in known])
        stand_ins = {label: next(spare) for label in known if classes.index(label) < n}
        for j in range(n - m, n):
            at = (self.n_examples * 0x100000001B3 + j) & BITS_64
            pick = mix((self.seed + 0x9E3779B97F4A7C15 * at) & BITS_64) % (j + 1)
            drawn.append(j if pick in drawn else pick)
        return [stand_ins.get(classes[place], classes[place]) for place in drawn]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("negative_samples", [2, 5, None])
def test_every_mini_batch_of_one_against_all_agrees(negative_samples, sparse):
    stream = short_stream(23, sparse, n_classes=12, n_passes=2)
    config = {"negative_samples": negative_samples, "seed": SamplingOneAgainstAll.seed}
    core = CoreModel(_core, _core.OneAgainstAll, stream, config)
    reference = SamplingOneAgainstAll(**{**core.reference_config(), "sample": None})
    reference.sample = SamplingOneAgainstAll.sample.__get__(reference)
    for rows, first_pass in mini_batches(stream):
        core.learn_together(rows, first_pass, 3)
        weights = stream.weights[rows]
        reference.learn_mini_batch(stream.X[rows], labels_of(stream, rows), weights, first_pass)
        assert_progress_agrees(core.model, reference)
        assert_predictors_agree(core.model, reference)


def digest(model):
    """A fingerprint of all that is saved of a model."""
    whole = hashlib.sha256()
    for name, array in sorted(model.state().items()):
        whole.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()


MODELS = {
    "recall tree": (_core.RecallTree, {}),
    "recall tree, paths, fading": (
        _core.RecallTree,
        {"path_features": "path", "count_decay": 300.0},
    ),
    "recall tree, interactions": (
        _core.RecallTree,
        {"path_features": "path", "path_interactions": True},
    ),
    "one-against-all": (_core.OneAgainstAll, {}),
    "one-against-all, hinge": (_core.OneAgainstAll, {"loss": "hinge"}),
    "one-against-all, samples": (_core.OneAgainstAll, {"negative_samples": 4}),
    "LOMTree": (_core.LOMTree, {}),
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", MODELS)
def test_the_same_bits_for_any_number_of_threads(name, sparse):
    make, config = MODELS[name]
    stream = make_stream(seed=31, n_classes=40, n_features=30, sparse=sparse, n_passes=2)
    n = len(stream.X)
    digests = {}
    for n_threads in (1, 2, 3, 4, 8, 16):
        core = CoreModel(_core, make, stream, config)
        core.learn_together(stream.order[:512], True, n_threads)
        core.learn_together(stream.order[512:n], True, n_threads)
        core.learn_together(stream.order[n:], False, n_threads)
        digests[n_threads] = digest(core.model)
    assert len({digests[t] for t in (2, 3, 4, 8, 16)}) == 1
    shares_classes = name in ("one-against-all", "one-against-all, hinge")
    one_thread = shares_classes or name in ("LOMTree", "recall tree, interactions")
    assert (digests[1] == digests[2]) == one_thread
