"""The core and a reference on the same stream, one example at a time.

The core computes in float32 and the reference in float64. Where a decision hangs on a number that
float32 cannot tell from its threshold, the reference takes the core's side (`Follower`), and counts
how often it had to.
"""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from recalltree import _core
from recalltree.reference import LinearLearner
from recalltree.reference.linear_learner import GRADIENT_FLOOR, HingeLoss, score

# Numbers closer than this, relative to their size if they are large, are equal as far as float32
# after thousands of updates can tell.
AMBIGUOUS = 2e-5
WEIGHT_TOLERANCE = 1e-4


ZERO_IS_NONE = {
    "max_candidates",
    "max_depth",
    "count_decay",
    "memory_budget",
    "negative_samples",
    "max_nodes",
}


def close_to(threshold, number):
    return abs(number - threshold) <= AMBIGUOUS * max(1.0, abs(threshold))


class CoreModel:
    """A model of the core that learns single rows of a stream.

    Parameters
    ----------
    make : type
        ``_core.RecallTree``, ``_core.OneAgainstAll`` or ``_core.LOMTree``.
    stream : Stream
        What it is going to learn.
    config : dict
        Parameters by the names of the estimators; None is "automatic" or "off", 0 in the core.
    """

    def __init__(self, core, make, stream, config):
        self.core = core
        self.stream = stream
        self.csr = sp.csr_array(stream.X.astype(np.float32)) if stream.sparse else None
        self.X = stream.X.astype(np.float32)
        given = {name: 0 if value is None else value for name, value in config.items()}
        self.model = make(n_features=stream.n_features, sparse=stream.sparse, **given)

    def reference_config(self):
        """Parameters of a reference of the same behaviour, defaults included."""
        config = dict(self.model.config)
        for name in ("sparse", "seed"):
            config.pop(name, None)
        return {
            name: None if value == 0 and name in ZERO_IS_NONE else value
            for name, value in config.items()
        }

    def rows(self, row):
        """One row as the core takes it."""
        if self.csr is None:
            return self.core.Rows.dense(self.X[row : row + 1])
        begin, end = self.csr.indptr[row : row + 2]
        indptr = np.array([0, end - begin], dtype=np.int64)
        indices = self.csr.indices[begin:end].astype(np.int64)
        data = self.csr.data[begin:end]
        return self.core.Rows.csr(indptr, indices, data, self.stream.n_features)

    def learn(self, row, first_pass):
        weight = self.stream.weights[row : row + 1].astype(np.float32)
        if self.stream.lists is None:
            labels, offsets = self.stream.labels[row : row + 1], None
        else:
            labels = np.array(self.stream.lists[row], dtype=np.uint32)
            offsets = np.array([0, len(labels)], dtype=np.int64)
        self.model.learn(self.rows(row), labels, weight, None, 1, first_pass, offsets)

    def learn_together(self, rows, first_pass, n_threads):
        """Learn several rows, as a mini-batch if there are not too many."""
        if self.csr is None:
            X = self.core.Rows.dense(self.X)
        else:
            indptr, indices = self.csr.indptr.astype(np.int64), self.csr.indices.astype(np.int64)
            X = self.core.Rows.csr(indptr, indices, self.csr.data, self.stream.n_features)
        labels, offsets = self.stream.labels, None
        if self.stream.lists is not None:
            labels = np.array([y for row in self.stream.lists for y in row], dtype=np.uint32)
            offsets = np.cumsum([0, *map(len, self.stream.lists)], dtype=np.int64)
        weights = self.stream.weights.astype(np.float32)
        order = np.array(rows, dtype=np.int64)
        self.model.learn(X, labels, weights, order, n_threads, first_pass, offsets)

    def predict(self, row):
        return int(self.model.predict(self.rows(row), 1)[0])

    def route(self, row):
        return self.model.route(self.rows(row))[1].tolist()

    def candidates(self, row):
        _, labels, scores = self.model.candidates(self.rows(row), 1)
        return labels.tolist(), scores.tolist()


class Follower:
    """Counts the decisions of a reference, and those where it followed the core."""

    def __init__(self):
        self.decisions = 0
        self.followed = 0

    def choose(self, own, ambiguous, core_says):
        """Return the own decision, or the core's if it is a matter of rounding.

        `core_says` is a function, because it may be expensive, that returns None if the core left
        no trace of its decision.
        """
        self.decisions += 1
        if not ambiguous:
            return own
        theirs = core_says()
        if theirs is None or theirs == own:
            return own
        self.followed += 1
        return theirs

    def assert_rare(self, share=0.001):
        assert self.followed <= 2 + share * self.decisions, (self.followed, self.decisions)


class FollowingLearner(LinearLearner):
    """A learner that asks the core whether an example is worth learning, where that is unclear.

    It is not if the gradient is too small or, for hinge, if the score is beyond the hinge.

    Parameters
    ----------
    learner : LinearLearner
        The learner whose place it takes.
    core_row : callable
        Given a router or predictor, the same row of weights in the core after it has learned.
    """

    def __init__(self, learner, core_row):
        self.__dict__.update(learner.__dict__)
        self.follower = Follower()
        self.core_row = core_row

    def learn(self, terms, target, importance, min_gradient=0.0, *, p=None, rate=None):
        self.floor = max(min_gradient, GRADIENT_FLOOR)
        p = score(terms) if p is None else p
        studied = {"p": p, "rate": rate}
        margin = AMBIGUOUS * max(1.0, abs(p))
        ambiguous = self.is_worth_it(p - margin, target) != self.is_worth_it(p + margin, target)
        self.forced_gradient = self.least_gradient(p, target) if ambiguous else None

        def core_learned():
            learned = copy.deepcopy(terms)
            super(FollowingLearner, self).learn(
                learned, target, importance, min_gradient, **studied
            )
            row = self.core_row(terms[0].model)
            return distance(row, learned[0].model) < distance(row, terms[0].model)

        if self.follower.choose(self.is_worth_it(p, target), ambiguous, core_learned):
            super().learn(terms, target, importance, min_gradient, **studied)

    def assert_rare(self):
        # A step of hinge ends at the hinge, where the same example finds itself the next time.
        self.follower.assert_rare(share=0.02 if self.loss is HingeLoss else 0.001)

    def gradient(self, terms, p, target):
        if self.forced_gradient is not None:
            return self.forced_gradient
        return super().gradient(terms, p, target)

    def is_worth_it(self, p, target):
        return abs(self.loss.gradient(p, target)) >= self.floor

    def least_gradient(self, p, target):
        """Return the gradient, large enough to be learned."""
        if self.loss is HingeLoss:
            return -target
        gradient = self.loss.gradient(p, target)
        return math.copysign(max(abs(gradient), self.floor), gradient)


def distance(row, model):
    """How far a row of weights of the core is from a `LinearModel`, rates included."""
    return (
        np.abs(row["weights"] - model.weights).sum()
        + abs(row["bias"] - model.bias)
        + abs(row["bias_accumulator"] - model.accumulators[-1])
    )


def assert_close(theirs, ours, what, tolerance=WEIGHT_TOLERANCE, scale=1.0):
    """Numbers within the tolerance, absolute and relative; quicker than what NumPy has for it."""
    theirs, ours = np.asarray(theirs, dtype=float), np.asarray(ours, dtype=float)
    assert theirs.shape == ours.shape, what
    if not (np.abs(theirs - ours) <= tolerance * np.maximum(scale, np.abs(ours))).all():
        raise AssertionError(f"{what}: {theirs} in the core, {ours} in the reference")


def assert_rows_agree(theirs, model, what):
    """A row of weights of the core against a `LinearModel`."""
    assert_close(theirs["weights"], model.weights, f"weights of {what}")
    assert_close(theirs["bias"], model.bias, f"bias of {what}")


def assert_lists_of_one_are_labels(make, stream, config):
    """Two models of the core, one of labels and one of lists, end in the same state."""

    def state(lists):
        core = CoreModel(_core, make, replace(stream, lists=lists), config)
        for _, row, _, _, _, first_pass in stream.steps():
            core.learn(row, first_pass)
        return core.model.state()

    plain, lists = state(None), state([[label] for label in stream.labels.tolist()])
    assert plain.keys() <= lists.keys()
    for name, array in plain.items():
        np.testing.assert_array_equal(lists[name], array, err_msg=name)
