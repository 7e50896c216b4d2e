"""Later passes leave features out: others every time, the same for the same seed."""

import numpy as np
import pytest
import scipy.sparse as sp
from batches import batches
from classifiers import core_state, digits

from recalltree import OneAgainstSomeClassifier, load
from recalltree.training import learn_from

KINDS = pytest.mark.parametrize("kind", [np.asarray, sp.csr_array], ids=["dense", "sparse"])


def fitted(kind, **parameters):
    X, y = digits(300)
    return OneAgainstSomeClassifier(random_state=0, **parameters).fit(kind(X), y)


@KINDS
def test_the_first_pass_leaves_nothing_out(kind):
    assert core_state(fitted(kind, feature_dropout=0.5)) == core_state(fitted(kind))


@KINDS
def test_later_passes_learn_something_else_and_the_seed_decides_what(kind):
    first, second = (fitted(kind, feature_dropout=0.5, n_passes=2) for _ in range(2))
    assert core_state(first) == core_state(second)
    assert core_state(first) != core_state(fitted(kind, n_passes=2))


def test_batches_do_not_decide_what_is_left_out():
    X, y = digits(300)
    states = []
    for size in (300, 7):
        clf = OneAgainstSomeClassifier(feature_dropout=0.5, n_passes=3, random_state=0)
        assert list(learn_from(clf, batches(sp.csr_array(X), y, size)))
        states.append(core_state(clf))
    assert states[0] == states[1]


def test_learning_goes_on_from_a_file_with_the_same_features_left_out(tmp_path):
    X, y = digits(300)
    clf = OneAgainstSomeClassifier(feature_dropout=0.5, n_passes=3, random_state=0)
    rows = batches(X, y)
    position = next(p for p in learn_from(clf, rows) if p.pass_number == 1)
    clf.save(tmp_path / "model.rt")
    other = load(tmp_path / "model.rt")
    for model in (clf, other):
        assert list(learn_from(model, rows, start=position))
    assert core_state(clf) == core_state(other)


@pytest.mark.parametrize("share", [-0.1, 1.0, "half"])
def test_what_is_no_share_is_an_error(share):
    with pytest.raises(ValueError, match="feature_dropout"):
        fitted(np.asarray, feature_dropout=share)
