"""Hostile model files, numbered as in docs/model-file.md: attacks on weights."""

import numpy as np
import pytest
from classifiers import digits
from forged import Forged
from hostile import NONE, changed, forge, refused, refused_when_read

import recalltree
from recalltree import OneAgainstAllClassifier, OneAgainstSomeClassifier, RecallTreeClassifier
from recalltree.model_file import ModelFileError

SPARSE_WEIGHTS = [("sparse tree", n) for n in ("predictors", "routers", "path", "interactions")]
SPARSE_WEIGHTS += [("sparse all", "predictors"), ("sparse lom", "routers"), ("tree", "path")]
SPARSE_WEIGHTS += [("sparse some", "routers")]


@pytest.mark.parametrize(("model", "name"), SPARSE_WEIGHTS)
def test_attack_38_offsets_of_weights(tmp_path, model, name):
    path = tmp_path / "model.rt"
    offsets = forge(model).tensors[f"{name}.offsets"]
    last = len(offsets) - 1
    for position, value in ((0, 1), (1, 2**63), (last // 2, 10**9), (last, 0), (last, 2**40)):
        refused(changed(model, f"{name}.offsets", position, value).write(path), "offsets'")
    forged = forge(model)
    forged.tensors[f"{name}.offsets"] = np.append(offsets, np.full(100, offsets[-1]))
    refused(forged.write(path), "more features than the model")


@pytest.mark.parametrize(("model", "name"), SPARSE_WEIGHTS)
def test_attack_39_rows_of_weights(tmp_path, model, name):
    path = tmp_path / "model.rt"
    for value in (10**6, NONE):
        forged = changed(model, f"{name}.rows", slice(None, None, 3), value)
        refused_when_read(forged.write(path), model, "does not exist|not increasing")
    for value in (0, slice(None, None, -1)):
        forged = forge(model)
        array = forged.tensors[f"{name}.rows"]
        array[:] = array[value]
        refused_when_read(forged.write(path), model, "not increasing")


FLOAT_MODELS = ("tree", "sparse tree", "all", "lom", "some", "sparse some", "cells")
FLOATS = [(m, n) for m in FLOAT_MODELS for n in (
    "predictors.weights", "predictors.accumulators", "predictors.bias",
    "predictors.bias_accumulators", "routers.weights", "routers.bias", "path.weights",
    "interactions.weights", "interactions.accumulators", "scale.features", "scale.sums",
    "histograms.counts", "histograms.sums", "progress", "tree.min_count",
    "tree.margins", "labels.values", "keys.examples", "keys.weights", "keys.accumulators",
    "keys.roots", "pairs.counts", "pairs.weights", "pairs.accumulators", "classes.sums",
    "classes.bias", "classes.bias_accumulators", "frequent.roots", "centring.moments",
    "centring.sums", "vote.scales", "counted.examples", "tree.passed", "class_nodes.counts",
    "whitening.mean", "whitening.rate", "whitening.matrix", "class_vectors.vectors",
    "class_vectors.inverse_norms", "class_vectors.bias", "class_vectors.accumulators",
    "class_vectors.mean_scale", "cells.scales", "cells.biases", "first_rows.rows",
    "first_rows.step_sizes", "first_rows.step_kept",
)]  # fmt: skip
FLOATS = [(model, name) for model, name in FLOATS if len(forge(model).tensors.get(name, ()))]


@pytest.mark.parametrize(("model", "name"), FLOATS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_attack_40_numbers_that_are_not_finite(tmp_path, model, name, value):
    path = changed(model, name, slice(0, None, 2), value).write(tmp_path / "model.rt")
    refused_when_read(path, model, "holds|finite|padded|ranked|range")


@pytest.mark.parametrize(
    ("classifier", "name", "position"),
    [
        (RecallTreeClassifier, "tree.decay_origin", 0),
        (OneAgainstSomeClassifier, "counted.examples", 1),
    ],
)
def test_attack_41_origin_of_decay(tmp_path, classifier, name, position):
    X, y = digits(100)
    clf = classifier(count_decay=10.0).fit(X, y)
    for value in (np.nan, np.inf, -np.inf, 1e300, -1e300):
        forged = Forged(b"".join(clf._to_model().parts()))
        forged.tensors[name][position] = value
        forged.write(tmp_path / "model.rt")
        with pytest.raises(ModelFileError, match=name):
            recalltree.load(tmp_path / "model.rt", verify=True)
        recalltree.load(tmp_path / "model.rt").candidates(X)


def test_attack_42_padding_of_rows(tmp_path):
    X, y = digits(100)
    clf = OneAgainstAllClassifier().fit(X[:, :60], y)
    forged = Forged(b"".join(clf._to_model().parts()))
    forged.tensors["predictors.weights"][0, 63] = 1.0
    forged.write(tmp_path / "model.rt")
    with pytest.raises(ModelFileError, match="padded with zeros"):
        recalltree.load(tmp_path / "model.rt", mmap=False)
