"""Metrics of rows with several labels: against napkinXC, scikit-learn and plain loops."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.metrics import f1_score
from sklearn.preprocessing import MultiLabelBinarizer

from recalltree.metrics import (
    InversePropensity,
    f1_at_threshold,
    inverse_propensity,
    ndcg_at_k,
    precision_at_k,
    ps_ndcg_at_k,
    ps_precision_at_k,
    recall_at_k,
)

N_LABELS = 30


def random_rows(seed, n_rows=200, k=7, shortest=0):
    """Lists of labels (some empty), and rankings (some shorter than k)."""
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(N_LABELS, 0.3) + 0.01)
    true = [
        rng.choice(N_LABELS, size=rng.integers(shortest, 5), replace=False).tolist()
        for _ in range(n_rows)
    ]
    ranked = [
        rng.choice(N_LABELS, size=rng.integers(1, k + 1), replace=False, p=p).tolist()
        for _ in range(n_rows)
    ]
    return true, ranked


def indicator(lists):
    return MultiLabelBinarizer(classes=range(N_LABELS), sparse_output=True).fit_transform(lists)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_napkinxc(seed):
    theirs = pytest.importorskip("napkinxc.metrics")
    true, ranked = random_rows(seed)
    train, _ = random_rows(seed + 100, n_rows=500)
    inverse = theirs.Jain_et_al_inverse_propensity(indicator(train), A=0.6, B=2.6)
    ours = inverse_propensity(indicator(train), a=0.6, b=2.6)
    np.testing.assert_allclose(ours.of(np.arange(N_LABELS)), inverse, rtol=1e-6)
    for k in (1, 3, 5):
        at = (k - 1, {"rel": 1e-6})
        for metric, their_metric in (
            (precision_at_k, theirs.precision_at_k),
            (recall_at_k, theirs.recall_at_k),
            (ndcg_at_k, theirs.ndcg_at_k),
        ):
            expected = their_metric(true, ranked, k=k)[at[0]]
            assert metric(true, ranked, k) == pytest.approx(expected, **at[1])
            assert metric(indicator(true), ranked, k) == pytest.approx(expected, **at[1])
        for metric, their_metric in (
            (ps_precision_at_k, theirs.psprecision_at_k),
            (ps_ndcg_at_k, theirs.psndcg_at_k),
        ):
            for normalize in (True, False):
                expected = their_metric(true, ranked, inverse, k=k, normalize=normalize)[at[0]]
                got = metric(true, ranked, ours, k, normalize=normalize)
                assert got == pytest.approx(expected, **at[1])
                assert metric(true, ranked, inverse, k, normalize=normalize) == pytest.approx(got)


@pytest.mark.parametrize("seed", range(5))
def test_equal_to_plain_loops(seed):
    true, ranked = random_rows(seed)
    inverse = {label: 1.0 + label for label in range(N_LABELS)}
    for k in (1, 4, 9):
        precision, recall, ndcg, got, best, got_dcg, best_dcg = ([] for _ in range(7))
        for labels, answers in zip(true, ranked, strict=True):
            places = [j for j, answer in enumerate(answers[:k]) if answer in labels]
            ideal = sum(1 / math.log2(j + 2) for j in range(min(k, len(labels))))
            precision.append(len(places) / k)
            recall.append(len(places) / len(labels) if labels else 0.0)
            gain = sum(1 / math.log2(j + 2) for j in places)
            ndcg.append(gain / ideal if labels else 0.0)
            got.append(sum(inverse[answers[j]] for j in places) / k)
            most = sorted((inverse[label] for label in labels), reverse=True)[:k]
            best.append(sum(most) / k)
            got_dcg.append(
                sum(inverse[answers[j]] / math.log2(j + 2) for j in places) / ideal if labels else 0
            )
            best_dcg.append(
                sum(v / math.log2(j + 2) for j, v in enumerate(most)) / ideal if labels else 0
            )
        assert precision_at_k(true, ranked, k) == pytest.approx(np.mean(precision))
        assert recall_at_k(true, ranked, k) == pytest.approx(np.mean(recall))
        assert ndcg_at_k(true, ranked, k) == pytest.approx(np.mean(ndcg))
        assert ps_precision_at_k(true, ranked, inverse, k) == pytest.approx(sum(got) / sum(best))
        assert ps_ndcg_at_k(true, ranked, inverse, k) == pytest.approx(sum(got_dcg) / sum(best_dcg))


@pytest.mark.parametrize("average", ["micro", "macro"])
@pytest.mark.parametrize("seed", range(3))
def test_f1_equal_to_scikit_learn(seed, average):
    true, predicted = random_rows(seed)
    options = {"average": average, "zero_division": 0}
    expected = f1_score(indicator(true), indicator(predicted), **options)
    got = f1_at_threshold(indicator(true), indicator(predicted), average=average)
    assert got == pytest.approx(expected)
    seen = MultiLabelBinarizer().fit([*true, *predicted])
    expected = f1_score(seen.transform(true), seen.transform(predicted), **options)
    assert f1_at_threshold(true, predicted, average=average) == pytest.approx(expected)
    # Strings are labels as well.
    names = [[[f"label {i}" for i in row] for row in rows] for rows in (true, predicted)]
    assert f1_at_threshold(*names, average=average) == pytest.approx(expected)
    assert (
        f1_at_threshold(true, csr_matrix(indicator(predicted).toarray() * 0.7), average="micro") > 0
    )


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_f1_at_a_threshold(average):
    rng = np.random.default_rng(0)
    scores = rng.random((100, N_LABELS)) ** 4
    true = indicator(random_rows(0, n_rows=100)[0])
    expected = f1_score(true, csr_matrix(scores >= 0.3), average=average, zero_division=0)
    for given in (scores, csr_matrix(scores)):
        assert f1_at_threshold(true, given, threshold=0.3, average=average) == pytest.approx(
            expected
        )
    order = np.argsort(-scores, axis=1)
    ranked = np.take_along_axis(scores, order, axis=1)
    got = f1_at_threshold(true, order, ranked, threshold=0.3, average=average)
    assert got == pytest.approx(expected)


def test_weights_of_rows():
    true, ranked = random_rows(0, n_rows=3)
    inverse = np.arange(1.0, N_LABELS + 1)
    for metric in (precision_at_k, recall_at_k, ndcg_at_k):
        repeated = metric([true[0], *true], [ranked[0], *ranked], 5)
        assert metric(true, ranked, 5, sample_weight=[2, 1, 1]) == pytest.approx(repeated)
    for metric in (ps_precision_at_k, ps_ndcg_at_k):
        repeated = metric([true[0], *true], [ranked[0], *ranked], inverse, 5)
        assert metric(true, ranked, inverse, 5, sample_weight=[2, 1, 1]) == pytest.approx(repeated)


def test_one_label_per_row_is_a_special_case():
    y = ["a", "b", "c"]
    ranked = np.array([["a", "b"], ["a", "b"], ["a", "b"]])
    assert precision_at_k(y, ranked, 2) == pytest.approx(1 / 3)
    assert recall_at_k(y, ranked, 2) == pytest.approx(2 / 3)
    assert inverse_propensity(y).of(["a"]) == inverse_propensity([["a"], ["b"], ["c"]]).of(["a"])


def test_rows_without_labels():
    assert recall_at_k([["a"], []], [["a"], ["a"]], 1) == 0.5
    assert recall_at_k([["a"], []], [["a"], ["a"]], 1, zero_division=1.0) == 1.0
    assert ndcg_at_k([[], []], [["a"], ["a"]], 1) == 0.0
    assert ps_precision_at_k([[], []], [["a"], ["a"]], {"a": 2.0}, 1) == 0.0
    assert f1_at_threshold([[], []], [[], []]) == 0.0


def test_an_answer_counts_once():
    assert precision_at_k([[1]], np.array([[1, 1]]), 2) == 0.5


def test_propensity_of_counts_and_of_unseen_labels():
    train = [["a", "b"], ["a"], ["a"], ["c"]] * 5
    counted = InversePropensity.from_counts(["a", "b", "c"], [15, 5, 5], 20)
    labels = ["c", "a", "nobody's"]
    assert counted.of(labels).tolist() == pytest.approx(inverse_propensity(train).of(labels))
    assert counted.of(["a"]) < counted.of(["b"]) < counted.of(["nobody's"])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: precision_at_k([["a"]], ["a"], 1), r"y_topk has shape \(1,\)"),
        (lambda: precision_at_k([["a"]], [["a"], ["b"]], 1), "inconsistent numbers"),
        (lambda: precision_at_k([["a"]], [[1]], 1), "y_topk holds integers such as 1"),
        (lambda: precision_at_k([["a"], ["b"]], [["a"], ["b", "c"]], 0), "k=0: k must be 1"),
        (lambda: precision_at_k([["a"]], [["a"]], 2), "k=2: y_topk has 1 columns"),
        (lambda: ps_precision_at_k([["a"]], [["b"]], {"a": 1.0}, 1), "no value for the label 'b'"),
        (lambda: ps_precision_at_k([["a"]], [["b"]], [1.0, 2.0], 1), "suits labels 0, 1, 2"),
        (lambda: ps_precision_at_k([[2]], [[0]], [1.0, 2.0], 1), "the labels go from 0 to 2"),
        (lambda: f1_at_threshold([["a"]], [["a"]], average="samples"), "average='samples'"),
        (lambda: f1_at_threshold([["a"]], [["a"]], [[0.1, 0.2]]), r"y_pred\[0\] has 1 labels"),
        (lambda: InversePropensity.from_counts([], [], 0), "n_rows=0"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
