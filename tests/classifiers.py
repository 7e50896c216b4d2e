"""The estimators under test, small data for them, and what it means that nothing changed."""

import functools

import numpy as np
from sklearn.datasets import load_digits

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)

CLASSIFIERS = [
    RecallTreeClassifier,
    OneAgainstAllClassifier,
    LOMTreeClassifier,
    OneAgainstSomeClassifier,
]

#: One of each, and one for every code path that learns in a way of its own.
VARIANTS = [
    RecallTreeClassifier(max_candidates=3, random_state=0),
    RecallTreeClassifier(
        max_candidates=3,
        path_features="leaf",
        path_interactions=True,
        routing_order="update_first",
        router_weighting="unit",
        count_decay=200,
        loss="hinge",
        random_state=0,
    ),
    OneAgainstAllClassifier(random_state=0),
    OneAgainstAllClassifier(negative_samples=2, loss="squared", random_state=0),
    LOMTreeClassifier(random_state=0),
    LOMTreeClassifier(max_nodes=4, swap_resistance=0.1, l2=1e-4, random_state=0),
    OneAgainstSomeClassifier(random_state=0),
    OneAgainstSomeClassifier(keys="both", n_trees=2, max_candidates=4, random_state=0),
    OneAgainstSomeClassifier(keys="path", max_candidates=4, random_state=0),
    OneAgainstSomeClassifier(
        keys="features",
        max_candidates=4,
        max_labels=3,
        max_entries=40,
        use_idf=False,
        count_decay=200,
        l2=1e-3,
        memory_budget=14_000,
        random_state=0,
    ),
]


@functools.cache
def all_digits():
    return load_digits(return_X_y=True)


def digits(n=400):
    """Return images of digits and what they show, for the caller to keep."""
    X, y = all_digits()
    return X[:n].copy(), y[:n].copy()


def snapshot(clf):
    """Return everything that a fitted estimator is, in a form that can be compared."""
    attributes = dict(vars(clf))
    fitted = attributes.pop("_fitted", None)
    if fitted is not None:
        attributes |= vars(fitted)
        del attributes["core"], attributes["labels"]
    found = {name: value for name, value in attributes.items() if not isinstance(value, np.ndarray)}
    found |= {
        name: (value.dtype, value.shape, value.tobytes() if value.dtype != object else list(value))
        for name, value in attributes.items()
        if isinstance(value, np.ndarray)
    }
    if fitted is not None:
        classes = fitted.labels.classes
        found["classes_"] = (classes.dtype, classes.tolist())
        found["state"] = core_state(clf)
    return found


def core_state(clf):
    """Return the state of the core as bytes."""
    return {
        name: (array.dtype, array.shape, np.ascontiguousarray(array).tobytes())
        for name, array in clf._core.state().items()
    }
