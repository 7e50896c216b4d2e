"""Evaluation on rows with several labels agrees with the metrics, batch by batch."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from recalltree import OneAgainstSomeClassifier
from recalltree.inspection import Evaluation, ListEvaluation
from recalltree.label_lists import LabelLists, as_label_lists
from recalltree.metrics import f1_at_threshold, ndcg_at_k, precision_at_k, recall_at_k

N_CLASSES = 12


@pytest.fixture(scope="module")
def model():
    random = np.random.default_rng(0)
    y = random.integers(N_CLASSES, size=400)
    X = np.float32(np.eye(N_CLASSES)[y] + 0.3 * random.random((400, N_CLASSES)))
    return OneAgainstSomeClassifier(random_state=0, max_candidates=6).fit(X, y), X


def some_lists(n, seed=1):
    """Lists of 0 to 3 labels, some of which the model never learned."""
    random = np.random.default_rng(seed)
    return [random.choice(N_CLASSES + 2, random.integers(4), replace=False) for _ in range(n)]


@pytest.mark.parametrize("sparse", [False, True])
def test_the_metrics_are_those_of_the_metrics_module(model, sparse):
    clf, X = model
    lists = as_label_lists(some_lists(len(X)))
    weights = np.random.default_rng(2).random(len(X)).astype(np.float32)
    rows = csr_matrix(X) if sparse else X
    evaluation = ListEvaluation(clf, k=5, threshold=0.2)
    for part in (slice(0, 150), slice(150, 151), slice(151, None)):
        evaluation.update(rows[part], lists[part], weights[part])
    found = evaluation.as_dict()

    topk, _ = clf.predict_topk(rows, k=5)
    for k in (1, 3, 5):
        assert found[f"precision@{k}"] == pytest.approx(precision_at_k(lists, topk, k, weights))
    assert found["recall@5"] == pytest.approx(recall_at_k(lists, topk, 5, weights))
    assert found["nDCG@5"] == pytest.approx(ndcg_at_k(lists, topk, 5, weights))

    proba = clf.predict_proba(rows).copy()
    predicted = [clf.classes_[row >= 0.2].tolist() for row in proba]
    for average in ("micro", "macro"):
        expected = f1_at_threshold(lists, predicted, average=average)
        assert found[f"{average}_f1"] == pytest.approx(expected)

    candidates = clf.candidates(rows)
    compared = [clf.classes_[candidates[[i]].indices] for i in range(len(lists))]
    shares = [np.isin(lists[i], compared[i]).mean() for i in range(len(lists)) if len(lists[i])]
    labelled = weights[lists.sizes > 0]
    assert found["candidate_recall"] == pytest.approx(np.average(shares, weights=labelled))
    assert found["unknown_labels"] == np.mean(lists.values >= N_CLASSES)
    assert found["rows_without_labels"] == (lists.sizes == 0).sum()
    assert found["labels_per_row"] == lists.sizes.mean()
    assert found["n_rows"] == len(lists)
    assert found["microseconds_per_row"] > 0


def test_rows_without_any_label(model):
    clf, X = model
    found = ListEvaluation(clf).update(X[:3], [[], [], []]).as_dict()
    assert (found["precision@1"], found["recall@5"], found["labels_per_row"]) == (0, 0, 0)
    assert np.isnan(found["candidate_recall"])


def test_no_rows_and_few_classes():
    clf = OneAgainstSomeClassifier().fit([[0.0, 1], [1, 0]] * 5, [3, 4] * 5)
    evaluation = ListEvaluation(clf, k=5)
    assert evaluation.ks == [1, 2]
    assert np.isnan(evaluation.as_dict()["micro_f1"])
    with pytest.raises(ValueError, match="k=0"):
        ListEvaluation(clf, k=0)
    with pytest.raises(ValueError, match="ListEvaluation"):
        Evaluation(clf).update([[0.0, 1]], [[3, 4]])
    with pytest.raises(ValueError, match="inconsistent"):
        evaluation.update([[0.0, 1]], [[3], [4]])


def test_evaluation_changes_nothing(model):
    clf, X = model
    before = clf.predict_proba(X[:20])
    lists = as_label_lists(some_lists(20))
    ListEvaluation(clf).update(X[:20], lists)
    np.testing.assert_array_equal(clf.predict_proba(X[:20]), before)
    assert isinstance(lists, LabelLists)
    assert lists.tolist() == [labels.tolist() for labels in some_lists(20)]


def test_a_class_that_is_learned_later_stays_unknown():
    X = np.float32(np.repeat(np.eye(4), 10, axis=0))
    y = [[name] for name in np.repeat(list("abcd"), 10).tolist()]
    clf = OneAgainstSomeClassifier(random_state=0).partial_fit(X[:30], y[:30])
    evaluation = ListEvaluation(clf).update(X[:30], y[:30])
    clf.partial_fit(X[30:], y[30:])
    evaluation.update(X[30:], y[30:])
    found = evaluation.as_dict()
    assert found["unknown_labels"] == 0.25
    assert found["precision@1"] <= 0.75
    assert "d" not in [answer for row in evaluation.worst_rows() for answer in row["answers"]]
    assert [row["labels"] for row in evaluation.worst_rows(10)] == [["d"]] * 10


def test_an_answer_stands_for_the_only_label_that_is_missing():
    X = np.float32(np.repeat(np.eye(4), 30, axis=0))
    y = [list(labels) for labels in np.repeat(["ab", "ac", "b", "d"], 30).tolist()]
    clf = OneAgainstSomeClassifier(random_state=0, n_passes=3).fit(X, y)
    first = [set(row) for row in clf.predict_topk(np.eye(4), 2)[0].tolist()]
    assert first[:2] == [{"a", "b"}, {"a", "c"}]
    evaluation = ListEvaluation(clf)
    evaluation.update(np.eye(4)[:1], [["a", "b"]])  # nothing is missing
    evaluation.update(np.eye(4)[:1], [["c", "d"]])  # both are
    evaluation.update(np.eye(4)[:1], [["a", "new"]])  # the model does not know it
    assert evaluation.most_confused() == []
    evaluation.update(np.eye(4)[[0, 1, 1]], [["a", "d"], ["d", "a"], ["a", "d"]])
    assert evaluation.most_confused() == [
        {"label": "d", "answer": "c", "n_rows": 2},
        {"label": "d", "answer": "b", "n_rows": 1},
    ]
