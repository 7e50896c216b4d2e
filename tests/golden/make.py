"""Makes the golden files of the current format version: ``python tests/golden/make.py``.

Files of a version are made once, when the version is, and never again: they show that what people
have saved stays readable. Beside each model stands what it answered when it was saved. Only files
that do not exist yet are written; a new algorithm adds its own with a line in ``MODELS``.
"""

import json
from pathlib import Path

import numpy as np
from scipy import sparse

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)
from recalltree.model_file import FORMAT_VERSION

FOLDER = Path(__file__).parent / f"v{FORMAT_VERSION}"


def rows(is_sparse):
    """Return rows of 12 features and their classes, by arithmetic that no library can change."""
    i, j = np.mgrid[:240, :12]
    y = (np.arange(240) * 7 + np.arange(240) // 5) % 6
    X = ((i * 31 + j * 17 + y[:, np.newaxis] * (j + 3) * 11) % 64 / 64).astype(np.float32)
    X[(i + j * y[:, np.newaxis]) % 3 == 0] = 0
    return (sparse.csr_array(X) if is_sparse else X), y


WORDS = np.array(["ant", "bee", "cat", "dög", "", "elk\U0001f98c"], dtype=object)

MODELS = {
    "recall-tree-dense": (RecallTreeClassifier(max_candidates=3, random_state=1), False, WORDS),
    "recall-tree-sparse": (
        RecallTreeClassifier(
            max_candidates=3, path_interactions=True, path_features="path", count_decay=100
        ),
        True,
        np.array([-5, 3, 2**40, 0, 1, 2]),
    ),
    "one-against-all-dense": (OneAgainstAllClassifier(loss="squared"), False, np.arange(6) * 2.0),
    "one-against-all-sparse": (
        OneAgainstAllClassifier(negative_samples=2, random_state=np.random.RandomState(4)),
        True,
        np.array(list("abcdef")),
    ),
    "lom-tree-dense": (LOMTreeClassifier(max_nodes=3, swap_resistance=0.1), False, WORDS),
    "lom-tree-sparse": (LOMTreeClassifier(loss="hinge", l2=1e-3), True, WORDS),
    "one-against-some-dense": (OneAgainstSomeClassifier(random_state=1), False, WORDS),
    "one-against-some-sparse": (OneAgainstSomeClassifier(), True, WORDS),
    "one-against-some-cells-dense": (OneAgainstSomeClassifier(keys="cells"), False, WORDS),
    "one-against-some-cells-sparse": (
        OneAgainstSomeClassifier(n_dense_features=5, count_decay=100),
        True,
        WORDS,
    ),
    "recall-tree-lists-dense": (
        RecallTreeClassifier(max_candidates=3, rows_without_labels="learn", random_state=1),
        False,
        WORDS,
    ),
    "one-against-all-lists-sparse": (OneAgainstAllClassifier(random_state=1), True, WORDS),
    "one-against-some-lists-sparse": (
        OneAgainstSomeClassifier(rows_without_labels="learn", random_state=1),
        True,
        np.arange(6),
    ),
}
COMPACTED = {
    "recall-tree-sparse": "float16",
    "one-against-all-dense": "bfloat16",
    "one-against-some-sparse": "float16",
    "one-against-some-cells-dense": "float16",
    "one-against-some-lists-sparse": "float16",
}


def answers(clf, is_sparse):
    """Return what a model answers, as JSON holds it: bits, not decimals."""
    X, _ = rows(is_sparse)
    scored = clf.candidates(X)
    # Labels above a threshold follow from the marginal probabilities.
    has_lists = clf._fitted.has_lists
    probable = {"probable": clf.predict(X, threshold=0.3).indices.tolist()} if has_lists else {}
    return {
        **probable,
        "class": type(clf).__name__,
        "labels": best_labels(clf, X).tolist(),
        "candidates": scored.indices.tolist(),
        "scores": scored.data.astype("<f4").tobytes().hex(),
    }


def best_labels(clf, X):
    """Return the best label of each row, also of models that learned lists of labels."""
    return clf.predict_topk(X, 1)[0][:, 0] if clf._fitted.has_lists else clf.predict(X)


def label_lists(y, labels):
    """Return one label or two for each row, and none for some."""
    lists = [[labels[c], labels[(c + 1) % 6]] if i % 3 else [labels[c]] for i, c in enumerate(y)]
    return [[] if i % 17 == 16 else row for i, row in enumerate(lists)]


def fitted(name):
    """Return the estimator of a golden file, learned anew."""
    clf, is_sparse, labels = MODELS[name]
    X, y = rows(is_sparse)
    given = label_lists(y[:160], labels) if "-lists" in name else labels[y[:160]]
    return clf.fit(X[:160], given)


def main():
    FOLDER.mkdir(exist_ok=True)
    for name, (_, is_sparse, _) in MODELS.items():
        clf = fitted(name)
        if name in COMPACTED:
            write(clf.compact(COMPACTED[name]), f"{name}-{COMPACTED[name]}", is_sparse)
        write(clf, name, is_sparse)


def write(clf, name, is_sparse):
    path = FOLDER / f"{name}.rt"
    if path.exists():
        return
    clf.save(path, extra={"golden": name})
    path.with_suffix(".json").write_text(json.dumps(answers(clf, is_sparse)) + "\n")


if __name__ == "__main__":
    main()
