"""Cells of the core against the reference, after every step.

Principal directions have no sign, and sketches round: the two may differ in what comes last among
the near classes. Vectors are compared by their products, which no basis changes.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import Follower, assert_close
from streams import configs, make_stream, parity_settings, streams, with_several_labels
from test_parity_one_against_some import CHOICES, FollowingOneAgainstSome, run

VECTOR_TOLERANCE = 2e-3
# Tolerance of a candidate's score by its sketch: a step of rounding in a number or two.
SKETCH_TOLERANCE = 0.5


class FollowingCells(FollowingOneAgainstSome):
    """The reference with cells; where float32 or a sketch cannot tell, it takes the core's side."""

    score_scale = 5.0  # cosines are multiplied by A = 20

    def __init__(self, core):
        super().__init__(core)
        self.row = None
        self.core_near, self.biases = [], {}
        self.cells_follower = Follower()
        self.own_find, self.cells.find = self.cells.find, self.find_near
        self.own_is_worth_it, self.cells.is_worth_it = self.cells.is_worth_it, self.cells_learn

    def watch(self, row, x):
        super().watch(row, x)
        self.row = row
        self.biases = {y: self.core_vector(y)["bias"] for y in self.classes}
        if self.classes:
            self.core_near = self.core.model.near_classes(self.core.rows(row)).tolist()

    def core_vector(self, label):
        return self.core.model.class_vector(label)

    def core_bias(self, label):
        """Return what changes in the core whenever the pairs of a class learn."""
        return self.core.model.predictor(label)["weights"].sum()

    def find_near(self, whitened, n):
        own = self.own_find(whitened, n)
        theirs = self.core_near
        if own == theirs:
            return own
        # Those that only one of the two names are nearly as good as the last of the others.
        known = self.cells.classes
        score = {y: known[y].combined @ whitened + known[y].bias for y in {*own, *theirs}}
        odd = [score[y] for y in set(own) ^ set(theirs)]
        is_close = len(own) == len(theirs) and (
            not odd or max(odd) - min(odd) < SKETCH_TOLERANCE * max(1.0, np.abs(odd).max())
        )
        return self.cells_follower.choose(own, is_close, lambda: theirs)

    def cells_learn(self, label, gradient):
        def core_learned():
            return self.core_vector(label)["bias"] != self.biases.get(label, 0.0)

        ambiguous = abs(abs(gradient) - 0.003) < 1e-3
        return self.follower.choose(self.own_is_worth_it(label, gradient), ambiguous, core_learned)


def products(vectors):
    return np.array([[a @ b for b in vectors] for a in vectors])


def assert_vectors_agree(reference, x, labels):
    """Products of a row and of the vectors of classes, in both."""
    cells, core = reference.cells, reference.core
    ours = [cells.whitening(x[-cells.n_features :])]
    theirs = [core.model.whitened(core.rows(reference.row)).astype(float)]
    for y in labels:
        known, vector = cells.classes[y], reference.core_vector(y)
        assert vector["rows"] == known.rows
        assert_close(vector["bias"], known.bias, f"bias of {y}", VECTOR_TOLERANCE)
        assert_close(vector["squares"], known.squares, f"squares of {y}", VECTOR_TOLERANCE)
        largest = max(1.0, np.abs(vector["sum"]).max())
        ours += [known.sum / cells.unit / largest, known.weights]
        theirs += [vector["sum"] / largest, vector["weights"].astype(float)]
    scale = max(1.0, np.abs(products(ours)).max())
    assert_close(products(theirs), products(ours), "products", VECTOR_TOLERANCE, scale=scale)


class ComparingCells(FollowingCells):
    """Compares what cells know after every step."""

    def learn(self, x, y, weight, first_pass):
        super().learn(x, y, weight, first_pass)
        labels = y if isinstance(y, list) else [y]
        assert_vectors_agree(self, x, {*labels, *self.last[0][:3]} if self.last else {*labels})


def run_cells(stream, config):
    """Feed a stream to both and compare after every step."""
    reference = run(stream, config, following=ComparingCells)
    assert_vectors_agree(reference, stream.X[stream.order[-1]], list(reference.classes))
    reference.cells_follower.assert_rare(share=0.02)
    return reference


def with_block(stream, seed, n_dense=8):
    """Return a stream of rows that have a dense block at their end, too."""
    random = np.random.default_rng(seed)
    centres = random.normal(size=(stream.labels.max() + 1, n_dense))
    block = centres[stream.labels] + 0.8 * random.normal(size=(len(stream.X), n_dense))
    block = block.astype(np.float32).astype(np.float64)
    return replace(stream, X=np.hstack([stream.X, block]))


CELLS = CHOICES | {"cells_read": [64, 1], "idle_cells": [16, 1], "max_candidates": [None, 40, 3, 8]}
KEYS = ["cells", "cells+trees"]


@pytest.mark.parametrize("has_block", [False, True], ids=["dense", "hybrid"])
@pytest.mark.parametrize("keys", KEYS)
@parity_settings(max_examples=2)
@given(data=st.data())
def test_every_step_agrees(has_block, keys, data):
    salt = 11, has_block, KEYS.index(keys)
    stream = data.draw(streams(*salt, sparse=has_block, max_classes=25))
    config = data.draw(configs(*salt, choices=CELLS)) | {"keys": keys}
    if stream.n_passes > 1:
        config["max_candidates"] = 40  # as in test_parity_one_against_some
    if has_block:
        stream = with_block(stream, seed=3)
        config["n_dense_features"] = 8
    run_cells(stream, config)


def test_many_classes_stand_in_the_same_cells():
    stream = make_stream(seed=21, n_classes=300, n_features=18, late=False)
    reference = run_cells(
        stream, {"keys": "cells", "cells_read": 2, "idle_cells": 1, "max_candidates": 8}
    )
    assert reference.cells.tree.root.level == 1


def test_the_whitening_stays_after_the_first_rows():
    first, more = (make_stream(seed=22, n_classes=6, n_features=5, late=False) for _ in range(2))
    X, labels = (
        np.vstack([first.X, more.X[:100]]),
        np.concatenate([first.labels, more.labels[:100]]),
    )
    order = np.arange(len(X))
    stream = replace(first, X=X, labels=labels, weights=np.ones(len(X)), order=order)
    reference = run_cells(stream, {"keys": "cells"})
    assert not reference.cells.first_rows


@pytest.mark.parametrize("n_passes", [1, 2])
def test_several_labels_agree(n_passes):
    stream = make_stream(seed=24, n_classes=20, n_features=9, n_passes=n_passes)
    run_cells(with_several_labels(stream, seed=5), {"keys": "cells"})


@pytest.mark.parametrize("keys", KEYS)
def test_counts_agree_after_many_half_lives(keys):
    stream = make_stream(seed=23, n_classes=12, n_features=9, late=False)
    run_cells(stream, {"keys": keys, "count_decay": 30.0})  # units change once
