"""What is shown of cells: which were read, what class vectors add, the map of classes."""

import json

import numpy as np
import pytest
from cells import CELLS, fitted
from command_line import run
from hypothesis import given, settings
from hypothesis import strategies as st

import recalltree
from recalltree.inspection import find_class, report_page, summary
from recalltree.inspection.class_map import NO_CELL, map_classes
from recalltree.inspection.report_data import report_data

names = pytest.mark.parametrize("name", CELLS)


def stored(clf, storage, folder):
    """Return the same model from elsewhere."""
    if storage == "mapped":
        clf.save(folder / "m.rt")
        return recalltree.load(folder / "m.rt")
    return clf if storage == "memory" else clf.compact(storage)


@names
@pytest.mark.parametrize("storage", ["memory", "mapped", "float32", "float16"])
def test_the_parts_of_a_score_add_up_to_it(name, storage, tmp_path):
    clf, X, _ = fitted(name)
    clf = stored(clf, storage, tmp_path)
    for i in range(20):
        explanation = clf.explain(X[[i]], k=3, n_features=4)
        scores = clf.candidates(X[[i]])
        for candidate in explanation.candidates:
            score = scores[0, clf.classes_.tolist().index(candidate.label)]
            assert candidate.score == pytest.approx(score, abs=1e-6)
            parts = sum(f.contribution for f in candidate.features)
            parts += candidate.other_features + candidate.bias + candidate.path
            parts += candidate.vector.weights + (candidate.vector.mean or 0.0)
            assert parts == pytest.approx(score, abs=2e-4)
            assert (candidate.vector.mean is None) == (storage == "float16")


def test_the_mean_part_is_a_cosine():
    clf, X, _ = fitted("cells")
    for i in range(20):
        x = clf._core.whitened(recalltree.validation.make_rows(X[[i]]))
        for candidate in clf.explain(X[[i]]).candidates:
            found = clf._core.class_vector(clf.classes_.tolist().index(candidate.label))
            cosine = found["sum"] @ x / np.linalg.norm(found["sum"])
            assert candidate.vector.mean == pytest.approx(20 * cosine, abs=1e-4)
            assert candidate.vector.weights == pytest.approx(found["weights"] @ x, abs=1e-4)


@pytest.mark.parametrize("storage", ["memory", "mapped", "float16"])
def test_cells_that_were_read(storage, tmp_path):
    clf, X, y = fitted("cells", n=3000, n_classes=1500)
    clf.set_params(cells_read=3)
    clf = stored(clf.fit(X, y), storage, tmp_path)
    cell_of = clf._core.class_cells()
    sizes = np.bincount(cell_of[cell_of != NO_CELL])
    for i in range(20):
        explanation = clf.explain(X[[i]], k=40)
        search = explanation.cells
        assert len(search.read) == 3 < search.n_cells == clf._core.n_cells
        read = [cell.cell for cell in search.read]
        assert len(set(read)) == 3
        for cell in search.read:
            assert cell.n_classes == sizes[cell.cell]
        assert sum(cell.n_found for cell in search.read) == search.n_found
        assert search.n_found == len(explanation.candidates) == explanation.n_candidates
        assert search.n_compared >= sum(cell.n_classes for cell in search.read)
        for candidate in explanation.candidates:
            class_id = clf.classes_.tolist().index(candidate.label)
            assert candidate.vector.cell == cell_of[class_id]
            assert candidate.vector.cell in read
            assert candidate.vector.found


def test_what_the_cells_did_not_find_is_said():
    clf, X, _ = fitted("cells+trees", n=3000, n_classes=1500)
    missed = [
        candidate
        for i in range(40)
        for candidate in clf.explain(X[[i]], k=16).candidates
        if not candidate.vector.found
    ]
    assert missed
    assert "not found there" in str(missed[0].vector)


def test_prints_and_makes_json():
    clf, X, _ = fitted("cells", n=3000, n_classes=1500)
    explanation = clf.explain(X[0], k=2)
    text = str(explanation)
    assert f"cells: {len(explanation.cells.read)} of {clf._core.n_cells} read" in text
    assert "more cells, where" in text
    assert " mean, " in text
    assert f"in cell {explanation.candidates[0].vector.cell}" in text
    found = json.loads(json.dumps(explanation.as_dict()))
    assert found["cells"]["n_found"] == 32
    assert found["candidates"][0]["vector"]["found"] is True


def test_explaining_changes_nothing():
    clf, X, _ = fitted("block+trees")
    before = {name: array.tobytes() for name, array in clf._core.state().items()}
    clf.explain(X[[0]])
    report_page(clf)
    assert {name: array.tobytes() for name, array in clf._core.state().items()} == before


# --- the map --------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(1, 400),
    n_classes=st.integers(1, 400),
    n_features=st.integers(1, 20),
    seed=st.integers(0, 100),
)
def test_the_map_is_made_of_principal_directions(n, n_classes, n_features, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, n_features)), rng.integers(n_classes, size=n)
    clf = recalltree.OneAgainstSomeClassifier(keys="cells").fit(X, y)
    core = clf._core
    ids = np.arange(core.n_classes)
    found = map_classes(core, ids)
    vectors = core.class_vectors(ids.astype(np.uint32)).astype(np.float64)
    units = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-300)
    rows = units - units.mean(axis=0)
    left, values, _ = np.linalg.svd(rows, full_matrices=False)
    expected = np.zeros((len(ids), 2))
    expected[:, : min(2, len(values))] = (left * values)[:, :2]
    if len(values) < 3 or values[1] - values[2] > 1e-3:  # otherwise they may be turned
        distances = np.linalg.norm(found.positions[:, None] - found.positions, axis=2)
        np.testing.assert_allclose(
            distances, np.linalg.norm(expected[:, None] - expected, axis=2), atol=1e-5
        )
    total = (values**2).sum()
    share = (values[:2] ** 2).sum() / total if total > 1e-20 else 0.0
    assert found.share == pytest.approx(share, abs=1e-6)


@pytest.mark.parametrize("storage", ["memory", "mapped", "float16"])
@names
def test_figures_are_plain_counts(name, storage, tmp_path):
    clf, X, y = fitted(name, n=2500, n_classes=800)
    clf.partial_fit(X[:1], y[:1], sample_weight=[0.0])
    clf = stored(clf, storage, tmp_path)
    cell_of = clf._core.class_cells()
    counts = np.bincount(cell_of)
    found = summary(clf)["cells"]
    assert found["n_cells"] == clf._core.n_cells == len(counts[counts > 0])
    assert found["n_classes"] == len(np.unique(y))
    assert found["largest"] == counts.max() <= 128
    assert found["smallest"] == counts[counts > 0].min()
    assert found["median"] == np.median(counts[counts > 0])
    page = report_data(clf, None)
    shown, labels = page["cells"], page["classes"]["labels"]
    assert sorted(shown["ids"]) == sorted(np.flatnonzero(counts))
    for cell, size in zip(shown["ids"], shown["sizes"], strict=True):
        assert size == counts[cell]
    for label, x, cell in zip(labels, shown["x"], shown["cell"], strict=True):
        class_id = clf.classes_.tolist().index(int(label))
        assert shown["ids"][cell] == cell_of[class_id]
        if class_id % 50 == 0:
            assert find_class(clf, int(label))["cell"] == cell_of[class_id]
        assert 0 <= x <= 1
    assert max(max(shown["x"]) - min(shown["x"]), max(shown["y"]) - min(shown["y"])) == 1


def test_classes_without_rows_have_no_place():
    clf, X, y = fitted("cells", n=500, n_classes=20)
    clf = clf.__class__(keys="cells").partial_fit(X, y, classes=np.arange(25))
    shown = report_data(clf, None)
    places = dict(zip(shown["classes"]["labels"], shown["cells"]["x"], strict=True))
    assert [label for label, x in places.items() if x is None] == [str(i) for i in range(20, 25)]
    assert find_class(clf, 23)["cell"] is None
    assert report_page(clf)


def test_the_command_line_says_it(tmp_path):
    rng = np.random.default_rng(0)
    columns = [f"x{j}" for j in range(4)]
    rows = [
        f"{y},{','.join(f'{v:.3f}' for v in (np.arange(4) == y % 4) * (y + 1) + x)}"
        for y, x in zip(np.arange(200) % 8, 0.1 * rng.normal(size=(200, 4)), strict=True)
    ]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join([",".join(["y", *columns]), *rows]) + "\n")
    model = tmp_path / "m.rt"
    read = ("--label-column", "y", "--numeric-columns", ",".join(columns), "--dense")
    learn = ("--algorithm", "one-against-some", "--keys", "cells")
    run("train", path, "-m", model, *learn, *read)
    path.write_text("\n".join(["y," + ",".join(columns), rows[3]]) + "\n")
    text = run("explain", "-m", model, path).stdout
    assert text.startswith("One-against-some answers 3")
    assert "cells: 1 of 1 read, 8 sketches compared, 8 classes found" in text
    assert "(in cell 0)" in text
    found = json.loads(run("explain", "-m", model, "--json", path).stdout)
    assert found["cells"]["read"] == [{"cell": 0, "n_classes": 8, "n_found": 8}]
    assert found["candidates"][0]["vector"]["cell"] == 0
    found = json.loads(run("inspect", "-m", model, "--json").stdout)
    assert found["cells"]["n_classes"] == 8
    text = run("inspect", "-m", model).stdout
    assert "1, of which 64 are read at most" in text
    assert "smallest 8, median 8, largest 8" in text
    assert "in cell 0" in run("inspect", "-m", model, "--class", "3").stdout
