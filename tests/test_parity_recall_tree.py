"""The core's Recall Tree does what the reference does, example by example."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import (
    CoreModel,
    Follower,
    FollowingLearner,
    assert_close,
    assert_lists_of_one_are_labels,
    assert_rows_agree,
    close_to,
)
from streams import (
    Stream,
    configs,
    make_stream,
    parity_settings,
    streams,
    with_several_labels,
)

from recalltree import _core
from recalltree.reference import RecallTreeReference

CHECK_WEIGHTS_EVERY = 400
# Faded counts are not exact, and the bound is as steep as a square root where the recall is 1.
COUNT_TOLERANCE = 1e-10
BOUND_TOLERANCE = 1e-7


class FollowingRecallTree(RecallTreeReference):
    """The reference; where float32 cannot tell, it takes the core's side."""

    def __init__(self, core):
        super().__init__(**core.reference_config())
        self.core = core
        self.follower = Follower()
        self.learner = FollowingLearner(self.learner, self.core_row)
        self.predicting = False
        self.last_route = self.last_candidates = self.last_scores = None
        self.core_route = []  # where the core's prediction went
        self.core_label = None  # and what it answered
        self.core_filled = set()  # nodes at which the core has just counted the example
        self.core_route_after = []  # where its prediction would go now

    def route(self, x):
        self.predicting = True
        self.last_route = super().route(x)
        self.predicting = False
        return self.last_route

    def learn_without_labels(self, x, z, weight):
        before = self.last_route, self.core_route
        self.core_route = self.core_route_after
        super().learn_without_labels(x, z, weight)
        self.last_route, self.core_route = before

    def goes_right(self, node, margin):
        agrees = self.agrees_in_prediction if self.predicting else self.agrees_in_learning

        def core_says():
            consistent = [right for right in (False, True) if agrees(node, right)]
            return consistent[0] if len(consistent) == 1 else None

        own = super().goes_right(node, margin)
        return self.follower.choose(own, close_to(0.0, margin), core_says)

    def agrees_in_prediction(self, node, right):
        child = node.child(right)
        at = self.core_route.index(node.number)
        if at + 1 < len(self.core_route):
            return child is not None and child.number == self.core_route[at + 1]
        return child is None or super().stops(node, child)

    def agrees_in_learning(self, node, right):
        children = self.core.model.tree()["right" if right else "left"]
        return int(children[node.number]) in self.core_filled

    def stops(self, node, child):
        def core_says():
            if self.predicting:
                return child.number not in self.core_route
            tree = self.core.model.tree()
            below = {int(tree["left"][child.number]), int(tree["right"][child.number])}
            # A leaf has nothing below it to tell whether the example stopped above.
            return None if child.depth == self.max_depth else not below & self.core_filled

        own = super().stops(node, child)
        ambiguous = abs(self.recall(node) - self.recall(child)) < BOUND_TOLERANCE
        return self.follower.choose(own, ambiguous, core_says)

    def best(self, candidates, scores):
        self.last_candidates, self.last_scores = candidates, scores
        own = super().best(candidates, scores)
        score_of_theirs = dict(zip(candidates, scores, strict=True)).get(self.core_label, -np.inf)
        ambiguous = close_to(max(scores), score_of_theirs)
        self.last_answer = self.follower.choose(own, ambiguous, lambda: self.core_label)
        return self.last_answer

    def core_row(self, model):
        for label, predictor in self.predictors.items():
            if predictor is model:
                return self.core.model.predictor(label)
        number = next(node.number for node in self.nodes if node.router is model)
        return self.core.model.router(number)


def run(stream, config):
    """Feed a stream to both and compare after every step."""
    core = CoreModel(_core, _core.RecallTree, stream, config)
    reference = FollowingRecallTree(core)
    half_life = reference.count_decay
    fading = 1.0 if half_life is None else 2.0 ** (-1.0 / half_life)

    totals = np.zeros(0)
    for position, row, x, y, weight, first_pass in stream.steps():
        has_learned = core.model.n_classes_seen > 0
        if has_learned:
            reference.core_route = core.route(row)
            reference.core_label = core.predict(row)
            core_candidates, core_scores = core.candidates(row)
        core.learn(row, first_pass)
        faded = fading * totals
        tree = core.model.tree()
        totals = tree["total"]
        faded = np.append(faded, np.zeros(len(totals) - len(faded)))
        gained = totals - faded
        filled = np.flatnonzero(gained > weight / 2).tolist()

        reference.core_filled = set(filled)
        reference.core_route_after = core.route(row) if core.model.n_classes_seen > 0 else []
        if not first_pass or y == []:
            reference.predict(x)
        reference.learn(x, y, weight, first_pass)  # otherwise predicts, too

        if has_learned:
            assert [node.number for node in reference.last_route] == reference.core_route
            assert reference.last_candidates == core_candidates
            assert_close(core_scores, reference.last_scores, "scores")
            assert reference.last_answer == reference.core_label
        assert_nodes_agree(core.model, tree, reference, filled)
        assert core.model.n_classes_seen == len(reference.predictors)
        assert core.model.max_candidates_now == reference.max_candidates
        assert core.model.max_depth_now == reference.max_depth
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        if position % CHECK_WEIGHTS_EVERY == 0:
            assert_weights_agree(core.model, reference)

    assert_nodes_agree(core.model, tree, reference, range(len(reference.nodes)))
    assert_weights_agree(core.model, reference)
    reference.follower.assert_rare()
    reference.learner.assert_rare()
    return reference


def assert_nodes_agree(model, tree, reference, numbers):
    """The shape of the tree; histograms and recall bounds of some nodes."""
    left = [-1 if node.left is None else node.left.number for node in reference.nodes]
    right = [-1 if node.right is None else node.right.number for node in reference.nodes]
    assert tree["left"].tolist() == left
    assert tree["right"].tolist() == right
    assert tree["depth"].tolist() == [node.depth for node in reference.nodes]
    for number in numbers:
        histogram = reference.nodes[number].histogram
        labels, counts = model.histogram(number)
        ranking = histogram.ranking()
        assert labels.tolist() == ranking
        assert tree["n_labels"][number] == len(ranking)
        assert_close(counts, [histogram.counts[y] for y in ranking], "counts", COUNT_TOLERANCE)
        assert_close(tree["total"][number], histogram.total, "total", COUNT_TOLERANCE)
        bound = reference.recall(reference.nodes[number])
        assert_close(tree["recall_bound"][number], bound, "recall bound", BOUND_TOLERANCE)


def assert_weights_agree(model, reference):
    """Routers, class predictors, path features and their products with x."""
    for node in reference.nodes:
        assert_rows_agree(model.router(node.number), node.router, f"router {node.number}")
    for label, predictor in reference.predictors.items():
        theirs = model.predictor(label)
        assert_rows_agree(theirs, predictor, f"predictor {label}")
        on_path = dict(zip(theirs["path_nodes"], theirs["path_weights"], strict=True))
        assert set(on_path) <= set(predictor.corrections)
        for number, correction in predictor.corrections.items():
            what = f"class {label} at node {number}"
            assert_close(on_path.get(number, 0.0), correction.bias, f"path weight of {what}")
            if reference.path_interactions:
                theirs = model.interaction(label, number)["weights"]
                assert_close(theirs, correction.weights, f"interactions of {what}")


PATHS = [("none", False), ("leaf", False), ("path", False), ("leaf", True), ("path", True)]
PATH_NAMES = ["none", "leaf", "path", "leaf interactions", "path interactions"]

CHOICES = {
    "max_candidates": [None, 1, 2, 5, 12],
    "max_depth": [None, None, 1, 3, 6],
    "bound_lambda": [1.0, 0.1, 4.0, 0.0],
    "router_weighting": ["total_entropy", "entropy", "unit"],
    "routing_order": ["route_first", "update_first"],
    "count_decay": [None, None, 200.0, 1000.0],
    "min_gradient": [0.1, 0.0, 0.3],
    "loss": ["logistic", "logistic", "hinge", "squared"],
    "learning_rate": [1.0, 0.3],
    "l2": [0.0, 0.0, 1e-3],
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("path", range(len(PATHS)), ids=PATH_NAMES)
@parity_settings(max_examples=2)
@given(data=st.data())
def test_every_step_agrees(sparse, path, data):
    path_features, path_interactions = PATHS[path]
    stream = data.draw(streams(sparse, path, sparse=sparse, max_classes=25))
    config = data.draw(configs(sparse, path, choices=CHOICES))
    config |= {"path_features": path_features, "path_interactions": path_interactions}
    run(stream, config)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_defaults_agree_while_classes_keep_arriving(sparse):
    # Enough classes for the automatic F to lie below the labels of some nodes and to overtake them
    # again as it grows.
    stream = make_stream(seed=7, n_classes=70, n_features=12, sparse=sparse, weighted=True)
    reference = run(stream, {})
    n_labels = [len(node.histogram.counts) for node in reference.nodes]
    assert min(n_labels) < reference.max_candidates < max(n_labels)


@pytest.mark.parametrize(
    ("router_weighting", "routing_order", "count_decay"),
    [
        ("total_entropy", "route_first", 100.0),
        ("total_entropy", "update_first", None),
        ("entropy", "update_first", 100.0),
        ("unit", "route_first", None),
    ],
)
def test_routers_agree(router_weighting, routing_order, count_decay):
    # Few candidates among many classes: the example has to be routed well to be learned at all.
    stream = make_stream(seed=11, n_classes=30, n_features=10, n_passes=2)
    config = {
        "max_candidates": 3,
        "max_depth": 6,
        "router_weighting": router_weighting,
        "routing_order": routing_order,
        "count_decay": count_decay,
    }
    reference = run(stream, config)
    assert max(node.depth for node in reference.nodes) > 2


def test_candidates_agree_after_the_automatic_number_of_them_overtook_a_node():
    # A node with more labels than candidates (21 > 20) has fewer when 33 classes are known (24),
    # then more again, and its first label is no candidate any more.
    one_side, other_side = np.eye(2)
    steps = [(one_side, 0, 1.0), (other_side, 1, 1.0)] * 200
    steps += [(one_side, label, 1.0) for label in range(2, 22)]
    steps += [(other_side, label, 1.0) for label in range(22, 33)]
    steps += [(one_side, label, 4.0) for label in range(3, 22)]
    steps += [(one_side, label, 4.0) for label in range(33, 37)]
    steps += [(one_side, 2, 0.5)] * 3
    X, labels, weights = (np.array(column) for column in zip(*steps, strict=True))
    stream = Stream(
        X=X,
        labels=labels.astype(np.uint32),
        weights=weights,
        order=np.arange(len(X)),
        sparse=False,
        n_passes=1,
    )
    config = {"max_depth": 1, "routing_order": "update_first", "router_weighting": "entropy"}
    reference = run(stream, config)
    n_labels = [len(node.histogram.counts) for node in reference.nodes]
    assert n_labels[0] == 37
    assert max(n_labels[1:]) == reference.max_candidates + 1 == 25


def test_counts_agree_after_many_half_lives():
    stream = make_stream(seed=13, n_classes=30, n_features=10, late=False)
    run(stream, {"max_candidates": 5, "count_decay": 12.0, "path_features": "none"})


@pytest.mark.parametrize("max_candidates", [11, 12, 13])
def test_as_many_candidates_as_labels_more_and_fewer(max_candidates):
    stream = make_stream(seed=5, n_classes=12, n_features=6, n_passes=2, weighted=True)
    reference = run(stream, {"max_candidates": max_candidates})
    assert len(reference.nodes[0].histogram.counts) == 12


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("path", range(len(PATHS)), ids=PATH_NAMES)
@parity_settings(max_examples=2)
@given(data=st.data())
def test_every_step_agrees_with_several_labels(sparse, path, data):
    path_features, path_interactions = PATHS[path]
    stream = data.draw(streams(sparse, path, 2, sparse=sparse, max_classes=25))
    config = data.draw(configs(sparse, path, 2, choices=CHOICES))
    config |= {"path_features": path_features, "path_interactions": path_interactions}
    run(with_several_labels(stream, seed=1), config)


@pytest.mark.parametrize("count_decay", [None, 150.0])
def test_several_labels_agree_where_counting_them_changes_the_candidates(count_decay):
    # Few candidates of many classes: a label enters by being counted, and another one leaves.
    stream = make_stream(seed=17, n_classes=40, n_features=12, weighted=True, n_passes=2)
    config = {"max_candidates": 4, "max_depth": 2, "count_decay": count_decay}
    reference = run(with_several_labels(stream, seed=2), config)
    assert 0.2 < reference.progressive.errors / reference.progressive.weight < 0.9


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_lists_of_one_label_are_learned_to_the_bit_like_labels(sparse):
    stream = make_stream(seed=3, n_classes=20, n_features=12, sparse=sparse, n_passes=2)
    assert_lists_of_one_are_labels(_core.RecallTree, stream, {"path_features": "path"})
