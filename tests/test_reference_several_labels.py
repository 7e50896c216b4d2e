"""The reference of one-against-some with several labels per row: what it promises."""

import numpy as np
import pytest
from streams import make_stream, with_several_labels

from recalltree.reference import OneAgainstSomeReference
from recalltree.reference.adaptive import softmax
from recalltree.reference.label_loss import gradients


def topics(n, n_labels=12, n_words=60, seed=0):
    """Rows of words that come from all labels of the row."""
    random = np.random.default_rng(seed)
    likely = np.random.default_rng(99).random((n_labels, n_words)) < 0.12
    lists = [
        random.choice(n_labels, size=random.integers(1, 4), replace=False).tolist()
        for _ in range(n)
    ]
    chance = np.array([likely[row].max(axis=0) * 0.6 + 0.03 for row in lists])
    return (random.random((n, n_words)) < chance).astype(float), lists


def learned(X, lists, **parameters):
    model = OneAgainstSomeReference(X.shape[1], sparse=True, **parameters)
    for x, labels in zip(X, lists, strict=True):
        model.learn(x, labels)
    return model


def recall(model, X, lists):
    """How many of a row's labels are among as many answers."""
    found = []
    for x, labels in zip(X, lists, strict=True):
        scored = model.scores(x, len(model.classes))
        best = np.array(scored.candidates)[np.argsort(-scored.scores())][: len(labels)]
        found.append(np.isin(labels, best).mean())
    return np.mean(found)


def test_the_gradient_is_that_of_the_loss():
    random = np.random.default_rng(0)

    def loss(scores):
        p = np.exp(scores) / np.exp(scores).sum()
        return -2.0 * np.log(np.sqrt(p[is_label]).sum())

    for n_labels in (1, 2, 4):
        scores, is_label = random.normal(size=7), np.arange(7) < n_labels
        steps = 1e-5 * np.eye(7)
        expected = [(loss(scores + step) - loss(scores - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(gradients(scores, is_label), expected, atol=1e-8)


def test_labels_that_share_a_row_are_all_learned():
    X, lists = topics(700)
    model = learned(X[:600], lists[:600])
    of_one = learned(X[:600], [labels[:1] for labels in lists[:600]])
    assert recall(model, X[600:], lists[600:]) > 0.75
    assert recall(model, X[600:], lists[600:]) > recall(of_one, X[600:], lists[600:]) + 0.03


def test_a_list_of_one_label_is_a_label():
    stream = make_stream(seed=5, n_classes=10, n_features=20, sparse=True, n_passes=2)
    models = [OneAgainstSomeReference(20, sparse=True) for _ in range(2)]
    for _, _, x, y, weight, first_pass in list(stream.steps())[::4]:
        models[0].learn(x, y, weight, first_pass)
        models[1].learn(x, [y], weight, first_pass)
    one, lists = models
    assert one.progressive.errors == lists.progressive.errors
    for y, known in one.classes.items():
        np.testing.assert_array_equal(known.weights, lists.classes[y].weights)
        np.testing.assert_array_equal(known.counts, lists.classes[y].counts)


def test_every_label_is_counted_and_the_row_once():
    X, lists = topics(80)
    model = learned(X, lists)
    assert model.examples == 80
    np.testing.assert_array_equal(model.examples_with_key, (X != 0).sum(axis=0))
    for y, known in model.classes.items():
        assert known.examples == sum(y in labels for labels in lists)


@pytest.mark.parametrize("keys", ["features", "cells"])
def test_later_passes_leave_all_labels_out_of_the_counts(keys):
    X, lists = topics(30)
    model = OneAgainstSomeReference(X.shape[1], keys=keys)
    for x, labels in zip(X, lists, strict=True):
        model.learn(x, labels)
    row, labels = X[0], lists[0]
    counted = model.scores(row, len(model.classes))
    left_out = model.scores(row, len(model.classes), labels, 1.0)
    for y in labels:
        assert left_out.score(y) < counted.score(y)


def test_rows_without_labels_teach_that_nothing_was_right():
    X, lists = topics(300)
    model = learned(X, lists)
    errors, weights = model.progressive.errors, model.progressive.weight
    scored = model.scores(X[0], len(model.classes))
    before, numbers = model.marginals(scored.scores()), model.marginals.numbers.values.copy()
    model.learn(X[0], [])
    best = scored.candidates[int(np.argmax(before))]
    assert model.scores(X[0], len(model.classes)).score(best) < scored.score(best)
    for x in X[1:100]:
        model.learn(x, [])
    assert model.marginals.numbers.values[1] < numbers[1]
    assert (model.marginals(scored.scores()) < before).all()
    assert (model.progressive.errors, model.progressive.weight) == (errors, weights)
    assert model.examples == 400


def test_marginals_are_as_frequent_as_they_say():
    stream = with_several_labels(
        make_stream(seed=6, n_classes=15, n_features=30, sparse=True, late=False), seed=3
    )
    model = OneAgainstSomeReference(30, sparse=True)
    said, shared, true = [], [], []
    for position, _, x, labels, _, _ in stream.steps():
        if position > 1000:
            scored = model.scores(x, len(model.classes))
            said.extend(model.marginals(scored.scores()))
            shared.extend(softmax(scored.scores()))
            true.extend(np.isin(scored.candidates, labels))
        model.learn(x, labels)
    assert calibration_error(said, true) < 0.03
    assert calibration_error(said, true) < 0.6 * calibration_error(shared, true)


def calibration_error(said, true):
    """Return the expected calibration error: 10 bins of probabilities."""
    said, true = np.array(said), np.array(true)
    bins = np.minimum((10 * said).astype(int), 9)
    return sum(abs((said - true)[bins == b].sum()) for b in range(10)) / len(said)


def test_steps_are_as_long_as_before_while_rows_have_one_label():
    model = OneAgainstSomeReference(2)
    assert model.share_of_step(1, True) == 1.0
    model.learn(np.array([1.0, 0.0]), ["a"])
    assert (model.n_counted, model.n_labels) == (1, 1)
    assert model.share_of_step(1, True) == 1.0
    model.learn(np.array([0.0, 1.0]), ["a", "b", "c"])
    assert model.share_of_step(1, False) == 1 / 2
    assert model.share_of_step(4, False) == 1.0
    model.learn(np.array([0.0, 1.0]), ["a"], first_pass=False)
    assert (model.n_counted, model.n_labels) == (2, 4)
