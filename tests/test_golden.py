"""Files that were saved once load for ever, answer as they did, and can continue learning."""

import importlib.util
import json
from pathlib import Path

import pytest

import recalltree

GOLDEN = Path(__file__).parent / "golden"
FILES = sorted(GOLDEN.glob("v*/*.rt"))

spec = importlib.util.spec_from_file_location("make_golden", GOLDEN / "make.py")
golden = importlib.util.module_from_spec(spec)
spec.loader.exec_module(golden)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
@pytest.mark.parametrize("options", [{}, {"mmap": False}, {"verify": True}], ids=str)
def test_golden_file(path, options, tmp_path):
    expected = json.loads(path.with_suffix(".json").read_text())
    clf = recalltree.load(path, **options)
    is_sparse = "-sparse" in path.stem
    assert clf.model_extra_ == {"golden": path.stem}
    assert golden.answers(clf, is_sparse) == expected
    X, _ = golden.rows(is_sparse)
    assert ("-lists" in path.stem) == clf._fitted.has_lists
    if path.stem in golden.MODELS:
        clf.partial_fit(X, golden.best_labels(clf, X))
        clf.partial_fit(X[:1], [type(clf.classes_[0])(99)])  # a class that is new
        clf.save(tmp_path / "learned.rt")
        learned = recalltree.load(tmp_path / "learned.rt", **options)
        assert golden.answers(learned, is_sparse) == golden.answers(clf, is_sparse)
    else:
        with pytest.raises(ValueError, match="compacted"):
            clf.partial_fit(X, golden.best_labels(clf, X))


def test_every_algorithm_and_version_has_golden_files():
    found = {(path.parent.name, path.stem) for path in FILES}
    versions = range(1, recalltree.model_file.FORMAT_VERSION + 1)
    for version in versions:
        for name in golden.MODELS:
            assert (f"v{version}", name) in found
    for algorithm in recalltree.estimators.loading.CLASSIFIERS:
        assert any(name.startswith(algorithm) for name in golden.MODELS), (
            f"add {algorithm} to tests/golden/make.py and run it"
        )


def test_golden_files_are_small():
    for path in FILES:
        assert path.stat().st_size < 32_000
