"""Hostile model files, numbered as in docs/model-file.md: attacks by damage, name and size."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from classifiers import digits
from forged import Forged
from hostile import MODELS, NONE, forge, honest, rows, use

import recalltree
from recalltree import OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.model_file import ModelFileError


@pytest.mark.parametrize("model", MODELS)
def test_attack_43_flipped_bits(tmp_path, model):
    """Any flipped bit is found; unverified, it does no harm."""
    rng = np.random.default_rng(len(model))
    path = tmp_path / "model.rt"
    data = np.frombuffer(honest(model), np.uint8)
    for position in rng.integers(len(data), size=200):
        damaged = data.copy()
        damaged[position] ^= 1 << rng.integers(8)
        path.write_bytes(damaged.tobytes())
        with pytest.raises(ModelFileError):
            recalltree.load(path, verify=True)
        with contextlib.suppress(ModelFileError):
            use(recalltree.load(path), model)


@pytest.mark.parametrize("model", MODELS)
def test_attack_44_random_tensors(tmp_path, model):
    """Tensors filled with numbers near the edges, under a right checksum."""
    rng = np.random.default_rng(len(model))
    path = tmp_path / "model.rt"
    edges = {
        "f": [0, -1, 1e30, -1e-30, np.nan, np.inf],
        "u": [0, 1, 2, 9, 10, 63, 64, 2**31, NONE, 2**63, 2**64 - 1],
    }
    names = sorted(n for n in forge(model).tensors if not n.startswith("class_labels"))
    for _ in range(300):
        forged = forge(model)
        array = forged.tensors[str(rng.choice(names))].reshape(-1)
        where = rng.integers(max(len(array), 1), size=rng.integers(1, 6))
        if len(array):
            edge = edges[array.dtype.kind][rng.integers(len(edges[array.dtype.kind]))]
            array[where] = edge if array.dtype.kind == "f" else edge % 2 ** (8 * array.itemsize)
        forged.write(path)
        for options in ({}, {"verify": True}, {"mmap": False}):
            try:
                clf = recalltree.load(path, **options)
            except ModelFileError:
                continue
            use(clf, model)
            X, y = digits(20)
            if options:
                clf.partial_fit(rows(model, X), np.array([f"label {i}" for i in range(10)])[y])
                use(clf, model)


def test_attack_45_bytes_of_a_pickle(tmp_path):
    X, y = digits(50)
    state = RecallTreeClassifier().fit(X, y).__getstate__()
    forged = Forged(state["_saved"].tobytes())
    forged.tensors["tree.left"][0] = 0
    data = forged.write(tmp_path / "model.rt").read_bytes()
    state["_saved"] = np.frombuffer(data, np.uint8)
    with pytest.raises(ModelFileError, match="children"):
        RecallTreeClassifier().__setstate__(state)


def test_attack_46_file_replaced_while_mapped(tmp_path):
    path = tmp_path / "model.rt"
    path.write_bytes(honest("tree"))
    X, _ = digits(100)
    mapped = recalltree.load(path)
    expected = mapped.predict_proba(X)
    OneAgainstAllClassifier().fit(X, np.arange(100)).save(path)
    np.testing.assert_array_equal(mapped.predict_proba(X), expected)


def test_attack_47_names_that_are_no_files(tmp_path):
    clf = RecallTreeClassifier().fit([[1.0]], [1])
    for place in ("/dev/null", tmp_path):
        with pytest.raises((ValueError, OSError), match=r"regular file|directory"):
            clf.save(place)
    (tmp_path / "link.rt").symlink_to(tmp_path / "model.rt")
    clf.save(tmp_path / "link.rt")
    assert (tmp_path / "link.rt").is_symlink()
    assert recalltree.load(tmp_path / "model.rt").predict([[1.0]]) == [1]


WITHIN_LIMITS = """
import resource, sys
sys.path.insert(0, sys.argv[1])
import test_attacks_on_container as container
import test_attacks_on_labels as labels
import test_attacks_on_model as model
import test_attacks_on_tree as tree
from pathlib import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)
folder = Path(sys.argv[2])
container.test_attack_03_lying_length_of_the_header(folder, 2**63)
container.test_attack_08_shapes_that_lie(folder, [2**62])
container.test_attack_09_huge_tensors(folder)
for n in (2**29, 2**32 - 1):
    model.test_attack_19_a_core_of_other_parameters(folder, {"n_features": n})
labels.test_attack_22_offsets_of_labels(folder, [0, 2**63])
labels.test_attack_26_labels_that_grow_when_loaded(folder)
tree.test_attack_35_counts_that_lie(folder)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to limit memory")
def test_attack_48_memory(tmp_path):
    """Files of a few kilobytes that claim gigabytes, in a process that may have 256 MB more."""
    done = subprocess.run(
        [sys.executable, "-c", WITHIN_LIMITS, str(Path(__file__).parent), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr


def test_the_document_lists_every_attack():
    document = (Path(__file__).parents[1] / "docs" / "model-file.md").read_text()
    numbers = [int(n) for n in re.findall(r"^\| (\d+) \|", document, re.MULTILINE)]
    files = Path(__file__).parent.glob("test_attacks_on_*.py")
    tests = [
        int(number)
        for file in files
        for number in re.findall(r"^def test_attack_(\d+)_", file.read_text(), re.MULTILINE)
    ]
    assert sorted(numbers) == sorted(tests) == list(range(1, len(tests) + 1))
