"""Nodes of a Recall Tree are packed once for many small batches, and again after learning."""

import numpy as np
import pytest
from classifiers import digits

import recalltree
from recalltree import RecallTreeClassifier


def one_by_one(clf, X):
    """Return labels and probabilities of batches of one row."""
    answers = [clf.predict_topk(x[None], k=3) for x in X]
    return [np.concatenate(parts) for parts in zip(*answers, strict=True)]


@pytest.mark.parametrize("path_features", ["none", "path"])
def test_small_batches_answer_like_single_rows_and_large_ones(tmp_path, path_features):
    X, y = digits(600)
    clf = RecallTreeClassifier(max_candidates=3, path_features=path_features, random_state=0)
    path = tmp_path / "model.rt"
    for begin in range(0, 600, 200):
        clf.partial_fit(X[begin : begin + 200], y[begin : begin + 200])
        clf.save(path)
        for model in (clf, recalltree.load(path)):
            assert model.tree_.is_leaf.size < len(X)
            first, again = one_by_one(model, X), one_by_one(model, X)
            large = recalltree.load(path).predict_topk(X, k=3)
            for answers in (first, again):
                np.testing.assert_array_equal(answers[0], large[0])
                np.testing.assert_allclose(answers[1], large[1], rtol=1e-12)


def test_packed_nodes_are_counted_as_memory(tmp_path):
    X, y = digits(300)
    clf = RecallTreeClassifier(random_state=0).partial_fit(X, y)
    clf.save(tmp_path / "model.rt")
    for model in (recalltree.load(tmp_path / "model.rt"), clf):
        before = model.memory_by_part_["nodes"]
        model.predict(X)
        packed = model.memory_by_part_["nodes"]
        assert packed > before
        model.predict(X)
        assert model.memory_by_part_["nodes"] == packed
    clf.partial_fit(X[:1], y[:1])
    clf.predict(X[:1])
    assert clf.memory_by_part_["nodes"] < packed
