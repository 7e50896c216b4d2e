"""Estimators are used by several threads while one of them learns, and classes keep arriving."""

import copy
import pickle
import sys
import threading
from collections import Counter

import numpy as np
import pytest
from classifiers import CLASSIFIERS
from sklearn.exceptions import NotFittedError

import recalltree
from recalltree.inspection import class_counts, find_class, node_table, report_page, summary

N_FEATURES = 12
BATCH = 16


def batch(i, n_classes=6):
    """Return rows of classes that no other batch has: each class has features of its own."""
    rng = np.random.default_rng(i)
    numbers = i * n_classes + rng.permutation(np.arange(BATCH) % n_classes)
    X = rng.random((BATCH, N_FEATURES)) + np.eye(N_FEATURES)[numbers % N_FEATURES]
    # Labels get longer, so that an array of them gets a new type.
    return X, np.array([f"class {n} " + "x" * (n // 50) for n in numbers])


def check_labels(clf, labels):
    known = set(clf.classes_.tolist())
    assert all(label in known for label in labels)


def check_probabilities(clf, probabilities):
    assert probabilities.shape[1] <= len(clf.classes_)
    np.testing.assert_allclose(np.asarray(probabilities.sum(axis=1)).ravel(), 1.0)


def use_topk(clf, X, _):
    labels, probabilities = clf.predict_topk(X, k=5)
    check_labels(clf, labels.ravel())
    assert (np.diff(probabilities, axis=1) <= 0).all()


def use_candidates(clf, X, _):
    found = clf.candidates(X)
    assert found.indices.max() < found.shape[1] <= len(clf.classes_)


def use_explain(clf, X, _):
    found = clf.explain(X[0])
    assert found.label == found.candidates[0].label
    for candidate in found.candidates:
        if candidate.bias is not None:  # the candidates of a LOMTree have no predictors
            parts = [feature.contribution for feature in candidate.features]
            total = sum(parts) + candidate.other_features + candidate.bias + candidate.path
            assert total == pytest.approx(candidate.score, rel=1e-3, abs=1e-3)


def use_save(clf, X, folder):
    path = folder / f"{threading.get_ident()}.rt"
    clf.save(path)
    check_copy(recalltree.load(path, mmap=False, verify=True), X)


def check_copy(twin, X):
    """A copy of the model is whole: it predicts, and continues to learn."""
    assert twin.n_examples_ % BATCH == 0
    check_labels(twin, twin.predict(X))
    if "tree_" in dir(twin) and hasattr(twin.tree_, "total"):
        assert twin.tree_.total[0] == twin.n_examples_
    twin.partial_fit(X, ["a", "b"] * (len(X) // 2))


def use_figures(clf, X, _):
    found = summary(clf)
    assert found["n_examples"] % BATCH == found["work"]["examples_learned"] % BATCH == 0
    assert found["n_examples"] == found["work"]["examples_learned"]
    counts = class_counts(clf)
    assert counts is None or counts.sum() % 1 == 0
    if "tree" in found and "recall_bound" in found["tree"]:
        assert found["tree"]["by_depth"][0]["n_examples"] == found["n_examples"]
    assert find_class(clf, clf.classes_[-1])["class_id"] < len(clf.classes_)
    assert report_page(clf, (X, clf.predict(X))).startswith("<!DOCTYPE html>")


def use_attributes(clf, X, _):
    before = clf.n_examples_
    curve = clf.progressive_curve_
    assert (np.diff(curve["examples"]) > 0).all()
    assert curve["examples"][-1] >= before
    assert 0 <= clf.progressive_error_ <= 1
    assert clf.n_classes_seen_ <= len(clf.classes_)
    classes = clf.classes_
    assert clf.memory_bytes_ > 0
    assert len(set(classes.tolist())) == len(classes)
    if nodes := node_table(clf):
        tree = clf.tree_
        assert len(nodes) <= len(tree)
        assert "nodes" in repr(tree)
        assert len(tree.histogram(tree.root)[0]) >= 0
        assert len(tree.depth) >= len(nodes)


USES = {
    "predict": lambda clf, X, _: check_labels(clf, clf.predict(X)),
    "predict_proba": lambda clf, X, _: check_probabilities(clf, clf.predict_proba(X)),
    "predict_proba, sparse": lambda clf, X, _: check_probabilities(
        clf, clf.predict_proba(X, sparse=True)
    ),
    "predict_topk": use_topk,
    "candidates": use_candidates,
    "score": lambda clf, X, _: clf.score(X, clf.predict(X)),
    "explain": use_explain,
    "save": use_save,
    "pickle": lambda clf, X, _: check_copy(pickle.loads(pickle.dumps(clf)), X),
    "copy": lambda clf, X, _: check_copy(copy.deepcopy(clf), X),
    "compact": lambda clf, X, _: check_labels(clf, clf.compact().predict(X)),
    "figures": use_figures,
    "attributes": use_attributes,
}


def in_threads(*functions):
    """Run functions at the same time, and raise what any of them raised."""
    errors = []

    def run(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
        assert not thread.is_alive(), "the threads wait for each other"
    if errors:
        raise errors[0]


@pytest.fixture(autouse=True)
def switch_often():
    """Let Python change threads as often as it can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_a_model_can_be_used_while_it_learns_new_classes(classifier, use, tmp_path):
    clf = classifier(random_state=0).partial_fit(*batch(0))
    X, _ = batch(0)
    learned = threading.Event()

    def learn():
        try:
            for i in range(1, 60):
                clf.partial_fit(*batch(i))
        finally:
            learned.set()

    def look():
        while True:
            last = learned.is_set()
            USES[use](clf, X, tmp_path)
            if last:
                return

    in_threads(learn, look, look)
    assert clf.n_examples_ == 60 * BATCH
    assert len(clf.classes_) == 360


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_threads_that_learn_take_turns(classifier):
    clf = classifier(random_state=0)

    def learn(first):
        for i in range(first, 40, 2):
            clf.partial_fit(*batch(i))

    in_threads(lambda: learn(0), lambda: learn(1), lambda: learn(40 - 1))
    assert clf.n_examples_ == 41 * BATCH
    assert len(clf.classes_) == len(set(clf.classes_.tolist())) == clf.n_classes_seen_ == 240
    counts = class_counts(clf)
    if counts is not None:
        # Every label has the examples that were given with it.
        given = Counter(label for i in [*range(40), 39] for label in batch(i)[1].tolist())
        assert dict(zip(clf.classes_.tolist(), counts, strict=True)) == given


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_predictions_belong_to_one_model_while_another_is_fitted(classifier):
    X, y = batch(0)
    other = np.array([label.replace("class", "other") for label in y])[::-1]
    clf = classifier(random_state=0).fit(X, y)
    fitted = threading.Event()

    def fit():
        try:
            for i in range(60):
                clf.fit(X, other if i % 2 else y)
        finally:
            fitted.set()

    def predict():
        while not fitted.is_set():
            try:
                labels, _ = clf.predict_topk(X, k=3)
                explained = [candidate.label for candidate in clf.explain(X[0]).candidates]
            except NotFittedError:
                continue  # a model that has just begun
            for answers in (labels.ravel(), explained):
                assert len({label.split()[0] for label in answers}) == 1

    in_threads(fit, predict, predict)


def test_a_mapped_model_can_be_used_while_it_begins_to_learn(tmp_path):
    clf = recalltree.OneAgainstSomeClassifier(random_state=0).partial_fit(*batch(0))
    clf.save(tmp_path / "model.rt")
    X, _ = batch(0)
    for _ in range(5):
        mapped = recalltree.load(tmp_path / "model.rt")
        learned = threading.Event()

        def learn(mapped=mapped, learned=learned):
            try:
                for i in range(1, 10):
                    mapped.partial_fit(*batch(i))
            finally:
                learned.set()

        def look(mapped=mapped, learned=learned):
            while not learned.is_set():
                use_topk(mapped, X, None)
                check_labels(mapped, mapped.predict(X))

        in_threads(learn, look)
