"""An interrupt of fit is answered soon and leaves a model that works."""

import json
import subprocess
import sys

import pytest
from classifiers import CLASSIFIERS

# All cases in one process of their own: a real SIGINT, and sklearn is imported once.
SCRIPT = """
import json, os, pickle, signal, sys, threading, time
import numpy as np
from sklearn.datasets import load_digits
import recalltree

X, y = load_digits(return_X_y=True)
sent = []

def interrupt():
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

for name in sys.argv[1:]:
    for n_jobs in (1, 2):
        clf = getattr(recalltree, name)(n_passes=10**9, n_jobs=n_jobs, random_state=0)
        threading.Timer(0.5, interrupt).start()
        try:
            clf.fit(X, y)
        except KeyboardInterrupt:
            waited = time.perf_counter() - sent[-1]
        again = pickle.loads(pickle.dumps(clf))
        found = {
            "name": name,
            "n_jobs": n_jobs,
            "waited": waited,
            "n_iter_": clf.n_iter_,
            "classes_": clf.classes_.tolist(),
            "n_features_in_": clf.n_features_in_,
            "progressive_error_": clf.progressive_error_,
            "score": clf.score(X, y),
            "sums to 1": bool(np.allclose(clf.predict_proba(X).sum(axis=1), 1)),
            "pickles": bool((again.predict(X) == clf.predict(X)).all()),
            "goes on": clf.partial_fit(X, y + 5).n_classes_seen_,
            "begins anew": clf.set_params(n_passes=1).fit(X, y).n_iter_,
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
    return {(case["name"], case["n_jobs"]): case for case in found}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_interrupt(classifier, n_jobs, cases):
    found = cases[classifier.__name__, n_jobs]
    assert found["waited"] < 1.0
    assert found["n_iter_"] >= 1
    assert found["classes_"] == list(range(10))
    assert found["n_features_in_"] == 64
    assert 0 < found["progressive_error_"] < 1
    assert found["score"] > 0.8
    assert found["sums to 1"]
    assert found["pickles"]
    assert found["goes on"] == 15
    assert found["begins anew"] == 1
