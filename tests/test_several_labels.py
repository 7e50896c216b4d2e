"""Estimators with several labels per row: all but LOMTree, which says so."""

import pickle
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.metrics import classification_report, f1_score
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import MultiLabelBinarizer

import recalltree
from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.inspection import html_report, summary
from recalltree.metrics import precision_at_k, precision_at_k_scorer, recall_at_k

N_LABELS, N_WORDS = 30, 200
NAMES = np.array([f"t{i:02}" for i in range(N_LABELS)], dtype=object)


def topics(n, seed=0, least=1):
    """Return rows of words, which come from the row's labels, and the lists of label numbers."""
    random = np.random.default_rng(seed)
    likely = np.random.default_rng(99).random((N_LABELS, N_WORDS)) < 0.06
    lists = [
        sorted(random.choice(N_LABELS, size=random.integers(least, 4), replace=False).tolist())
        for _ in range(n)
    ]
    chance = np.array([likely[row].any(axis=0) * 0.5 + 0.02 for row in lists])
    return sp.csr_array((random.random((n, N_WORDS)) < chance).astype(np.float32)), lists


def indicator(lists):
    offsets = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    columns = np.array([label for row in lists for label in row], dtype=np.int64)
    return sp.csr_array((np.ones(len(columns), int), columns, offsets), (len(lists), N_LABELS))


def named(lists):
    return [NAMES[row].tolist() for row in lists]


def states_are_equal(a, b):
    a, b = a._fitted.core.state(), b._fitted.core.state()
    return a.keys() == b.keys() and all(np.array_equal(a[name], b[name]) for name in a)


#: One of each kind of model that learns lists.
KINDS = {
    "one-against-some": OneAgainstSomeClassifier,
    "recall-tree": RecallTreeClassifier,
    "path-features": partial(RecallTreeClassifier, path_features="path", count_decay=1000),
    "one-against-all": OneAgainstAllClassifier,
    "negative-samples": partial(OneAgainstAllClassifier, negative_samples=8, random_state=0),
}
each = pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)


@pytest.fixture(scope="module", params=KINDS.values(), ids=KINDS)
def learned(request):
    X, lists = topics(1500)
    return request.param(random_state=0).fit(X, named(lists))


@pytest.fixture(scope="module")
def held_out():
    X, lists = topics(500, seed=1)
    return X, named(lists)


def as_arrow(lists):
    return pytest.importorskip("pyarrow").array(lists)


def as_pandas(lists):
    return pytest.importorskip("pandas").Series(lists)


def as_polars(lists):
    return pytest.importorskip("polars").Series(lists)


@pytest.mark.parametrize(
    "kind",
    [
        lambda lists: [set(row) for row in lists],
        lambda lists: [np.array(row) for row in lists],
        as_arrow,
        as_pandas,
        as_polars,
        indicator,
        lambda lists: indicator(lists).toarray(),
        lambda lists: sp.csc_matrix(indicator(lists)),
    ],
    ids=["sets", "arrays", "arrow", "pandas", "polars", "csr", "dense", "csc"],
)
@each
def test_every_kind_of_labels_makes_the_same_model(kind, make):
    X, lists = topics(200)
    expected = make(random_state=0).fit(X, lists)
    assert len(expected.classes_) == N_LABELS
    clf = make(random_state=0).fit(X, kind(lists))
    np.testing.assert_array_equal(clf.classes_, np.arange(N_LABELS))
    assert states_are_equal(clf, expected)


def test_labels_are_found(learned, held_out):
    X, y = held_out
    labels, probabilities = learned.predict_topk(X, k=3)
    assert precision_at_k(y, labels, 1) > 0.85
    assert recall_at_k(y, labels, 3) > 0.7
    assert learned.score(X, y) == precision_at_k(y, labels, 1)
    assert (np.diff(probabilities, axis=1) <= 0).all()
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert (probabilities.sum(axis=1) > 1).any()  # each by itself


@each
def test_several_labels_are_learned_better_together_than_one_of_each(make):
    X, lists = topics(1500)
    X_test, y_test = topics(500, seed=1)
    together = make(random_state=0).fit(X, lists)
    first = make(random_state=0).fit(X, [row[0] for row in lists])
    found = [recall_at_k(y_test, clf.predict_topk(X_test, 3)[0], 3) for clf in (together, first)]
    assert found[0] > found[1] + 0.02


def test_probabilities_are_calibrated(learned, held_out):
    X, y = held_out
    said = learned.predict_proba(X)
    true = MultiLabelBinarizer(classes=learned.classes_).fit_transform(y)
    bins = np.minimum((10 * said).astype(int), 9)
    error = sum(abs((said - true)[bins == b].sum()) for b in range(10)) / said.size
    assert error < (0.02 if isinstance(learned, OneAgainstSomeClassifier) else 0.03)
    confident = said > 0.6
    assert confident.sum() > 200
    assert abs(said[confident].mean() - true[confident].mean()) < 0.1


def test_a_threshold_chooses_the_labels(learned, held_out):
    X, y = held_out
    some, many = learned.predict(X, threshold=0.6), learned.predict(X, threshold=0.2)
    assert isinstance(some, sp.csr_array)
    assert some.shape == (500, N_LABELS)
    assert 0 < some.nnz < many.nnz
    assert some.data.tolist() == [1] * some.nnz
    probabilities = learned.predict_proba(X)
    np.testing.assert_array_equal(many.toarray(), probabilities >= 0.2)
    np.testing.assert_array_equal(learned.predict(X).toarray(), probabilities >= 0.5)
    sparse = learned.predict_proba(X, sparse=True)
    np.testing.assert_array_equal(sparse.toarray(), probabilities)
    truth = MultiLabelBinarizer(classes=learned.classes_, sparse_output=True).fit_transform(y)
    assert f1_score(truth, learned.predict(X, threshold=0.35), average="micro") > 0.7
    assert "micro avg" in classification_report(truth, some, zero_division=0)
    for wrong in (-0.1, 1.5, True, "half"):
        with pytest.raises(ValueError, match="from 0 to 1"):
            learned.predict(X, threshold=wrong)


@each
def test_scikit_learn_selects_by_precision(make):
    X, lists = topics(300)
    clf = make(random_state=0)
    y = MultiLabelBinarizer().fit_transform(lists)
    scores = cross_val_score(clf, X, y, scoring=precision_at_k_scorer(1), cv=3)
    assert scores.min() > 0.3
    np.testing.assert_array_equal(cross_val_score(clf, X, y, cv=3), scores)


@each
def test_dense_labels_are_predicted_dense(tmp_path, make):
    X, lists = topics(200)
    dense = indicator(lists).toarray()
    clf = make(random_state=0).fit(X, dense)
    assert isinstance(clf.predict(X), np.ndarray)
    assert clf.predict(X).dtype == dense.dtype
    clf.save(tmp_path / "model.rt")
    for again in (recalltree.load(tmp_path / "model.rt"), pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(again.predict(X), clf.predict(X))
    assert sp.issparse(clf.fit(X, lists).predict(X))
    assert not hasattr(clf.fit(X, [row[0] for row in lists]), "dense_labels_")


@each
def test_more_labels_come_with_more_rows(make):
    X, lists = topics(600, least=0)
    y = named(lists)
    clf = make()
    for begin in range(0, 600, 50):
        clf.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
    assert clf.n_examples_ == sum(len(row) > 0 for row in y)  # rows without labels are skipped
    before = clf.classes_.tolist()
    clf.partial_fit(X[:3], [["new", "t00"], [], ["newer"]])
    assert clf.classes_.tolist() == [*before, "new", "newer"]
    clf.partial_fit(X[:2], ["t01", "t02"])  # one each
    assert clf.n_examples_ == sum(len(row) > 0 for row in y) + 4
    at_once = make().partial_fit(X, y)
    piecewise = make()
    for rows in np.array_split(np.arange(600), 7):
        piecewise.partial_fit(X[rows], [y[i] for i in rows])
    assert states_are_equal(at_once, piecewise)


@pytest.mark.parametrize("mmap", [False, True])
@each
def test_models_go_on_from_files_bit_for_bit(tmp_path, mmap, make):
    X, lists = topics(400)
    y = named(lists)
    whole = make().partial_fit(X, y)
    half = make().partial_fit(X[:200], y[:200])
    half.save(tmp_path / "half.rt")
    resumed = recalltree.load(tmp_path / "half.rt", mmap=mmap)
    np.testing.assert_array_equal(resumed.predict_proba(X[:9]), half.predict_proba(X[:9]))
    np.testing.assert_array_equal(
        resumed.predict(X, threshold=0.3).toarray(), half.predict(X, threshold=0.3).toarray()
    )
    assert states_are_equal(resumed.partial_fit(X[200:], y[200:]), whole)


@each
def test_a_model_of_few_rows_with_many_labels_is_saved(tmp_path, make):
    clf = make().partial_fit([[1.0, 0.0]], [["a", "b", "c"]])
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    assert sorted(again.predict_topk([[1.0, 0.0]], 3)[0][0]) == ["a", "b", "c"]


def test_small_models_predict_the_same(learned, held_out):
    X, y = held_out
    small = learned.compact(X=X, y=y)
    np.testing.assert_allclose(small.predict_proba(X), learned.predict_proba(X), atol=1e-6)
    assert small.compact_report_.error_before == 1 - learned.score(X, y)


@each
def test_a_list_of_one_is_a_label(make):
    X, lists = topics(300)
    y = [NAMES[row[0]] for row in lists]
    labels = make(random_state=0, n_passes=2).fit(X, y)
    ones = make(random_state=0, n_passes=2).fit(X, [[label] for label in y])
    np.testing.assert_array_equal(ones.predict_topk(X, 1)[0][:, 0], labels.predict(X))
    np.testing.assert_array_equal(ones.candidates(X).toarray(), labels.candidates(X).toarray())
    assert ones.progressive_error_ == labels.progressive_error_


@each
def test_rows_of_weight_zero_are_as_good_as_absent(make):
    X, lists = topics(300)
    y = named(lists)
    weights = np.arange(300) % 3
    kept = np.flatnonzero(weights)
    clf = make(random_state=0).fit(X, y, sample_weight=weights)
    alone = make(random_state=0)
    alone.fit(X[kept], [y[i] for i in kept], sample_weight=weights[kept])
    assert states_are_equal(clf, alone)


@each
def test_early_stopping_measures_the_best_label(make):
    X, lists = topics(200)
    clf = make(early_stopping=True, validation_fraction=0.3, random_state=0)
    clf.fit(X, named(lists))
    assert 0 < clf.validation_errors_[-1] < 0.6


@pytest.mark.parametrize("n_jobs", [2, 4])
@each
def test_threads_learn_lists(n_jobs, make):
    X, lists = topics(1000)
    y = named(lists)
    clf = make(random_state=0, n_jobs=n_jobs, n_passes=2).fit(X, y)
    assert clf.n_examples_ == 2000
    assert clf.score(X, y) > 0.8


def test_dense_rows_and_a_memory_budget_take_lists():
    X, lists = topics(600)
    y = named(lists)
    assert OneAgainstSomeClassifier(random_state=0).fit(X.toarray(), y).score(X.toarray(), y) > 0.5
    cells = OneAgainstSomeClassifier(keys="cells", random_state=0).fit(X.toarray(), y)
    assert cells.score(X.toarray(), y) > 0.5
    small = OneAgainstSomeClassifier(random_state=0, memory_budget=120_000).fit(X, y)
    assert small.memory_bytes_ <= 120_000
    assert small.score(X, y) > 0.3


@each
def test_a_model_of_labels_refuses_lists(make):
    X, lists = topics(50)
    one = [row[0] for row in lists]
    clf = make().partial_fit(X, one)
    with pytest.raises(ValueError, match="call fit to start from scratch with lists"):
        clf.partial_fit(X, lists)
    with pytest.raises(ValueError, match="learned one label for each row and answers with one"):
        clf.predict(X, threshold=0.5)
    assert clf.predict(X).shape == (50,)
    assert clf.fit(X, lists).predict(X).shape == (50, N_LABELS)


def test_lom_tree_says_who_learns_lists():
    X, lists = topics(50)
    for y in (named(lists), indicator(lists)):
        with pytest.raises(ValueError, match="OneAgainstAllClassifier learn several"):
            LOMTreeClassifier().fit(X, y)


@each
def test_nothing_to_learn_is_an_error(make):
    X, _ = topics(5)
    with pytest.raises(ValueError, match="has a label"):
        make().fit(X, [[], [], [], [], []])


def with_empty_rows(n):
    """Rows of which a third have words, but none of the labels."""
    X, lists = topics(n)
    random = np.random.default_rng(5)
    lists = [[] if random.random() < 0.33 else row for row in named(lists)]
    words = X.toarray()
    words[[not row for row in lists]] = (
        random.random((sum(not row for row in lists), N_WORDS)) < 0.08
    )
    return sp.csr_array(words), lists


@each
def test_rows_without_labels_teach_that_no_label_is_right(make):
    X, y = with_empty_rows(1500)
    skips, learns = make(random_state=0), make(rows_without_labels="learn", random_state=0)
    skips.fit(X[:1000], y[:1000])
    learns.fit(X[:1000], y[:1000])
    assert learns.n_examples_ == 1000
    assert skips.n_examples_ == sum(len(row) > 0 for row in y[:1000])
    empty = np.array([len(row) == 0 for row in y[1000:]])
    answers = [clf.predict(X[1000:], threshold=0.3).sum(axis=1) for clf in (skips, learns)]
    assert answers[1][empty].mean() < 0.8 * answers[0][empty].mean()
    labelled = [row for row in y[1000:] if row]
    assert learns.score(X[1000:][~empty], labelled) > skips.score(X[1000:][~empty], labelled) - 0.03
    # errors are counted on rows that have labels
    weight = learns._fitted.core.progressive_weight
    assert weight == skips._fitted.core.progressive_weight or make is KINDS["negative-samples"]


@each
def test_rows_without_labels_may_come_first(make, tmp_path):
    X, y = with_empty_rows(300)
    clf = make(rows_without_labels="learn", random_state=0)
    clf.partial_fit(X[:2], [[], []])
    with pytest.raises(NotFittedError):
        clf.predict(X)
    clf.partial_fit(X, y)
    assert clf.n_examples_ == 302
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    assert again.rows_without_labels == "learn"
    X_more, y_more = with_empty_rows(100)
    assert states_are_equal(again.partial_fit(X_more, y_more), clf.partial_fit(X_more, y_more))
    with pytest.raises(ValueError, match="has a label"):
        make(rows_without_labels="learn").fit(X[:2], [[], []])


@each
def test_early_stopping_holds_out_rows_with_labels(make):
    X, y = with_empty_rows(300)
    clf = make(rows_without_labels="learn", early_stopping=True, random_state=0).fit(X, y)
    assert clf.validation_errors_[-1] < 0.5


@each
def test_models_of_lists_are_merged_by_the_names_of_labels(make):
    X, lists = topics(1200)
    y = named(lists)
    first, second = make().partial_fit(X[:600], y[:600]), make().partial_fit(X[600:], y[600:])
    assert first.classes_.tolist() != second.classes_.tolist()  # in their own order
    merged = recalltree.merge([first, second])
    assert merged.n_examples_ == 1200
    assert sorted(merged.classes_) == sorted({*first.classes_, *second.classes_})
    assert sp.issparse(merged.predict(X))
    assert merged.score(X, y) > 0.7


@each
def test_models_of_lists_are_inspected_and_explained(make, tmp_path):
    X, lists = topics(400)
    y = named(lists)
    clf = make(random_state=0).fit(X, y)
    found = summary(clf)
    assert (found["n_examples"], found["n_classes"]) == (400, N_LABELS)
    assert html_report(clf, tmp_path / "report.html").stat().st_size > 10_000
    row = X[[0]]
    labels, probabilities = clf.predict_topk(row, 3)
    explanation = clf.explain(row, k=3)
    assert [candidate.label for candidate in explanation.candidates] == labels[0].tolist()
    told = [candidate.probability for candidate in explanation.candidates]
    np.testing.assert_allclose(told, probabilities[0], rtol=1e-6)
