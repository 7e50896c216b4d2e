import numpy as np
import pytest
from classifiers import digits
from sklearn.linear_model import SGDClassifier

from recalltree import RecallTreeClassifier
from recalltree.metrics import error_at_k, progressive_errors, recall_at_k


def test_at_k():
    X, y = digits(400)
    clf = RecallTreeClassifier(random_state=0).fit(X[:200], y[:200])
    labels, _ = clf.predict_topk(X, k=10)
    assert error_at_k(y, labels, k=1) == pytest.approx(1 - clf.score(X, y))
    errors = [error_at_k(y, labels, k=k) for k in range(1, 11)]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] == error_at_k(y, labels) == 0
    assert recall_at_k(y, labels, k=2) == pytest.approx(1 - errors[1])
    weight = np.linspace(0, 1, 400)
    expected = clf.score(X, y, sample_weight=weight)
    assert recall_at_k(y, labels, 1, sample_weight=weight) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("y_true", "y_topk", "k", "message"),
    [
        ([1, 2], [1, 2], 1, r"y_topk has shape \(2,\)"),
        ([1, 2], [[1], [2]], 2, "k=2: y_topk has 1 columns"),
        ([1, 2], [[1], [2]], 0, "k=0: "),
        ([1, 2, 3], [[1], [2]], 1, "inconsistent numbers"),
        ([1, None], [[1], [2]], 1, "y_true contains NaN or None"),
    ],
)
def test_bad_input(y_true, y_topk, k, message):
    with pytest.raises(ValueError, match=message):
        error_at_k(y_true, y_topk, k=k)


@pytest.mark.parametrize("batch_size", [1, 7, 1000])
def test_progressive_errors(batch_size):
    X, y = digits(200)
    clf = RecallTreeClassifier()
    wrong = progressive_errors(clf, X, y, batch_size=batch_size)
    assert wrong.shape == (200,)
    assert wrong[: min(batch_size, 200)].all()
    assert clf._core.n_examples == 200
    by_hand, expected = RecallTreeClassifier(), []
    for start in range(0, 200, batch_size):
        rows = slice(start, start + batch_size)
        expected += [True] * batch_size if start == 0 else list(by_hand.predict(X[rows]) != y[rows])
        by_hand.partial_fit(X[rows], y[rows], classes=np.arange(10))
    assert wrong.tolist() == expected[:200]


def test_progressive_errors_of_any_classifier():
    X, y = digits(200)
    wrong = progressive_errors(SGDClassifier(random_state=0), X, y, batch_size=10)
    assert 0 < wrong.mean() < 1
