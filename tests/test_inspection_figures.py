"""Every figure that inspection shows, held to plain counts over the rows."""

import tempfile
from collections import Counter

import numpy as np
import pytest
from classifiers import CLASSIFIERS
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import recalltree
from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.inspection import (
    Evaluation,
    ListEvaluation,
    class_counts,
    find_class,
    node_table,
    summary,
)
from recalltree.inspection.report_data import report_data
from recalltree.metrics import ndcg_at_k, precision_at_k, recall_at_k

N_FEATURES = 6
OPTIONS = {
    RecallTreeClassifier: {"max_candidates": 2},
    # Fewer labels per histogram than there are classes.
    OneAgainstSomeClassifier: {"max_candidates": 3, "max_labels": 2},
}

examples = st.lists(
    st.tuples(st.sampled_from("abcdefghi"), st.sampled_from([0.0, 0.5, 1.0, 2.0, 2.0])),
    min_size=3,
    max_size=60,
).filter(lambda rows: len({label for label, weight in rows if weight}) > 1)


def fitted(classifier, rows, seed, is_sparse, n_passes, storage, shuffle=True):
    """Return a model, its rows, labels and weights."""
    X = np.random.default_rng(seed).integers(0, 3, (len(rows), N_FEATURES)).astype(float)
    X = sparse.csr_array(X) if is_sparse else X
    labels = np.array([label for label, _ in rows])
    weights = np.array([weight for _, weight in rows])
    options = {"n_passes": n_passes, "shuffle": shuffle, **OPTIONS.get(classifier, {})}
    clf = classifier(random_state=seed, **options)
    clf.fit(X, labels, sample_weight=weights)
    if storage == "mapped":
        with tempfile.TemporaryDirectory() as folder:
            clf.save(f"{folder}/model.rt")
            clf = recalltree.load(f"{folder}/model.rt")
    elif storage == "compact":
        clf = clf.compact()
    return clf, X, labels, weights


def weight_by_label(labels, weights):
    sums = Counter()
    for label, weight in zip(labels.tolist(), weights.tolist(), strict=True):
        if weight:
            sums[label] += weight
    return sums


def check_summary(clf, expected, n_learned, is_sparse):
    found = summary(clf)
    assert found["n_examples"] == clf.n_examples_ == n_learned
    assert found["n_classes"] == found["n_classes_seen"] == len(expected)
    assert (found["n_features"], found["storage"]) == (
        N_FEATURES,
        "sparse" if is_sparse else "dense",
    )
    assert found["memory_bytes"] == sum(found["memory_by_part"].values())
    assert min(found["memory_by_part"].values()) > 8  # more than an offset of nothing
    if isinstance(clf, RecallTreeClassifier | OneAgainstSomeClassifier):
        ranked = sorted(expected.values(), reverse=True)
        assert found["class_frequency"] == {
            "max": ranked[0],
            "median": np.median(ranked),
            "min": ranked[-1],
            "share_of_top_tenth": pytest.approx(sum(ranked[: -(-len(ranked) // 10)]) / sum(ranked)),
        }
        counts = class_counts(clf)
        assert dict(zip(clf.classes_.tolist(), counts.tolist(), strict=True)) == expected
    else:
        assert "class_frequency" not in found
        assert class_counts(clf) is None


def check_classes(clf, expected):
    is_counted = class_counts(clf) is not None
    tree = getattr(clf, "tree_", None)
    for label, weight in expected.items():
        found = find_class(clf, label)
        assert found["n_examples"] == (weight if is_counted else None)
        for place in found["nodes"]:
            labels, counts = tree.histogram(place["node"])
            assert labels[place["rank"] - 1] == label
            assert place["n_examples"] == counts[place["rank"] - 1]
            assert place["share"] == pytest.approx(place["n_examples"] / counts.sum())


def check_tree(clf, expected):
    nodes = node_table(clf)
    if nodes is None:
        return
    found, tree = summary(clf)["tree"], clf.tree_
    assert found["n_nodes"] == len(tree) == sum(level["n_nodes"] for level in found["by_depth"])
    assert found["n_leaves"] == tree.is_leaf.sum()
    assert sum(level["stopping"] for level in found["by_depth"]) == pytest.approx(1)
    if isinstance(clf, RecallTreeClassifier):
        assert found["by_depth"][0]["n_examples"] == sum(expected.values())
    for node in range(len(tree)):
        labels, counts = tree.histogram(node)
        if isinstance(clf, RecallTreeClassifier) or tree.is_leaf[node]:
            assert nodes.total[node] == pytest.approx(counts.sum())
            assert nodes.n_labels[node] == len(labels)


def check_page(clf, expected, X, labels, weights):
    evaluation = Evaluation(clf, k=2).update(X, labels, weights)
    page = report_data(clf, evaluation)
    answers = clf.predict(X)
    right = labels == answers
    rows_of = {label: weights[labels == label].sum() for label in clf.classes_}
    right_of = {label: weights[(labels == label) & right].sum() for label in clf.classes_}
    classes = page["classes"]
    assert classes["n_classes"] == len(expected)
    assert sorted(classes["labels"]) == sorted(expected)
    assert dict(zip(classes["labels"], classes["rows"], strict=True)) == rows_of
    assert dict(zip(classes["labels"], classes["right"], strict=True)) == right_of
    frequency = page["frequency"]
    if class_counts(clf) is not None:
        assert dict(zip(classes["labels"], classes["counts"], strict=True)) == expected
        assert classes["counts"] == sorted(expected.values(), reverse=True)
        assert frequency == {
            "ranks": list(range(1, len(expected) + 1)),
            "counts": classes["counts"],
            "from": "examples",
        }
    else:
        assert classes["counts"] is None
        assert frequency["from"] == "rows"
        shown = sorted((rows for rows in rows_of.values() if rows), reverse=True)
        assert frequency["counts"] == shown
    found = page["evaluation"]
    assert found["n_rows"] == len(labels)
    assert found["error@1"] == pytest.approx(weights[~right].sum() / weights.sum())
    confused = Counter(
        (label, answer)
        for label, answer in zip(labels.tolist(), answers.tolist(), strict=True)
        if label != answer and label in expected
    )
    assert {
        (classes["labels"][pair["label"]], classes["labels"][pair["answer"]]): pair["n_rows"]
        for pair in page["confused"]
    } == confused


def check_explanation(clf, expected, x):
    found = clf.explain(x, k=len(expected))
    scored = clf.candidates(x)
    probabilities = clf.predict_proba(x)[0]
    assert found.label == clf.predict(x)[0]
    assert found.n_candidates == len(found.candidates) == scored.nnz
    for candidate in found.candidates:
        class_id = clf.classes_.tolist().index(candidate.label)
        assert candidate.score == pytest.approx(scored[0, class_id])
        assert candidate.probability == pytest.approx(probabilities[class_id])
        if found.route:
            labels, counts = clf.tree_.histogram(found.route[-1].node)
            here = dict(zip(labels.tolist(), counts.tolist(), strict=True))
            assert candidate.n_examples == here[candidate.label]
    if isinstance(clf, RecallTreeClassifier):
        assert found.route[0].n_examples == sum(expected.values())
        assert found.route[0].n_labels == len(expected)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@settings(deadline=None, max_examples=25)
@given(
    rows=examples,
    seed=st.integers(0, 100),
    is_sparse=st.booleans(),
    n_passes=st.integers(1, 2),
    storage=st.sampled_from(["memory", "mapped", "compact"]),
)
def test_figures_are_plain_counts_over_the_rows(
    classifier, rows, seed, is_sparse, n_passes, storage
):
    clf, X, labels, weights = fitted(classifier, rows, seed, is_sparse, n_passes, storage)
    n_learned = n_passes * int((weights > 0).sum())
    times = n_passes if classifier is RecallTreeClassifier else 1  # how often a row is counted
    expected = weight_by_label(labels, times * weights)
    check_summary(clf, expected, n_learned, is_sparse)
    check_classes(clf, expected)
    check_tree(clf, expected)
    check_page(clf, expected, X, labels, weights)
    check_explanation(clf, expected, X[[0]])


def moments_of_the_first_pass(classifier, X, labels, weights, n_learned, seed):
    """Return examples, weight and errors at each point: rows are predicted, then learned.

    Points are 16 examples apart, and at the end of all passes if the last rows had no point yet.
    """
    twin = classifier(random_state=seed, **OPTIONS.get(classifier, {}))
    weight = errors = 0.0
    so_far = []
    for i in np.flatnonzero(weights):
        x, label = X[[i]], labels[i]
        weight += weights[i]
        errors += weights[i] * (not so_far or twin.predict(x)[0] != label)
        twin.partial_fit(x, [label], sample_weight=weights[[i]])
        so_far.append((weight, errors))
    points = []
    for n in range(1, n_learned + 1):
        weight, errors = so_far[min(n, len(so_far)) - 1]
        is_due = n == n_learned or (n <= len(so_far) and n % 16 == 0)
        if is_due and (not points or points[-1][1] < weight):
            points.append((n, weight, errors))
    return np.array(points).T


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@settings(deadline=None, max_examples=10)
@given(
    rows=examples,
    seed=st.integers(0, 100),
    is_sparse=st.booleans(),
    n_passes=st.integers(1, 2),
    storage=st.sampled_from(["memory", "mapped", "compact"]),
)
def test_progressive_errors_are_those_of_predicting_each_row_before_learning_it(
    classifier, rows, seed, is_sparse, n_passes, storage
):
    clf, X, labels, weights = fitted(
        classifier, rows, seed, is_sparse, n_passes, storage, shuffle=False
    )
    n_learned = n_passes * int((weights > 0).sum())
    n, weight, errors = moments_of_the_first_pass(classifier, X, labels, weights, n_learned, seed)
    curve = clf.progressive_curve_
    assert curve["examples"].tolist() == n.tolist()
    assert curve["error"] == pytest.approx(errors / weight)
    assert curve["recent_error"] == pytest.approx(
        np.diff(errors, prepend=0) / np.diff(weight, prepend=0)
    )
    assert clf.progressive_error_ == pytest.approx(errors[-1] / weight[-1])
    assert summary(clf)["progressive_error"] == clf.progressive_error_
    page = report_data(clf, None)
    for name in ("examples", "error", "recent_error"):
        assert page["curve"][name] == pytest.approx(curve[name], rel=1e-4)


def routers_asked(clf, X, n_classes):
    """Return how many routers rows ask on their way down."""
    routes = [clf.explain(X[[i]]).route for i in range(X.shape[0])]
    if isinstance(clf, RecallTreeClassifier):
        # The last one is asked, too, unless it is as deep as nodes may be.
        deepest = max(1, int(np.log2(n_classes)))
        return sum(min(len(route), deepest) for route in routes)
    return sum(len(route) - 1 for route in routes)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@settings(deadline=None, max_examples=10)
@given(
    rows=examples,
    seed=st.integers(0, 100),
    is_sparse=st.booleans(),
    n_passes=st.integers(1, 2),
    storage=st.sampled_from(["memory", "mapped", "compact"]),
)
def test_work_is_what_rows_take(classifier, rows, seed, is_sparse, n_passes, storage):
    clf, X, labels, weights = fitted(classifier, rows, seed, is_sparse, n_passes, storage)
    learned = clf.work_
    n_learned = n_passes * int((weights > 0).sum())
    assert learned["examples_learned"] == (n_learned if storage == "memory" else 0)
    scored = clf.candidates(X).nnz
    n_predictors = 0 if classifier is LOMTreeClassifier else scored
    for n_rows in (1, X.shape[0]):
        before = clf.work_
        clf.predict(X[:n_rows])
        after = clf.work_
        done = {name: after[name] - before[name] for name in after}
        assert done["examples_predicted"] == n_rows
        assert done["pairs_found"] <= done["pair_lookups"]
        for name in ("examples_learned", "progressive_evaluations", "pairs_changed"):
            assert done[name] == 0
    if hasattr(clf, "tree_"):
        n_classes = len(set(labels[weights > 0].tolist()))
        assert done["router_evaluations"] == routers_asked(clf, X, n_classes)
    assert done["predictor_evaluations"] == n_predictors
    assert summary(clf)["work"] == clf.work_


def test_classes_beyond_the_longest_histogram_are_counted(tmp_path):
    """The histogram of frequent classes holds 512."""
    labels = np.repeat(np.arange(700), [2] * 600 + [1] * 100)
    X = sparse.csr_array(np.eye(700)[labels])
    clf = OneAgainstSomeClassifier(random_state=0).fit(X, labels)
    clf.save(tmp_path / "model.rt")
    for model in (clf, recalltree.load(tmp_path / "model.rt"), clf.compact()):
        np.testing.assert_array_equal(class_counts(model), np.bincount(labels))
        assert summary(model)["class_frequency"]["min"] == 1
        assert report_data(model, None)["frequency"]["ranks"][-1] == 700


# --- rows with several labels -----------------------------------------------------------------

LIST_CLASSIFIERS = [RecallTreeClassifier, OneAgainstAllClassifier, OneAgainstSomeClassifier]

#: "y" and "z" are only ever labels of rows that are not learned.
lists = st.lists(st.sampled_from("abcdefgh"), max_size=6, unique=True)
lists_with_unknown = st.lists(st.sampled_from("abcdyz"), max_size=6, unique=True)


def check_labels_on_page(page, clf, rows, weights, answers, k):
    """Hold what the page says of labels to plain counts, by weight."""
    having, right, replaced, sizes = Counter(), Counter(), Counter(), Counter()
    for labels, weight, named in zip(rows, weights.tolist(), answers, strict=True):
        sizes[len(labels)] += 1
        for label in labels:
            having[label] += weight
            right[label] += weight * (label in named)
        m = len(labels)
        missing = set(labels) - set(named[:m])
        wrong = [answer for answer in named[:m] if answer not in labels]
        if m <= k and len(missing) == len(wrong) == 1 and missing <= set(clf.classes_):
            replaced[missing.pop(), wrong[0]] += 1
    names = page["classes"]["labels"]
    for name, counts in {"rows": having, "right": right}.items():
        expected = [counts[label] for label in names]
        assert page["classes"][name] == pytest.approx(expected, rel=1e-4)
    found = {
        (names[pair["label"]], names[pair["answer"]]): pair["n_rows"] for pair in page["confused"]
    }
    assert found == replaced
    shown = {bar["from"]: bar["n_rows"] for bar in page["lists"]["sizes"] if bar["n_rows"]}
    assert shown == sizes
    return having, right


def check_worst_rows(page, evaluation, rows, answers, topk, k):
    results = {i: ndcg_at_k([rows[i]], topk[[i]], k) for i in range(len(rows)) if rows[i]}
    order = sorted(results, key=lambda i: (round(results[i], 12), -len(rows[i]), i))
    names = page["classes"]["labels"]
    assert [row["row"] for row in page["lists"]["worst"]] == order
    assert [row["row"] for row in evaluation.worst_rows(3)] == order[:3]
    for row in page["lists"]["worst"]:
        i = row["row"]
        assert row["result"] == pytest.approx(results[i], abs=1e-4)
        assert row["n_labels"] == len(rows[i])
        for part, others in ((rows[i], answers[i]), (answers[i], rows[i])):
            shown = row["labels" if part is rows[i] else "answers"]
            assert [label["text"] for label in shown] == part
            assert [label["right"] for label in shown] == [label in others for label in part]
            places = [names.index(label) if label in names else -1 for label in part]
            assert [label["place"] for label in shown] == places


def check_stops(page, clf, X, rows, weights, compared):
    """Hold the depths at which rows stop to their routes."""
    expected = Counter()
    for i, labels in enumerate(rows):
        depth = len(clf.explain(X[[i]]).route) - 1
        share = np.mean([label in compared[i] for label in labels]) if labels else 0
        has_labels = weights[i] * (len(labels) > 0)
        for column, value in enumerate((weights[i], has_labels * share, has_labels)):
            expected[depth, column] += value
    for depth, found in enumerate(page["evaluation"]["stops"]):
        plain = [expected[depth, column] for column in range(3)]
        assert found == pytest.approx(plain, rel=1e-4)


@pytest.mark.parametrize("classifier", LIST_CLASSIFIERS)
@settings(deadline=None, max_examples=25)
@given(
    learned=st.lists(lists, min_size=8, max_size=40).filter(lambda rows: sum(map(len, rows)) > 12),
    rows=st.lists(lists_with_unknown, min_size=8, max_size=30).filter(any),
    seed=st.integers(0, 100),
    is_sparse=st.booleans(),
    storage=st.sampled_from(["memory", "mapped", "compact"]),
)
def test_figures_of_lists_are_plain_counts_over_the_rows(
    classifier, learned, rows, seed, is_sparse, storage
):
    rows = [sorted(labels) for labels in rows]
    random = np.random.default_rng(seed)
    make = sparse.csr_array if is_sparse else np.asarray
    options = OPTIONS.get(classifier, {})
    clf = classifier(random_state=seed, **options).fit(
        make(random.integers(0, 3, (len(learned), N_FEATURES)).astype(float)), learned
    )
    if storage == "mapped":
        with tempfile.TemporaryDirectory() as folder:
            clf.save(f"{folder}/model.rt")
            clf = recalltree.load(f"{folder}/model.rt")
    elif storage == "compact":
        clf = clf.compact()
    X = make(random.integers(0, 3, (len(rows), N_FEATURES)).astype(float))
    weights = random.choice([0.5, 1.0, 2.0], len(rows))
    evaluation = ListEvaluation(clf)
    for part in (slice(0, 7), slice(7, None)):
        evaluation.update(X[part], rows[part], weights[part])
    page = report_data(clf, evaluation)
    k = page["lists"]["k"]
    scored = clf.candidates(X)
    compared = [set(clf.classes_[scored[[i]].indices]) for i in range(len(rows))]
    # predict_topk fills up with classes that were not compared; these are no answers.
    ranked = zip(clf.predict_topk(X, k)[0].tolist(), compared, strict=True)
    answers = [[label for label in row if label in known] for row, known in ranked]
    topk = np.array([[*row, *"-----"][:k] for row in answers])

    found = page["evaluation"]
    for at in {min(1, k), min(3, k), k}:
        assert found[f"precision@{at}"] == pytest.approx(precision_at_k(rows, topk, at, weights))
    assert found[f"recall@{k}"] == pytest.approx(recall_at_k(rows, topk, k, weights))
    assert found[f"nDCG@{k}"] == pytest.approx(ndcg_at_k(rows, topk, k, weights))
    having, right = check_labels_on_page(page, clf, rows, weights, answers, k)
    check_worst_rows(page, evaluation, rows, answers, topk, k)
    if hasattr(clf, "tree_"):
        check_stops(page, clf, X, rows, weights, compared)
    total = sum(having.values())
    known = sum(having[label] for label in clf.classes_)
    held = sum(
        weights[i] * (label in compared[i]) for i, labels in enumerate(rows) for label in labels
    )
    shares = {
        "right": sum(right.values()) / total,
        "lost_among_candidates": (held - sum(right.values())) / total,
        "lost_in_routing": (known - held) / total,
        "unknown_labels": 1 - known / total,
    }
    assert page["lists"]["labels"] == pytest.approx(shares, abs=1e-6)
