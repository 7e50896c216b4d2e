"""One-against-some with several threads against the reference, after every mini-batch."""

import copy

import numpy as np
import pytest
from side_by_side import CoreModel, assert_close, close_to
from streams import make_stream, with_several_labels
from test_parity_cells import FollowingCells, assert_vectors_agree, with_block
from test_parity_memory_budget import FollowingMemoryBudget, budget
from test_parity_one_against_some import (
    VOTE_TOLERANCE,
    FollowingOneAgainstSome,
    assert_classes_agree,
    assert_keys_agree,
    assert_nodes_agree,
)

from recalltree import _core
from recalltree.reference import OneAgainstSomeReference
from recalltree.reference.cells import SMALL_GRADIENT
from recalltree.reference.memory_budget import MemoryBudget

#: Gradients this near to the smallest that is learned: rounding decides.
AMBIGUOUS_GRADIENT = 2e-4

#: What a reference has seen of the core before a row was learned.
SEEN = [
    "answer",
    "core_rankings",
    "core_nodes",
    "core_labels",
    "core_biases",
    "core_frequent",
    "core_candidates",
    "core_scores",
    "core_label",
    "last",
    "last_label",
    "last_keys",
    "row",
    "biases",
    "core_near",
]


class Together:
    """A reference that learns mini-batches; each row is studied with what was seen of the core."""

    def learn_watched(self, steps, seen, state):
        self.state, self.first_pass = state, steps[0][-1]
        self.places = iter(enumerate(zip(steps, seen, strict=True)))
        self.leaving_out, self.counting = not self.first_pass, self.first_pass
        self.learn_together([(x, y, weight) for _, _, x, y, weight, _ in steps], self.first_pass)
        self.leaving_out = self.counting = False

    def study(self, x, y, weight, first_pass, n_classes):
        self.place, (step, seen) = next(self.places)
        self.__dict__.update(seen)
        self.row, self.weight, self.clone = step[1], weight, None
        studied = super().study(x, y, weight, first_pass, n_classes)
        if first_pass and n_classes > 0:
            assert self.last_label == self.core_label
            assert self.last_keys == self.core_nodes
            candidates, scores = self.last
            assert candidates == self.core_candidates
            assert_close(self.core_scores, scores, "scores", VOTE_TOLERANCE, scale=self.score_scale)
        return studied

    def goes_right(self, node, margin):
        # Where it cannot tell, it looks where the core has counted the row.
        if not close_to(0.0, margin):
            return super().goes_right(node, margin)
        before, self.core = self.core, self.core_after()
        right = super().goes_right(node, margin)
        self.core = before
        return right

    def core_after(self):
        """The core, had it learned the row alone; a mini-batch may teach a class more than once."""
        if self.clone is None:
            state = dict(self.state)
            if not self.first_pass:  # their number decides which features are dropped
                state["n_examples"] = state["n_examples"] + np.uint64(self.place)
            self.clone = copy.copy(self.core)
            self.clone.model = type(self.core.model).from_state(state, **self.core.model.config)
            self.clone.learn(self.row, self.first_pass)
        return self.clone

    def is_worth_it(self, label, gradient):
        def core_learned():
            before, self.core = self.core, self.core_after()
            learned = self.core_bias(label) != self.core_biases.get(label, 0.0)
            self.core = before
            return learned

        own = OneAgainstSomeReference.is_worth_it(self, label, gradient)
        ambiguous = abs(abs(gradient) - self.small_gradient) < AMBIGUOUS_GRADIENT
        return self.follower.choose(own, ambiguous, core_learned)


class FollowingTogether(Together, FollowingOneAgainstSome):
    """Features and trees."""


class FollowingCellsTogether(Together, FollowingCells):
    """Cells, with or without trees and features. Class vectors learn when rows are applied."""

    def study(self, *example):
        studied = super().study(*example)
        for label, gradient in studied.gradients.items():
            if abs(abs(gradient) - SMALL_GRADIENT) < AMBIGUOUS_GRADIENT:
                learned = self.core_after().model.class_vector(label)["bias"]
                self.unsure[label, gradient] = learned != self.biases.get(label, 0.0)
        return studied

    def cells_learn(self, label, gradient):
        own = self.own_is_worth_it(label, gradient)
        unsure = (label, gradient) in self.unsure
        return self.cells_follower.choose(own, unsure, lambda: self.unsure[label, gradient])

    def learn_watched(self, *mini_batch):
        self.unsure = {}
        super().learn_watched(*mini_batch)


class FollowingBudgetTogether(FollowingTogether):
    """Little memory: both take as many bytes at the end of every mini-batch."""

    def __init__(self, core):
        super().__init__(core)
        self.budget = FollowingMemoryBudget(core, self.budget.limit)

    def learn_together(self, examples, first_pass=True):
        super().learn_together(examples, first_pass)
        theirs = sum(self.core.model.memory_bytes().values())
        assert MemoryBudget.bytes_of(self) == theirs <= self.budget.limit


def run_together(stream, config, n_threads, following=FollowingTogether):
    """Feed a stream to both and compare after every mini-batch."""
    core = CoreModel(_core, _core.OneAgainstSome, stream, config)
    reference = following(core)
    steps = list(stream.steps())
    n_rows, sizes = len(stream.X), set()
    while steps:
        first_pass = steps[0][-1]
        left = n_rows - steps[0][0] % n_rows
        part = steps[: min(reference.next_mini_batch(first_pass), left)]
        steps = steps[len(part) :]
        sizes.add(len(part))
        seen = []
        for _, row, x, *_ in part:
            reference.watch(row, x)
            seen.append(
                {name: getattr(reference, name) for name in SEEN if hasattr(reference, name)}
            )
        state = core.model.state()
        core.learn_together([row for _, row, *_ in part], first_pass, n_threads)
        reference.learn_watched(part, seen, state)

        assert core.model.n_classes_seen == len(reference.classes)
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        assert_close(core.model.vote_scales, reference.scales.values, "vote scales", VOTE_TOLERANCE)
        assert core.model.n_nodes == len(reference.forest.nodes)
        keys = np.flatnonzero(sum(x[: reference.n_features] != 0 for _, _, x, *_ in part))
        assert_keys_agree(core.model, reference, keys)
        labels = {y for step in part for y in (step[3] if stream.lists else [step[3]])}
        assert_classes_agree(core.model, reference, labels)
    assert_classes_agree(core.model, reference, reference.classes)
    assert_keys_agree(core.model, reference, range(reference.n_features))
    assert_nodes_agree(core.model, reference)
    reference.follower.assert_rare(share=0.005)
    assert max(sizes) >= 16
    return reference


@pytest.mark.parametrize(("n_threads", "n_passes"), [(2, 1), (3, 3)])
@pytest.mark.parametrize(
    ("keys", "sparse"), [("features", True), ("both", False), ("trees", True), ("path", False)]
)
def test_mini_batches_agree(keys, sparse, n_threads, n_passes):
    stream = make_stream(
        seed=31, n_classes=40, n_features=20, sparse=sparse, weighted=True, n_passes=n_passes
    )
    config = {"keys": keys, "n_trees": 2, "seed": 3, "feature_dropout": 0.3, "max_candidates": 40}
    reference = run_together(stream, config, n_threads)
    assert reference.progressive.errors < 0.9 * reference.progressive.weight


@pytest.mark.parametrize("keys", ["features", "trees"])
def test_mini_batches_with_several_labels_agree(keys):
    stream = make_stream(seed=32, n_classes=30, n_features=20, sparse=True, weighted=True)
    run_together(with_several_labels(stream, seed=4), {"keys": keys}, n_threads=2)


@pytest.mark.parametrize("keys", ["features", "trees"])
def test_mini_batches_agree_while_counts_fade(keys):
    stream = make_stream(seed=33, n_classes=20, n_features=15, sparse=True, late=False)
    run_together(stream, {"keys": keys, "count_decay": 12.0}, n_threads=3)


def test_mini_batches_agree_in_little_memory():
    stream = make_stream(seed=34, n_classes=40, n_features=60, sparse=True)
    config = {"keys": "features"}
    config["memory_budget"] = budget(stream, config, share=0.6)
    reference = run_together(stream, config, 2, following=FollowingBudgetTogether)
    assert reference.budget.n_forgotten > 0
    assert reference.budget.n_followed < 0.1 * reference.budget.n_forgotten


@pytest.mark.parametrize("n_passes", [1, 2])
@pytest.mark.parametrize("keys", ["cells", "cells+trees"])
@pytest.mark.parametrize("has_block", [False, True], ids=["dense", "hybrid"])
def test_mini_batches_of_cells_agree(keys, has_block, n_passes):
    stream = make_stream(
        seed=35, n_classes=30, n_features=12, sparse=has_block, n_passes=n_passes, late=False
    )
    config = {"keys": keys, "max_candidates": 40, "n_trees": 2}
    if has_block:
        stream = with_block(stream, seed=3)
        config["n_dense_features"] = 8
    reference = run_together(stream, config, 2, following=FollowingCellsTogether)
    reference.row = stream.order[-1]
    assert_vectors_agree(reference, stream.X[stream.order[-1]], list(reference.classes))
    reference.cells_follower.assert_rare(share=0.02)
