"""An interrupt of fit is answered soon and leaves a model that works."""

import json
import subprocess
import sys

import pytest
from classifiers import CLASSIFIERS

from recalltree import LOMTreeClassifier

# All cases in one process of their own: a real SIGINT, and sklearn is imported once.
SCRIPT = """
import json, os, pickle, signal, sys, threading, time
import numpy as np
from sklearn.datasets import load_digits
import recalltree

X, y = load_digits(return_X_y=True)
sent = []

def interrupt():
    while getattr(clf, "n_iter_", 0) < 1:  # a busy machine may be slow to begin
        time.sleep(0.01)
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

lists = [[d, 10 + d % 2] for d in y.tolist()]
kinds = [(name, kind) for name in sys.argv[1:] for kind in ("labels", "lists")]
for name, kind in kinds:
    if (name, kind) == ("LOMTreeClassifier", "lists"):
        continue
    given = y if kind == "labels" else lists
    more = y + 5 if kind == "labels" else [[d + 5] for d in y.tolist()]
    for n_jobs in (1, 2):
        clf = getattr(recalltree, name)(n_passes=10**9, n_jobs=n_jobs, random_state=0)
        threading.Timer(0.5, interrupt).start()
        try:
            clf.fit(X, given)
        except KeyboardInterrupt:
            waited = time.perf_counter() - sent[-1]
        again = pickle.loads(pickle.dumps(clf))
        found = {
            "name": name,
            "kind": kind,
            "n_jobs": n_jobs,
            "waited": waited,
            "n_iter_": clf.n_iter_,
            "classes_": clf.classes_.tolist(),
            "n_features_in_": clf.n_features_in_,
            "progressive_error_": clf.progressive_error_,
            "score": clf.score(X, given),
            "sums": clf.predict_proba(X).sum(axis=1).tolist(),
            "pickles": np.array_equal(again.predict_proba(X), clf.predict_proba(X)),
            "goes on": clf.partial_fit(X, more).n_classes_seen_,
            "starts from scratch": clf.set_params(n_passes=1).fit(X, given).n_iter_,
        }
        print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def cases():
    names = [classifier.__name__ for classifier in CLASSIFIERS]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, *names], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    return {(case["name"], case["kind"], case["n_jobs"]): case for case in found}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", ["labels", "lists"])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_interrupt(classifier, kind, n_jobs, cases):
    if kind == "lists" and classifier is LOMTreeClassifier:
        pytest.skip("LOMTree learns one label for each row")
    found = cases[classifier.__name__, kind, n_jobs]
    assert found["waited"] < 1.0
    assert found["n_iter_"] >= 1
    assert found["classes_"] == list(range(10 if kind == "labels" else 12))
    assert found["n_features_in_"] == 64
    assert 0 < found["progressive_error_"] < 1
    assert found["score"] > 0.8
    if kind == "labels":
        assert found["sums"] == pytest.approx([1.0] * len(found["sums"]))
    else:
        assert max(found["sums"]) > 1.5  # each label by itself
    assert found["pickles"]
    assert found["goes on"] == 15
    assert found["starts from scratch"] == 1
