"""The reference of cells: what it promises beyond its examples."""

import numpy as np
import pytest

from recalltree.reference import OneAgainstSomeReference
from recalltree.reference.cell_tree import CELL_SIZE, CellTree
from recalltree.reference.cells import Cells
from recalltree.reference.whitening import Whitening


def mixture(n, n_features, n_classes, seed, noise=0.4):
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(99).normal(size=(n_classes, n_features))
    labels = random.integers(n_classes, size=n)
    return centres[labels] + noise * random.normal(size=(n, n_features)), labels


def learned(X, y, **parameters):
    cells = Cells(X.shape[1], **parameters)
    for row, label in zip(X, y.tolist(), strict=True):
        cells.learn(row, label)
    return cells


def test_classes_are_learned():
    X, y = mixture(900, 10, 100, seed=1)
    cells = learned(X, y, cells_read=2)
    X, y = mixture(100, 10, 100, seed=2)
    assert np.mean([cells.predict(x) for x in X] == y) > 0.85


def test_units_of_features_do_not_matter():
    X, y = mixture(300, 6, 20, seed=3)
    scales = 10.0 ** np.random.default_rng(4).integers(-12, 12, size=6)
    plain, scaled = learned(X, y), learned(X * scales, y)
    # The first eight rows are learned before the units are known: classes that are nearly equal may
    # change places.
    assert np.mean([plain.predict(x) == scaled.predict(x * scales) for x in X]) >= 0.99


def test_a_new_whitening_keeps_the_means():
    X, y = mixture(64, 5, 8, seed=5)
    cells = learned(X, y)  # renewed after the last row
    for label, known in cells.classes.items():
        np.testing.assert_allclose(known.sum, sum(cells.whitening(x) for x in X[y == label]))


def test_the_first_rows_are_let_go():
    X, y = mixture(2049, 3, 4, seed=6)
    cells = learned(X[:2047], y[:2047])
    assert len(cells.first_rows) == 2047
    cells.learn(X[2047], y[2047])
    assert not cells.first_rows
    assert not cells.first_steps
    matrix = cells.whitening.matrix
    cells.learn(X[2048], y[2048])
    assert cells.whitening.matrix is matrix


@pytest.mark.parametrize("alike", [False, True])
def test_every_class_stands_in_one_cell(alike):
    vectors = np.random.default_rng(7).normal(size=(600, 20))
    tree = CellTree(cells_read=4)
    for _ in range(2):
        for label, vector in enumerate(vectors):
            tree.place(label, vectors[0] if alike else vector, bias=0.0)
    cells = [child for _, _, child in tree.root.entries]
    assert tree.root.level == 1
    assert max(len(cell.entries) for cell in cells) <= CELL_SIZE
    assert sorted(label for cell in cells for _, _, label in cell.entries) == list(range(600))
    assert all(tree.cell_of[label] is cell for cell in cells for _, _, label in cell.entries)


def test_reading_all_cells_finds_the_nearest():
    vectors = np.random.default_rng(8).normal(size=(500, 30))
    tree = CellTree(cells_read=500)
    for label, vector in enumerate(vectors):
        tree.place(label, vector, bias=0.0)
    assert all(label in tree.find(vector, 5) for label, vector in enumerate(vectors))


def test_wide_rows_are_whitened_in_blocks():
    X, _ = mixture(140, 1100, 5, seed=9)
    whitening = Whitening(1100)
    whitening.learn(X)
    assert (np.count_nonzero(whitening.matrix, axis=1) <= 256).all()
    assert np.isclose(np.linalg.norm(whitening(X[0])), 1.0)


@pytest.mark.parametrize("value", [0.0, 1.0, 1e-30, 1e30])
def test_rows_that_say_nothing_have_finite_scores(value):
    cells = learned(np.full((40, 3), value), np.arange(40) % 3)
    whitened = cells.whitening(np.full(3, value))
    assert np.isfinite([known.score(whitened) for known in cells.classes.values()]).all()


def words_and_vectors(n, n_classes=20, n_words=40, n_features=6, seed=10):
    """Rows whose class shows in words and in a vector, in neither of them well."""
    random = np.random.default_rng(seed)
    labels = random.integers(n_classes, size=n)
    likely = np.where(random.random((n_classes, n_words)) < 0.15, 0.5, 0.08)
    words = (random.random((n, n_words)) < likely[labels]).astype(float)
    centres = random.normal(size=(n_classes, n_features))
    return words, centres[labels] + random.normal(size=(n, n_features)), labels


def progressive_error(rows, labels, **parameters):
    model = OneAgainstSomeReference(rows.shape[1], **parameters)
    for x, y in zip(rows, labels.tolist(), strict=True):
        model.learn(x, y)
    return model.progressive.errors / len(rows)


def test_words_and_vectors_are_learned_together():
    words, vectors, labels = words_and_vectors(500)
    both = np.hstack([words, vectors])
    by_words = progressive_error(words, labels, sparse=True, keys="features")
    by_vectors = progressive_error(vectors, labels, keys="cells")
    by_both = progressive_error(both, labels, sparse=True, keys="cells", n_dense_features=6)
    assert by_both < 0.85 * min(by_words, by_vectors)


@pytest.mark.parametrize("keys", ["cells", "cells+trees"])
def test_classes_of_now_outweigh_those_of_long_ago(keys):
    _, vectors, labels = words_and_vectors(600, n_classes=4)
    now = np.where(np.arange(600) < 300, labels, 3 - labels)  # half of it is renamed
    stays = progressive_error(vectors, now, keys=keys)
    fades = progressive_error(vectors, now, keys=keys, count_decay=50.0)
    assert fades < stays


def test_units_of_counts_do_not_overflow():
    _, vectors, labels = words_and_vectors(900)
    model = OneAgainstSomeReference(6, keys="cells", count_decay=1.0)
    units = []
    for x, y in zip(vectors, labels.tolist(), strict=True):
        model.learn(x, y)
        units.append(model.cells.unit)
        assert all(np.isfinite(known.sum).all() for known in model.cells.classes.values())
    assert units != sorted(units)
