"""Inspection of a model, held to the model and to counts made by hand."""

import json
from collections import Counter

import numpy as np
import pytest
from classifiers import VARIANTS, all_digits, digits
from sklearn.base import clone

from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.inspection import (
    Evaluation,
    class_counts,
    find_class,
    node_table,
    summary,
    tally,
    tree_text,
)
from recalltree.inspection.traffic import traffic

TREES = [v for v in VARIANTS if hasattr(type(v), "tree_")]


@pytest.fixture(scope="module")
def recall_tree():
    X, y = all_digits()
    return RecallTreeClassifier(max_candidates=3, random_state=0).fit(X[:1200], y[:1200])


# --- nodes and classes ---------------------------------------------------------------------------


@pytest.mark.parametrize("variant", TREES, ids=str)
def test_nodes_hold_what_the_tree_holds(variant):
    clf = clone(variant).fit(*digits(400))
    nodes, tree = node_table(clf), clf.tree_
    for node in range(len(nodes)):
        labels, counts = tree.histogram(node)
        class_ids, kept = nodes.candidates(node)
        n = len(class_ids)
        assert clf.classes_[class_ids].tolist() == labels[:n].tolist()
        np.testing.assert_array_equal(kept, counts[:n])
        if hasattr(tree, "recall_bound"):
            assert n == min(len(labels), 3)
            expected = counts[:3].sum() / counts.sum()
            assert nodes.recall[node] == pytest.approx(expected)
            assert nodes.recall_bound[node] <= nodes.recall[node] + 1e-12


def test_a_lom_tree_counts_upwards_from_its_leaves():
    clf = LOMTreeClassifier(random_state=0).fit(*digits(400))
    nodes = node_table(clf)

    def leaves(node):
        below = [c for c in (nodes.left[node], nodes.right[node]) if c >= 0]
        return [node] if not below else [leaf for child in below for leaf in leaves(child)]

    for node in range(len(nodes)):
        held = [clf.tree_.histogram(int(leaf)) for leaf in leaves(node)]
        assert nodes.total[node] == sum(counts.sum() for _, counts in held)
        assert nodes.n_labels[node] == len({x for labels, _ in held for x in labels})
        right = sum(counts[0] for _, counts in held if len(counts))
        assert nodes.recall[node] == pytest.approx(right / max(nodes.total[node], 1e-300))


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_class_counts_are_those_of_the_data(variant):
    X, y = digits(400)
    weights = np.random.default_rng(0).integers(1, 5, size=400) / 2
    counts = class_counts(clone(variant).fit(X, y, sample_weight=weights))
    # A LOMTree forgets what it counted where it splits.
    if isinstance(variant, OneAgainstAllClassifier | LOMTreeClassifier):
        assert counts is None
    elif variant.count_decay is None:
        np.testing.assert_allclose(counts, np.bincount(y, weights))


def test_find_class_names_all_nodes_that_compare_it(recall_tree):
    tree = recall_tree.tree_
    for label in range(10):
        found = find_class(recall_tree, label)
        expected = {n for n in range(len(tree)) if label in tree.candidates(n)}
        assert {place["node"] for place in found["nodes"]} == expected
        counts = [place["n_examples"] for place in found["nodes"]]
        assert counts == sorted(counts, reverse=True)
        for place in found["nodes"]:
            assert tree.candidates(place["node"])[place["rank"] - 1] == label
    assert find_class(recall_tree, "3") == find_class(recall_tree, 3)


def test_find_class_says_what_is_wrong(recall_tree):
    with pytest.raises(ValueError, match="label='x' is not one of the 10 classes, such as 0"):
        find_class(recall_tree, "x")


# --- traffic, summary, text ----------------------------------------------------------------------


def test_traffic_agrees_with_the_routes_of_the_rows_that_were_learned(recall_tree):
    X = all_digits()[0][:1200]
    nodes = node_table(recall_tree)
    flow = traffic(nodes, recall_tree._core.max_depth_now)
    assert flow.stopping.sum() == pytest.approx(1)
    assert flow.arriving[nodes.root] == 1
    found = Evaluation(recall_tree).update(X, all_digits()[1][:1200])
    measured = found.stops[:, 0] / len(X)
    expected = np.bincount(nodes.depth, flow.stopping)[: len(measured)]
    # The tree parted the rows while it was learning, so that this is only about so.
    np.testing.assert_allclose(measured, expected, atol=0.15)


def test_routes_never_end_where_they_would_go_on(recall_tree):
    nodes = node_table(recall_tree)
    flow = traffic(nodes, recall_tree._core.max_depth_now)
    for node in np.flatnonzero(flow.stopping > 1e-9):
        children = [c for c in (nodes.left[node], nodes.right[node]) if c >= 0]
        at_the_bottom = nodes.depth[node] == recall_tree._core.max_depth_now
        worse = [c for c in children if nodes.recall_bound[c] < nodes.recall_bound[node]]
        assert at_the_bottom or not children or worse


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_summary_is_plain_and_true(variant):
    clf = clone(variant).fit(*digits(400))
    found = summary(clf)
    assert json.loads(json.dumps(found)) == found
    assert found["n_examples"] == 400
    assert found["n_classes"] == 10
    assert found["progressive_error"] == clf.progressive_error_
    assert found["memory_bytes"] == sum(found["memory_by_part"].values())
    assert found["parameters"]["random_state"] == 0
    if "tree" in found:
        by_depth = found["tree"]["by_depth"]
        assert sum(row["n_nodes"] for row in by_depth) == len(clf.tree_)
        assert sum(row["stopping"] for row in by_depth) == pytest.approx(1)


def test_tree_text_draws_every_node_or_counts_it(recall_tree):
    text = tree_text(recall_tree, max_depth=100)
    assert len(text.splitlines()) == len(recall_tree.tree_)
    short = tree_text(recall_tree, max_depth=1)
    below = sum(
        int(line.split("└─ ")[1].split()[0]) for line in short.splitlines() if "more" in line
    )
    drawn = sum("more" not in line for line in short.splitlines())
    assert drawn + below == len(recall_tree.tree_)
    with pytest.raises(ValueError, match="has no tree"):
        tree_text(OneAgainstAllClassifier().fit(*digits(50)))


# --- evaluation ----------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_evaluation_agrees_with_predictions_made_by_hand(variant):
    X, y = all_digits()
    clf = clone(variant).fit(X[:400], y[:400])
    X, y = X[400:700], y[400:700]
    weights = np.random.default_rng(0).integers(1, 5, size=300) / 2
    found = Evaluation(clf, k=3)
    for part in np.split(np.arange(300), [7, 150]):
        found.update(X[part], y[part], weights[part])
    results = found.as_dict()
    answers, top = clf.predict(X), clf.predict_topk(X, k=3)[0]
    scored = clf.candidates(X)
    held = np.array([label in scored[[i]].indices for i, label in enumerate(y)])
    # Where a row has fewer than 3 candidates, predict_topk fills up with others.
    at_3 = (top == y[:, None]).any(axis=1) & held
    assert results["n_rows"] == 300
    assert results["error@1"] == pytest.approx(np.average(answers != y, weights=weights))
    assert results["error@3"] == pytest.approx(np.average(~at_3, weights=weights))
    assert results["candidate_recall"] == pytest.approx(np.average(held, weights=weights))
    lost = sum(results[k] for k in ("lost_in_routing", "lost_among_candidates", "unknown_labels"))
    assert lost == pytest.approx(results["error@1"])
    assert results["microseconds_per_row"] > 0
    wrong = answers != y
    assert found.confusions == Counter(zip(y[wrong].tolist(), answers[wrong].tolist(), strict=True))
    most = found.most_confused(1)[0]
    assert found.confusions[most["label"], most["answer"]] == most["n_rows"]
    rows, right = found.class_results()
    np.testing.assert_allclose(rows, np.bincount(y, weights))
    np.testing.assert_allclose(right, np.bincount(y[~wrong], weights[~wrong], minlength=10))


def test_labels_that_were_never_learned_are_errors():
    X, y = digits(100)
    clf = RecallTreeClassifier(random_state=0).fit(X[y < 8], y[y < 8])
    results = Evaluation(clf).update(X[y >= 8], y[y >= 8]).as_dict()
    assert results["unknown_labels"] == results["error@1"] == results["error@5"] == 1.0
    assert results["candidate_recall"] == 0.0


def test_confusions_are_bounded(monkeypatch):
    monkeypatch.setattr(tally, "MAX_PAIRS", 3)
    X, y = digits(400)
    clf = RecallTreeClassifier(random_state=0).fit(X, y)
    found = Evaluation(clf)
    found.update(X[:50], (y[:50] + 1) % 10)
    assert all(count > 1 for count in found.confusions.values())


def test_an_evaluation_of_no_rows_has_no_numbers(recall_tree):
    results = Evaluation(recall_tree).as_dict()
    assert results["n_rows"] == 0
    assert np.isnan(results["error@1"])
