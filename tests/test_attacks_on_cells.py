"""Hostile model files, numbered as in docs/model-file.md: attacks on cells and class vectors.

cpp/tests/mapped_cells.cpp changes every array of cells in more ways, under a sanitizer.
"""

import functools

import numpy as np
import pytest
from classifiers import digits
from forged import Forged
from hostile import NONE, changed, forge, refused, refused_when_read, use
from scipy import sparse

import recalltree
from recalltree import OneAgainstSomeClassifier
from recalltree.model_file import ModelFileError


@functools.cache
def large():
    """Return the bytes of a model with a root above its cells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 8)).astype(np.float32)
    clf = OneAgainstSomeClassifier(keys="cells").fit(X, np.arange(600) % 300)
    return b"".join(clf._to_model().parts())


def forge_large():
    forged = Forged(large())
    root = int(np.flatnonzero(forged.tensors["cells.levels"])[0])
    blocks = -(-forged.tensors["cells.sizes"].astype(int) // 16)
    return forged, root, int(blocks[:root].sum()) * 16  # where the children of the root are


def test_attack_52_nodes_of_cells(tmp_path):
    path = tmp_path / "model.rt"
    for name, value in (("sizes", 129), ("sizes", NONE), ("levels", NONE), ("levels", 7)):
        forged, _, _ = forge_large()
        forged.tensors[f"cells.{name}"][0] = value
        refused(forged.write(path), "too large|no children|not its own|elements")
    forged, root, at = forge_large()
    forged.tensors["cells.sizes"][root] -= 1
    refused(forged.write(path), "no parent")
    forged, root, at = forge_large()
    children = forged.tensors["cells.ids"].reshape(-1)[at:]
    for value in (NONE, root, len(forged.tensors["cells.sizes"]), children[1]):
        forged, _, _ = forge_large()
        forged.tensors["cells.ids"].reshape(-1)[at] = value
        refused(forged.write(path), "not its own")


@pytest.mark.parametrize("model", ["cells", "sparse cells"])
def test_attack_53_classes_of_cells(tmp_path, model):
    path = tmp_path / "model.rt"
    for value in (NONE, 10):
        forged = changed(model, "cells.ids", 0, value)
        refused_when_read(forged.write(path), model, "class that does not exist")
    forged = changed(model, "cells.ids", slice(0, 10), 1)
    refused_when_read(forged.write(path), model, "stands in two cells")
    forged = changed(model, "class_vectors.n_rows", 3, 0)
    refused_when_read(forged.write(path), model, "stands in no cell")


def test_attack_54_directions_of_the_whitening(tmp_path):
    path = tmp_path / "model.rt"
    for value in (NONE, 64):
        refused(changed("cells", "whitening.position", 5, value).write(path), "does not exist")
    forged = changed("cells", "whitening.position", slice(0, 2), 7)
    refused_when_read(forged.write(path), "cells", "direction twice")


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("class_vectors.inverse_norms", 1e30, "does not fit the means"),
        ("class_vectors.accumulators", -1.0, "negative"),
        ("class_vectors.mean_scale", 0.0, "not positive"),
        ("class_vectors.mean_scale", -20.0, "not positive"),
        ("cells.scales", -1.0, "negative"),
        ("cells.sketches", 0, "out of range"),
        ("cells.sketches", 255, "out of range"),
        ("whitening.rate", -1.0, "negative"),
    ],
)
def test_attack_55_numbers_of_cells(tmp_path, name, value, match):
    path = changed("cells", name, 0, value).write(tmp_path / "model.rt")
    refused_when_read(path, "cells", match)


@pytest.mark.parametrize(
    ("name", "position", "value", "match"),
    [
        ("n", 1, 2**40, "rows that are kept"),
        ("n", 1, 0, "more rows than are kept"),
        ("step_rows", 0, NONE, "does not exist"),
        ("step_labels", 0, 10, "does not exist"),
        ("step_counts", 0, 2, "does not exist"),
    ],
)
def test_attack_56_first_rows(tmp_path, name, position, value, match):
    forged = changed("cells", f"first_rows.{name}", position, value)
    refused_when_read(forged.write(tmp_path / "model.rt"), "cells", match)


def test_padding_of_rows_for_cells(tmp_path):
    X, y = digits(100)
    clf = OneAgainstSomeClassifier(keys="cells").fit(X[:, :60], y)
    for name in ("class_vectors.vectors", "whitening.matrix", "first_rows.rows"):
        forged = Forged(b"".join(clf._to_model().parts()))
        forged.tensors[name].reshape(-1)[63] = 1.0
        forged.write(tmp_path / "model.rt")
        with pytest.raises(ModelFileError, match="padded with zeros"):
            recalltree.load(tmp_path / "model.rt", mmap=False)


@pytest.mark.parametrize("model", ["cells", "sparse cells"])
@pytest.mark.parametrize(
    "change",
    [
        *({"n_dense_features": n} for n in (1, 16, 64, 65, 2**31, 2**32 - 1, -1, 2**32, "34")),
        *({"keys": keys} for keys in ("features", "trees", "both", "path", "cell")),
        *({"n_features": n} for n in (63, 65, 2**29, 2**32 - 1)),
    ],
    ids=str,
)
def test_attack_57_cells_of_other_parameters(tmp_path, model, change):
    forged = forge(model)
    forged.change_json("config", change)
    refused(forged.write(tmp_path / "model.rt"), "array|incompatible|option|root|n_dense_features")


@pytest.mark.parametrize("model", ["cells", "sparse cells"])
@pytest.mark.parametrize("change", [{"cells_read": 2**32 - 1}, {"max_candidates": 2**32 - 1}])
def test_attack_58_limits_of_cells_as_large_as_can_be(tmp_path, model, change):
    forged = forge(model)
    forged.change_json("config", change)
    use(recalltree.load(forged.write(tmp_path / "model.rt")), model)
    recalltree.load(forged.write(tmp_path / "model.rt"), verify=True)


def test_rows_that_are_all_block(tmp_path):
    """There are no words, so that nothing votes."""
    X, y = digits(300)
    clf = OneAgainstSomeClassifier(n_dense_features=64).fit(sparse.csr_array(X), y)
    clf.save(tmp_path / "model.rt")
    mapped = recalltree.load(tmp_path / "model.rt", verify=True)
    np.testing.assert_array_equal(mapped.predict_proba(X), clf.predict_proba(X))
    mapped.partial_fit(sparse.csr_array(X), y)
