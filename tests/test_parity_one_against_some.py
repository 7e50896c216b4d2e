"""One-against-some of the core against the reference, after every step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import CoreModel, Follower, assert_close, close_to
from streams import configs, make_stream, parity_settings, streams

from recalltree import _core
from recalltree.reference import OneAgainstSomeReference
from recalltree.reference.one_against_some import SMALL_GRADIENT

CHECK_ALL_EVERY = 500
COUNT_TOLERANCE = 1e-5
# Votes and gradients are sums and exponentials of numbers that float32 has rounded.
VOTE_TOLERANCE = 1e-3


class FollowingOneAgainstSome(OneAgainstSomeReference):
    """The reference; where float32 cannot tell, it takes the core's side."""

    def __init__(self, core):
        super().__init__(**core.reference_config())
        self.core = core
        self.follower = Follower()
        self.core_candidates = []
        self.core_label = None
        self.core_rankings = {}
        self.last = None

    def watch(self, row, x):
        """See what the core makes of a row before it learns it."""
        self.core_rankings = {
            int(k): self.core.model.histogram(int(k))["labels"].tolist() for k in np.flatnonzero(x)
        }
        self.core_accumulators = {y: self.core_accumulator(y) for y in self.classes}
        if self.classes:
            self.core_candidates, self.core_scores = self.core.candidates(row)
            self.core_label = self.core.predict(row)

    def core_accumulator(self, label):
        """Return what grows in the core whenever a class learns."""
        return self.core.model.predictor(label)["bias_accumulator"]

    def ranking(self, key):
        # Sums of the same shares in another order may differ in their last digit.
        counts = self.histograms[key].counts
        theirs = self.core_rankings[int(key)]
        own = super().ranking(key)
        assert_close([counts[y] for y in theirs], [counts[y] for y in own], "ranking")
        return theirs

    def best_candidates(self, values):
        own = super().best_candidates(values)
        if self.leaving_out or own == self.core_candidates:
            return own
        theirs = self.core_candidates
        largest = [values[y] for y in own]
        assert_close([values[y] for y in theirs], largest, "votes", VOTE_TOLERANCE)
        return theirs

    def best(self, scored):
        own = super().best(scored)
        self.last = scored.candidates, scored.scores()
        by_label = dict(zip(*self.last, strict=True))
        theirs = by_label.get(self.core_label, -np.inf)
        ambiguous = close_to(max(by_label.values()), theirs)
        return self.follower.choose(own, ambiguous, lambda: self.core_label)

    def is_worth_it(self, label, gradient):
        def core_learned():
            return self.core_accumulator(label) > self.core_accumulators.get(label, 0.0)

        ambiguous = abs(abs(gradient) - SMALL_GRADIENT) < VOTE_TOLERANCE
        return self.follower.choose(super().is_worth_it(label, gradient), ambiguous, core_learned)

    def learn(self, x, y, weight, first_pass):
        self.leaving_out = not first_pass
        super().learn(x, y, weight, first_pass)
        self.leaving_out = False


def run(stream, config):
    """Feed a stream to both and compare after every step."""
    core = CoreModel(_core, _core.OneAgainstSome, stream, config)
    reference = FollowingOneAgainstSome(core)
    reference.leaving_out = False
    for position, row, x, y, weight, first_pass in stream.steps():
        reference.watch(row, x)
        if position > 0:
            assert reference.predict(x) == reference.core_label
            assert reference.last[0] == reference.core_candidates
            assert_close(reference.core_scores, reference.last[1], "scores", VOTE_TOLERANCE)
        core.learn(row, first_pass)
        reference.learn(x, y, weight, first_pass)

        assert core.model.n_classes_seen == len(reference.classes)
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        scale = reference.vote_scale.values[0]
        assert_close(core.model.vote_scale, scale, "vote scale", VOTE_TOLERANCE)
        assert_keys_agree(core.model, reference, np.flatnonzero(x))
        assert_classes_agree(core.model, reference, [y])
        if position % CHECK_ALL_EVERY == 0:
            assert_classes_agree(core.model, reference, reference.classes)
    assert_classes_agree(core.model, reference, reference.classes)
    assert_keys_agree(core.model, reference, range(stream.n_features))
    # Two thirds of the gradients of a few candidates can be anywhere.
    reference.follower.assert_rare(share=0.005)
    return reference


def assert_keys_agree(model, reference, keys):
    for k in keys:
        theirs = model.histogram(int(k))
        counts = reference.histograms[k].counts
        largest = sorted(counts.values(), reverse=True)[: reference.max_labels]
        assert_close(theirs["counts"], largest, "counts", COUNT_TOLERANCE)
        own = [counts[y] for y in theirs["labels"].tolist()]
        assert_close(theirs["counts"], own, "counts of labels", COUNT_TOLERANCE)
        examples = reference.examples_with_key[k]
        assert_close(theirs["examples"], examples, "examples", COUNT_TOLERANCE)
        weight = reference.key_weights.values[k]
        assert_close(theirs["weight"], weight, "key weight", VOTE_TOLERANCE)


def assert_classes_agree(model, reference, labels):
    for y in labels:
        theirs, ours = model.predictor(y), reference.classes[y]
        assert_close(theirs["counts"], ours.counts, f"counts of class {y}", COUNT_TOLERANCE)
        assert_close(theirs["count"], ours.counts.sum(), f"count of class {y}", COUNT_TOLERANCE)
        assert_close(theirs["examples"], ours.examples, f"examples of {y}", COUNT_TOLERANCE)
        assert_close(theirs["weights"], ours.weights, f"weights of {y}", VOTE_TOLERANCE)
        assert_close(theirs["bias"], ours.bias.values[0], f"bias of {y}", VOTE_TOLERANCE)


CHOICES = {
    "max_candidates": [40, 1, 3, 8],
    "max_labels": [512, 1, 4, 10],
    "max_entries": [2500, 15, 60],
    "sublinear_tf": [True, True, False],
    "use_idf": [True, True, False],
    "normalize": [True, True, False],
    "learning_rate": [1.0, 0.3],
    "l2": [0.0, 0.0, 1e-2],
    "count_decay": [None, None, 300.0],
}


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@parity_settings(max_examples=4)
@given(data=st.data())
def test_every_step_agrees(sparse, data):
    stream = data.draw(streams(sparse, 1, sparse=sparse, max_classes=25))
    config = data.draw(configs(sparse, 2, choices=CHOICES))
    if stream.n_passes > 1:
        # Where an example that is left out has two equal candidates for the last place cannot be
        # seen from outside; test_small_histograms_agree has no such example.
        config["max_candidates"] = 40
    run(stream, config)


@pytest.mark.parametrize("n_passes", [1, 3])
def test_defaults_agree_while_classes_keep_arriving(n_passes):
    stream = make_stream(
        seed=7, n_classes=70, n_features=30, sparse=True, weighted=True, n_passes=n_passes
    )
    reference = run(stream, {})
    assert reference.progressive.errors < 0.8 * reference.progressive.weight


def test_small_histograms_agree():
    stream = make_stream(seed=9, n_classes=40, n_features=20, sparse=True, n_passes=2)
    reference = run(stream, {"max_labels": 5, "max_entries": 30, "max_candidates": 6})
    assert max(len(histogram.counts) for histogram in reference.histograms) > 5


def test_counts_agree_after_many_half_lives():
    stream = make_stream(seed=13, n_classes=20, n_features=15, sparse=True, late=False)
    run(stream, {"count_decay": 12.0})
