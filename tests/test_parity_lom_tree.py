"""The core's LOMTree does what the reference does, example by example."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import (
    CoreModel,
    Follower,
    FollowingLearner,
    assert_close,
    assert_rows_agree,
    close_to,
)
from streams import configs, make_stream, parity_settings, streams

from recalltree import _core
from recalltree.reference import LOMTreeReference
from recalltree.reference.linear_learner import Term

CHECK_WEIGHTS_EVERY = 200


class FollowingLOMTree(LOMTreeReference):
    """The reference; where float32 cannot tell, it takes the core's side."""

    def __init__(self, core):
        super().__init__(**core.reference_config())
        self.core = core
        self.follower = Follower()
        self.plain_learner = self.learner
        self.learner = FollowingLearner(self.learner, self.core_row)
        self.predicting = False
        self.learning = None  # scaled example and weight
        self.visited = []  # nodes an example passed in learning
        self.last_route = None
        self.core_route = []  # where the core's prediction went
        self.before = self.after = {}  # the core's tree before and after it learned the example

    def learn(self, x, y, weight, first_pass):
        self.visited = [self.root]
        super().learn(x, y, weight, first_pass)

    def update_router(self, z, y, weight, node):
        self.learning = z, weight
        child = super().update_router(z, y, weight, node)
        self.visited.append(child)
        return child

    def route(self, x):
        self.predicting = True
        self.last_route = super().route(x)
        self.predicting = False
        return self.last_route

    def goes_right(self, node, margin):
        core_says = self.core_predicts_right if self.predicting else self.core_learned_right
        own = super().goes_right(node, margin)
        return self.follower.choose(own, close_to(0.0, margin), lambda: core_says(node))

    def core_predicts_right(self, node):
        return self.core_route[self.core_route.index(node.number) + 1] == node.right.number

    def core_learned_right(self, node):
        gained = [self.core_gain(child.number) for child in (node.left, node.right)]
        return None if gained[0] == gained[1] else gained[1] > gained[0]

    def core_gain(self, number):
        """Gain of the weight of the examples at a node; less for a leaf that is new."""

        def mass(tree):
            if number >= len(tree["left"]):
                return 0.0
            leaf = tree["left"][number] < 0
            return tree["min_count"][number] if leaf else tree["margin_weight"][number]

        was_leaf = number >= len(self.before["left"]) or self.before["left"][number] < 0
        is_leaf = self.after["left"][number] < 0
        return mass(self.after) - (mass(self.before) if was_leaf == is_leaf else 0.0)

    def target(self, node, node_mean, class_mean):
        def core_says():
            bias = self.core.model.router(node.number)["bias"]
            return min((+1, -1), key=lambda target: abs(self.bias_after(node, target) - bias))

        # Equal means are those of a node that has seen one class, in the core as here.
        ambiguous = close_to(node_mean, class_mean) and node_mean != class_mean
        own = super().target(node, node_mean, class_mean)
        return self.follower.choose(own, ambiguous, core_says)

    def bias_after(self, node, target):
        """Bias of a router if it learned this target."""
        z, weight = self.learning
        router = copy.deepcopy(node.router)
        self.plain_learner.learn([Term(router, z)], target, weight)
        return router.bias

    def core_row(self, model):
        number = next(node.number for node in self.nodes if node.router is model)
        return self.core.model.router(number)


def run(stream, config):
    """Feed a stream to both and compare after every step."""
    core = CoreModel(_core, _core.LOMTree, stream, config)
    reference = FollowingLOMTree(core)
    reference.after = core.model.tree()
    for position, row, x, y, weight, first_pass in stream.steps():
        answer = core_candidates = None
        if position > 0:
            reference.core_route = core.route(row)
            answer = core.predict(row)
            core_candidates, _ = core.candidates(row)
            assert reference.predict(x) == answer
            assert [node.number for node in reference.last_route] == reference.core_route
            assert reference.last_route[-1].candidates() == core_candidates
        core.learn(row, first_pass)
        reference.before, reference.after = reference.after, core.model.tree()
        reference.learn(x, y, weight, first_pass)

        assert_tree_agrees(core.model, reference)
        assert core.model.n_classes_seen == len(reference.classes_seen)
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        if position % CHECK_WEIGHTS_EVERY == 0:
            assert_weights_agree(core.model, reference)
    assert_weights_agree(core.model, reference)
    reference.follower.assert_rare()
    reference.learner.assert_rare()
    return reference


def number_of(node):
    return -1 if node is None else node.number


def assert_tree_agrees(model, reference):
    """The shape of the tree and all counts; classes and margins of the nodes just visited."""
    tree = model.tree()
    nodes = reference.nodes
    assert tree["root"].tolist() == [reference.root.number]
    for name in ("left", "right", "parent"):
        assert tree[name].tolist() == [number_of(getattr(node, name)) for node in nodes]
    answers = [-1 if node.majority is None else node.majority for node in nodes]
    assert tree["majority"].tolist() == answers
    assert tree["min_count"].tolist() == [node.min_count for node in nodes]
    assert tree["margin_weight"].tolist() == [node.margins.weight for node in nodes]

    for node in reference.visited:
        if node.router is None:
            labels, counts = model.histogram(node.number)
            assert labels.tolist() == node.candidates()
            assert counts.tolist() == [node.counts[y] for y in node.candidates()]
            continue
        labels, sums, weights = model.margins(node.number)
        margins = node.class_margins.values()
        assert labels.tolist() == list(node.class_margins)
        assert weights.tolist() == [margin.weight for margin in margins]
        # Every margin in a sum may be off by the tolerance.
        scale = max(1.0, node.margins.weight)
        assert_close(tree["margin_sum"][node.number], node.margins.sum, "margin sum", scale=scale)
        assert_close(sums, [margin.sum for margin in margins], "margin sums", scale=scale)


def assert_weights_agree(model, reference):
    for node in reference.nodes:
        if node.router is not None:
            assert_rows_agree(model.router(node.number), node.router, f"router {node.number}")


CHOICES = {
    "max_nodes": [None, None, 1, 6, 30],
    "swap_resistance": [4.0, 1.0, 0.1],
    "learning_rate": [1.0, 0.3],
    "l2": [0.0, 0.0, 1e-3],
}
LOSSES = ["logistic", "hinge", "squared"]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
@parity_settings(max_examples=3)
@given(data=st.data())
def test_every_step_agrees(sparse, loss, data):
    salt = sparse, LOSSES.index(loss)
    stream = data.draw(streams(*salt, sparse=sparse))
    run(stream, {"loss": loss, **data.draw(configs(*salt, choices=CHOICES))})


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_swaps_agree(sparse):
    stream = make_stream(seed=2, n_classes=30, n_features=10, sparse=sparse, weighted=True)
    reference = run(stream, {"max_nodes": 8, "swap_resistance": 0.2})
    assert reference.n_swaps > 20


def test_routers_that_do_not_learn_agree():
    """A router without a gradient is asked again after others made its features' tables move."""
    stream = make_stream(seed=2, n_classes=100, n_features=30, sparse=True)
    run(stream, {"loss": "hinge", "learning_rate": 0.5})
