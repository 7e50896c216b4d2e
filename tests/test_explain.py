"""An explanation says what the model does: its parts add up to what it computes."""

import json
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from classifiers import VARIANTS, digits
from sklearn.base import clone

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.inspection import explain

HAVE_PREDICTORS = [v for v in VARIANTS if not isinstance(v, LOMTreeClassifier)]
HAVE_TREES = [v for v in VARIANTS if hasattr(type(v), "tree_")]


def fitted(variant, make=np.asarray):
    X, y = digits(400)
    names = np.array([f"digit {label}" for label in y], dtype=object)
    X = make(X)
    return clone(variant).fit(X, names), X


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("variant", HAVE_PREDICTORS, ids=str)
def test_the_parts_of_a_score_add_up_to_it(variant, make):
    clf, X = fitted(variant, make)
    for i in range(20):
        explanation = clf.explain(X[[i]], k=3, n_features=4)
        scores = clf.candidates(X[[i]])
        for candidate in explanation.candidates:
            column = clf.classes_.tolist().index(candidate.label)
            assert candidate.score == pytest.approx(scores[0, column], abs=1e-6)
            parts = sum(f.contribution for f in candidate.features)
            parts += candidate.other_features + candidate.bias + candidate.path
            assert parts == pytest.approx(candidate.score, abs=2e-4)
            sizes = [abs(f.contribution) for f in candidate.features]
            assert len(sizes) <= 4
            assert sizes == sorted(sizes, reverse=True)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_the_answer_is_that_of_predict_and_candidates_come_best_first(variant):
    clf, X = fitted(variant)
    labels, probabilities = clf.predict_topk(X[:20], k=2)
    for i in range(20):
        explanation = clf.explain(X[i], k=2)
        assert explanation.label == clf.predict(X[[i]])[0] == labels[i, 0]
        for rank, candidate in enumerate(explanation.candidates):
            assert candidate.label == labels[i, rank]
            assert candidate.probability == pytest.approx(probabilities[i, rank], abs=1e-9)
        assert explanation.n_candidates == clf.candidates(X[[i]]).nnz


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("variant", HAVE_TREES, ids=str)
def test_the_route_follows_the_margins(variant, make):
    clf, X = fitted(variant, make)
    tree = clf.tree_
    for i in range(20):
        route = clf.explain(X[[i]]).route
        assert route[0].node == tree.root
        for step, following in pairwise(route):
            assert step.goes == ("right" if step.margin > 0 else "left")
            children = {"left": tree.left, "right": tree.right}[step.goes]
            assert following.node == children[step.node]
            assert following.depth == step.depth + 1


def test_the_reason_to_stop_is_the_one_of_the_paper():
    clf, X = fitted(VARIANTS[0])
    tree, max_depth = clf.tree_, clf._core.max_depth_now
    reasons = set()
    for i in range(100):
        explanation = clf.explain(X[i])
        bounds = [step.recall_bound for step in explanation.route]
        assert bounds == sorted(bounds)
        last = explanation.route[-1]
        if last.depth == max_depth:
            assert "maximal depth" in explanation.stopped
            assert last.margin is None
            reasons.add("depth")
        elif "lower recall bound" in explanation.stopped:
            child = (tree.right if last.goes == "right" else tree.left)[last.node]
            assert tree.recall_bound[child] < last.recall_bound
            reasons.add("bound")
    assert reasons == {"depth", "bound"}


def test_features_have_the_names_and_values_of_the_row():
    clf = OneAgainstAllClassifier(shuffle=False).fit([[0.0, 3.0], [5.0, 0.0]] * 5, ["a", "b"] * 5)
    (feature,) = clf.explain([0.0, 3.0], k=1).candidates[0].features
    assert (feature.name, feature.value) == ("feature 1", 3.0)
    named = clf.explain([0.0, 3.0], k=1, feature_names=["width", "height"])
    assert named.candidates[0].features[0].name == "height"
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"wide": [0.0, 5.0], "high": [3.0, 0.0]})
    clf = OneAgainstAllClassifier(shuffle=False).fit(frame, ["a", "b"])
    assert clf.explain(frame.iloc[[0]]).candidates[0].features[0].name == "high"


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_prints_and_makes_json(variant):
    clf, X = fitted(variant)
    explanation = explain(clf, X[0])
    assert f"answers {explanation.label}" in str(explanation)
    assert json.loads(json.dumps(explanation.as_dict()))["label"] == explanation.label


def test_explaining_changes_nothing():
    clf, X = fitted(VARIANTS[0])
    before = {name: array.tobytes() for name, array in clf._core.state().items()}
    clf.explain(X[0])
    assert {name: array.tobytes() for name, array in clf._core.state().items()} == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 0}, "k=0"),
        ({"n_features": -1}, "n_features=-1"),
        ({"k": 2.5}, "k=2.5"),
        ({"feature_names": ["one"]}, "feature_names has 1 names, but there are 64 features"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    clf, X = fitted(RecallTreeClassifier(random_state=0))
    with pytest.raises(ValueError, match=message):
        clf.explain(X[0], **arguments)


def test_one_row_at_a_time():
    clf, X = fitted(RecallTreeClassifier(random_state=0))
    with pytest.raises(ValueError, match="x has 3 rows"):
        clf.explain(X[:3])
