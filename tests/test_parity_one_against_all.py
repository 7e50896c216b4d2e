"""The core's one-against-all does what the reference does, example by example."""

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
from streams import configs, make_stream, parity_settings, streams, with_several_labels

from recalltree import _core
from recalltree.reference import OneAgainstAllReference

CHECK_WEIGHTS_EVERY = 200


class FollowingOneAgainstAll(OneAgainstAllReference):
    """The reference; where float32 cannot tell, it takes the core's side."""

    def __init__(self, core, sample=None):
        super().__init__(**core.reference_config(), sample=sample)
        self.core = core
        self.follower = Follower()
        self.learner = FollowingLearner(self.learner, self.core_row)
        self.core_label = None

    def best(self, candidates, scores):
        own = super().best(candidates, scores)
        score_of_theirs = scores[candidates.index(self.core_label)]
        ambiguous = close_to(max(scores), score_of_theirs)
        return self.follower.choose(own, ambiguous, lambda: self.core_label)

    def core_row(self, model):
        label = next(y for y, predictor in self.predictors.items() if predictor is model)
        return self.core.model.predictor(label)


def assert_weights_agree(model, reference):
    for label, predictor in reference.predictors.items():
        assert_rows_agree(model.predictor(label), predictor, f"predictor {label}")


def run(stream, config):
    """Feed a stream to both and compare after every step."""
    core = CoreModel(_core, _core.OneAgainstAll, stream, config)
    reference = FollowingOneAgainstAll(core)
    for position, row, x, y, weight, first_pass in stream.steps():
        if core.model.n_classes_seen > 0:
            reference.core_label = core.predict(row)
            assert reference.predict(x) == reference.core_label
            candidates, scores = reference.scores(x)
            core_candidates, core_scores = core.candidates(row)
            assert core_candidates == candidates
            assert_close(core_scores, scores, "scores")
        core.learn(row, first_pass)
        reference.learn(x, y, weight, first_pass)
        assert core.model.n_classes_seen == len(reference.predictors)
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        if position % CHECK_WEIGHTS_EVERY == 0:
            assert_weights_agree(core.model, reference)
    assert_weights_agree(core.model, reference)
    reference.follower.assert_rare()
    reference.learner.assert_rare()


CHOICES = {"learning_rate": [1.0, 0.3, 2.0], "l2": [0.0, 0.0, 1e-3]}
LOSSES = ["logistic", "hinge", "squared"]


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
@parity_settings(max_examples=3)
@given(data=st.data())
def test_every_step_agrees(sparse, loss, data):
    salt = sparse, LOSSES.index(loss)
    stream = data.draw(streams(*salt, sparse=sparse, max_classes=20))
    run(stream, {"loss": loss, **data.draw(configs(*salt, choices=CHOICES))})


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("loss", LOSSES)
@parity_settings(max_examples=2)
@given(data=st.data())
def test_every_step_agrees_with_several_labels(sparse, loss, data):
    salt = sparse, LOSSES.index(loss), 2
    stream = with_several_labels(data.draw(streams(*salt, sparse=sparse, max_classes=20)), seed=1)
    run(stream, {"loss": loss, **data.draw(configs(*salt, choices=CHOICES))})


@pytest.mark.parametrize("negative_samples", [None, 3])
def test_lists_of_one_label_are_learned_to_the_bit_like_labels(negative_samples):
    stream = make_stream(seed=3, n_classes=20, n_features=12, n_passes=2)
    config = {"negative_samples": negative_samples, "seed": 4}
    assert_lists_of_one_are_labels(_core.OneAgainstAll, stream, config)


def row_of(model, label):
    row = model.predictor(label)
    return np.append(row["weights"], row["bias"])


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("negative_samples", [1, 3])
@pytest.mark.parametrize("lists", [False, True], ids=["labels", "lists"])
def test_sampled_negatives_agree(sparse, negative_samples, lists):
    # The core draws; whose weights changed shows which classes it drew, and the reference learns
    # these.
    n_classes = 12
    stream = make_stream(seed=3, n_classes=n_classes, n_features=6, sparse=sparse, weighted=True)
    if lists:
        stream = with_several_labels(stream, seed=4)
    core = CoreModel(
        _core, _core.OneAgainstAll, stream, {"negative_samples": negative_samples, "seed": 5}
    )
    drawn = []

    def sample(others, m):
        assert len(drawn) <= m
        assert set(drawn) <= set(others)
        return drawn

    reference = FollowingOneAgainstAll(core, sample)
    times_drawn, expected = np.zeros(n_classes), np.zeros(n_classes)
    n_drawn = n_draws = 0
    for _, row, x, y, weight, _ in stream.steps():
        labels = y if lists else [y]
        others = [label for label in reference.predictors if label not in labels]
        before = {label: row_of(core.model, label) for label in others}
        if core.model.n_classes_seen > 0:
            reference.core_label = core.predict(row)
        core.learn(row, True)
        drawn = [label for label in others if (row_of(core.model, label) != before[label]).any()]
        reference.learn(x, y, weight, True)
        assert core.model.progressive_weight == reference.progressive.weight
        assert core.model.progressive_errors == reference.progressive.errors
        if len(reference.predictors) == n_classes:
            times_drawn[drawn] += 1
            expected[others] += negative_samples / len(others)
            n_drawn += len(drawn)
            n_draws += negative_samples
    assert_weights_agree(core.model, reference)
    # A draw is invisible only if the class was so sure already that it learned nothing.
    assert n_drawn >= 0.8 * n_draws > 500
    # All others alike: 4 standard deviations of a count around what is expected.
    assert (np.abs(times_drawn - expected) < 4 * np.sqrt(expected)).all()
