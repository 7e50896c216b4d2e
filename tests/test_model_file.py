"""Saving and loading: the same predictions, the same learning, the same labels, bit for bit."""

import copy
import json
import pickle
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from classifiers import VARIANTS, core_state, digits, snapshot
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import recalltree
from recalltree import OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.model_file import read_header
from recalltree.model_file.atomic import write_atomically

variants = pytest.mark.parametrize("variant", VARIANTS, ids=str)
layouts = pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])

NAMES = np.array([f"class {i} é" for i in range(10)])


def data(n=600):
    X, y = digits(n)
    return X + (X > 0) * np.linspace(0, 1, 64), y  # fractions, so that the order of sums matters


def everything(clf, X):
    """Return all that a model can be asked."""
    scored = clf.candidates(X)
    answers = [
        clf.predict(X),
        *clf.predict_topk(X, k=4),
        clf.predict_proba(X),
        clf.predict_proba(X, sparse=True).toarray(),
        scored.indptr,
        scored.indices,
        scored.data,
        clf.classes_,
        clf.progressive_curve_,
        np.array([clf.progressive_error_, clf.n_classes_seen_]),
    ]
    core = clf._core
    if hasattr(core, "tree"):
        tree = core.tree()
        answers += [tree[name] for name in sorted(tree)]
        for node in range(len(tree["left"])):
            answers += [*core.histogram(node), core.router(node)["weights"]]
    if hasattr(core, "predictor"):
        found = [core.predictor(y) for y in range(core.n_classes)]
        answers += [row[name] for row in found for name in sorted(row)]
    explanation = json.dumps(clf.explain(X[:1]).as_dict(), default=str)
    return [*answers, np.array([explanation], dtype=object)]


def assert_same_answers(found, expected):
    for a, b in zip(found, expected, strict=True):
        assert_array_equal(a, b)


@variants
@layouts
def test_mapped_model_answers_as_the_one_saved(tmp_path, variant, make):
    X, y = data()
    clf = clone(variant).fit(make(X[:400]), NAMES[y[:400]])
    clf.save(tmp_path / "model.rt")
    mapped = recalltree.load(tmp_path / "model.rt")
    assert type(mapped) is type(clf)
    assert mapped.get_params() == clf.get_params()
    assert type(mapped._core).__name__.startswith("Mapped")
    for n in (1, 600):  # few rows and many rows take different ways
        assert_same_answers(everything(mapped, make(X[:n])), everything(clf, make(X[:n])))
    assert core_state(mapped) == core_state(clf)


@variants
@layouts
@pytest.mark.parametrize("mmap", [True, False])
def test_learning_goes_on_where_it_stopped(tmp_path, variant, make, mmap):
    X, y = data()
    clf = clone(variant).partial_fit(make(X[:300]), y[:300])
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt", mmap=mmap)
    for part in (slice(300, 301), slice(301, 600)):
        clf.partial_fit(make(X[part]), y[part])
        again.partial_fit(make(X[part]), y[part])
        assert snapshot(again) == snapshot(clf)


RESUME = """
import sys
sys.path.insert(0, sys.argv[1])
from test_model_file import make_layout, data, recalltree
X, y = data()
clf = recalltree.load(sys.argv[2])
clf.partial_fit(make_layout(sys.argv[3], X[300:]), y[300:]).save(sys.argv[2])
"""


def make_layout(layout, X):
    return sparse.csr_array(X) if layout == "sparse" else X


@variants
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_learning_goes_on_in_another_process(tmp_path, variant, layout):
    X, y = data()
    clf = clone(variant).partial_fit(make_layout(layout, X[:300]), y[:300])
    path = tmp_path / "model.rt"
    clf.save(path)
    arguments = [sys.executable, "-c", RESUME, str(Path(__file__).parent), str(path), layout]
    subprocess.run(arguments, check=True, timeout=120)
    clf.partial_fit(make_layout(layout, X[300:]), y[300:]).save(tmp_path / "whole.rt")
    assert path.read_bytes() == (tmp_path / "whole.rt").read_bytes()


@variants
@layouts
def test_a_mapped_model_saves_and_pickles_the_same_bytes(tmp_path, variant, make):
    X, y = data(300)
    clf = clone(variant).fit(make(X), y)
    clf.save(tmp_path / "first.rt")
    mapped = recalltree.load(tmp_path / "first.rt")
    mapped.save(tmp_path / "second.rt")
    first = (tmp_path / "first.rt").read_bytes()
    assert (tmp_path / "second.rt").read_bytes() == first
    assert clf.__getstate__()["_saved"].tobytes() == first
    for original in (clf, mapped):
        for copied in (pickle.loads(pickle.dumps(original)), copy.deepcopy(original)):
            assert type(copied._core) is type(original._core)
            assert_same_answers(everything(copied, make(X)), everything(clf, make(X)))
            assert copied.__getstate__()["_saved"].tobytes() == first


LABELS = {
    "strings": np.array(["b", "a", "ccc"]),
    "wide strings": np.array(["b", "a", "ccc"], dtype="U20"),
    "objects": np.array(["", "é", "\ud800 \0 \U0001f600"], dtype=object),
    "bool": np.array([True, False]),
    "int8": np.array([-3, 2, 1], dtype=np.int8),
    "int64": np.array([-(2**63), 2**63 - 1, 0]),
    "uint64": np.array([2**64 - 1, 0], dtype=np.uint64),
    "float32": np.array([3.0, -1.0, 0.0], dtype=np.float32),
    "float64": np.array([1e300, -1.0]),
    "longdouble": np.array([1, 2], dtype=np.longdouble),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(tmp_path, kind):
    labels = LABELS[kind]
    X = np.arange(len(labels), dtype=float)[:, np.newaxis]
    clf = RecallTreeClassifier().partial_fit(X, labels)
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    if kind != "longdouble":  # which comes back as float64
        assert again.classes_.dtype == clf.classes_.dtype
    assert again.classes_.tolist() == labels.tolist()
    assert_array_equal(again.predict(X), clf.predict(X))
    assert again.partial_fit(X, labels).classes_.tolist() == labels.tolist()


def test_named_features_and_unseen_classes(tmp_path):
    X, y = digits(50)
    X = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    clf = RecallTreeClassifier().partial_fit(X, y, classes=range(20))
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    assert_array_equal(again.feature_names_in_, clf.feature_names_in_)
    assert_array_equal(again.classes_, range(20))
    with pytest.raises(ValueError, match="feature names"):
        again.predict(X.rename(columns={"pixel 1": "other"}))


@pytest.mark.parametrize(
    "random_state",
    [
        None,
        np.int64(3),
        np.random.RandomState(5),
        np.random.RandomState(np.random.PCG64(5)),
        np.random.RandomState(np.random.Philox(5)),
        np.random.RandomState(np.random.SFC64(5)),
    ],
    ids=lambda value: type(getattr(value, "_bit_generator", value)).__name__,
)
def test_random_states(tmp_path, random_state):
    X, y = digits(60)
    clf = OneAgainstAllClassifier(negative_samples=2, random_state=random_state).fit(X, y)
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    assert type(again.random_state) in (type(random_state), int)
    if random_state is not None:
        assert core_state(again.fit(X, y)) == core_state(clf.fit(X, y))


def test_parameters_and_attributes(tmp_path):
    X, y = digits(200)
    clf = RecallTreeClassifier(
        max_candidates=np.int32(3),
        bound_lambda=np.float32(0.1),
        count_decay=np.float64(1e6),
        path_features="leaf",
        path_interactions=np.bool_(True),
        early_stopping=True,
        n_passes=5,
        n_jobs=1,
        random_state=0,
    ).fit(X, y)
    clf.save(tmp_path / "model.rt", extra={"reader": {"bits": 18}, "names": ["é"]})
    again = recalltree.load(tmp_path / "model.rt")
    assert again.get_params() == clf.get_params()
    assert again.n_iter_ == clf.n_iter_
    assert again.n_features_in_ == 64
    assert_array_equal(again.validation_errors_, clf.validation_errors_)
    assert again.model_extra_ == {"reader": {"bits": 18}, "names": ["é"]}
    again.partial_fit(X, y).save(tmp_path / "model.rt")  # extra is kept
    assert read_header(tmp_path / "model.rt")["extra"] == again.model_extra_
    assert not hasattr(again.fit(X, y), "model_extra_")


def test_parameters_changed_after_learning_began(tmp_path):
    X, y = digits(100)
    clf = RecallTreeClassifier().fit(X, y).set_params(learning_rate=0.5)
    clf.save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    assert again.learning_rate == 0.5
    with pytest.raises(ValueError, match="learning_rate changed"):
        again.partial_fit(X, y)
    again.set_params(learning_rate=1.0).partial_fit(X, y)


def test_a_failed_partial_fit_leaves_the_mapped_model(tmp_path):
    X, y = digits(100)
    RecallTreeClassifier().fit(X, y).save(tmp_path / "model.rt")
    again = recalltree.load(tmp_path / "model.rt")
    with pytest.raises(ValueError, match="64 features"):
        again.partial_fit(X[:, :3], y)
    assert type(again._core).__name__ == "MappedRecallTree"


def test_what_cannot_be_saved(tmp_path):
    X, y = digits(50)
    with pytest.raises(NotFittedError):
        RecallTreeClassifier().save(tmp_path / "model.rt")
    clf = RecallTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="extra must be a dict that JSON can hold"):
        clf.save(tmp_path / "model.rt", extra={"a": {1, 2}})
    with pytest.raises(ValueError, match=r"verbose=.* cannot be stored"):
        clone(clf).fit(X, y).set_params(verbose=[]).save(tmp_path / "model.rt")
    assert not hasattr(clf, "model_extra_")

    class Derived(RecallTreeClassifier):
        pass

    with pytest.raises(TypeError, match="cannot hold Derived"):
        Derived().fit(X, y).save(tmp_path / "model.rt")
    assert list(tmp_path.iterdir()) == []


@variants
def test_other_readers_of_safetensors_read_it(tmp_path, variant):
    X, y = digits(100)
    clf = clone(variant).fit(X, y)
    clf.save(tmp_path / "model.rt")
    tensors = load_file(tmp_path / "model.rt")
    for name, array in clf._core.state().items():
        assert_array_equal(tensors[name], array)
    header = read_header(tmp_path / "model.rt")
    assert header["n_examples"] == 100
    assert header["n_features"] == 64
    assert header["n_classes"] == 10
    assert header["tensors"].keys() == tensors.keys()


def test_tensors_are_aligned(tmp_path):
    X, y = digits(100)
    RecallTreeClassifier(path_features="leaf", path_interactions=True).fit(X, y).save(
        tmp_path / "model.rt"
    )
    mapped = recalltree.load(tmp_path / "model.rt")
    start = mapped._fitted.container.tensors["n_examples"].ctypes.data
    for name, array in mapped._core.state().items():
        alignment = 64 if array.ndim == 2 and name.endswith("weights") else array.itemsize
        assert array.ctypes.data % alignment == 0, name
        assert array.flags.writeable is False
    assert start  # the arrays are those of the file, not copies
    assert np.shares_memory(
        mapped._core.state()["predictors.weights"],
        mapped._fitted.container.tensors["predictors.weights"],
    )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to count pages")
def test_loading_reads_little(tmp_path):
    """A file of 128 MB is mapped: its weights are not read before a prediction needs them."""
    n_classes, n_features = 1000, 2**14
    clf = OneAgainstAllClassifier().fit(np.eye(2, n_features), [0, 1])
    model = clf._to_model()
    weights = np.ones((n_classes, n_features), dtype=np.float32)
    model.state |= {
        "predictors.weights": weights,
        "predictors.accumulators": weights,
        "predictors.bias": np.zeros(n_classes, dtype=np.float32),
        "predictors.bias_accumulators": np.zeros(n_classes, dtype=np.float32),
        "classes.seen": np.ones(n_classes, dtype=np.uint32),
        "classes.order": np.arange(n_classes, dtype=np.uint32),
        "n_examples": np.array([n_classes], dtype=np.uint64),
    }
    model.classes = np.arange(n_classes)
    size = write_atomically(tmp_path / "large.rt", model.parts())
    del weights, model

    import resource  # where there is /proc, there is this

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()

    began, before = time.process_time(), resident()
    mapped = recalltree.load(tmp_path / "large.rt")
    assert time.process_time() - began < 0.1
    assert resident() - before < size / 50
    mapped.predict(np.ones((1, n_features)))  # needs the weights, and nothing that learning needs
    assert size / 3 < resident() - before < size * 2 / 3
