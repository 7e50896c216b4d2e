"""Hostile model files: how they are made from honest ones, and what "refused" means.

A ModelFileError when the file is loaded; where a number is nonsense but the structure is sound, it
is one when the file is verified or read to continue learning, while predicting from it unverified
stays within the file.
"""

import functools

import numpy as np
import pytest
from classifiers import digits
from forged import Forged
from scipy import sparse

import recalltree
from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.model_file import ModelFileError

NONE = np.iinfo(np.uint32).max
MODELS = ["tree", "sparse tree", "all", "sparse all", "lom", "sparse lom", "some", "sparse some"]
MODELS += ["cells", "sparse cells"]


@functools.cache
def honest(model):
    """Return the bytes of a good file."""
    X, y = digits(300)
    labels = np.array([f"label {i}" for i in range(10)])[y]
    clf = {
        "tree": RecallTreeClassifier(
            max_candidates=3, path_features="leaf", path_interactions=True
        ),
        "all": OneAgainstAllClassifier(),
        "lom": LOMTreeClassifier(),
        "some": OneAgainstSomeClassifier(
            keys="both", n_trees=2, max_candidates=4, max_labels=6, random_state=0
        ),
        "cells": OneAgainstSomeClassifier(
            keys="cells+trees" if model == "sparse cells" else "cells",
            n_dense_features=34 if model == "sparse cells" else 0,
            n_trees=2,
            max_candidates=4,
            max_labels=6,
            random_state=0,
        ),
    }[model.split()[-1]]
    clf.fit(rows(model, X), labels, sample_weight=np.linspace(1, 2, 300))
    return b"".join(clf._to_model().parts())


def rows(model, X):
    return sparse.csr_array(X) if model.startswith("sparse") else X


def forge(model="sparse tree"):
    return Forged(honest(model))


def refused(path, match):
    """Check that the file is refused however it is opened, and say nothing of Python's inside."""
    for load in (recalltree.load, functools.partial(recalltree.load, mmap=False)):
        with pytest.raises(ModelFileError, match=match) as caught:
            load(path)
        assert str(path) in str(caught.value)


def refused_when_read(path, model, match):
    """Check that the file is refused when it is verified or learned from, and else does no harm."""
    X, y = digits(100)
    labels = np.array([f"label {i}" for i in range(10)])[y]
    for options in ({"verify": True}, {"mmap": False}):
        with pytest.raises(ModelFileError, match=match) as caught:
            recalltree.load(path, **options)
        assert str(path) in str(caught.value)
    mapped = recalltree.load(path)
    use(mapped, model)
    with pytest.raises(ModelFileError, match=match):
        mapped.partial_fit(rows(model, X), labels)


def use(clf, model):
    """Ask a model everything, whatever the answers are."""
    X, _ = digits(100)
    with np.errstate(all="ignore"):
        clf._core.predict(recalltree.validation.make_rows(rows(model, X)), 1)
        clf.candidates(rows(model, X))
        clf._core.predict_topk(recalltree.validation.make_rows(rows(model, X)), 4, 2)
        if hasattr(clf._core, "tree"):
            tree = clf._core.tree()
            for node in range(len(tree["left"])):
                clf._core.histogram(node)
                clf._core.router(node)
        if hasattr(clf._core, "predictor"):
            clf._core.predictor(0)
        if hasattr(clf._core, "key_nodes"):
            row = recalltree.validation.make_rows(rows(model, X[:1]))
            clf._core.key_nodes(row)
            clf._core.frequent_classes()
            clf._core.class_examples()
            class_ids = np.arange(clf._core.n_classes, dtype=np.uint32)
            clf._core.explain_classes(row, class_ids)
            if clf._core.has_cells:
                clf._core.cells_for(row, class_ids)
                clf._core.class_vectors(class_ids)


def changed(model, name, position, value):
    forged = forge(model)
    array = forged.tensors[name].reshape(-1)
    array[position] = value
    return forged
