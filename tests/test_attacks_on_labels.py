"""Hostile model files, numbered as in docs/model-file.md: attacks on labels and names."""

import numpy as np
import pytest
from hostile import forge, refused

import recalltree


def with_values(values, name):
    forged = forge("all")
    for tensor in ("class_labels.text", "class_labels.offsets"):
        del forged.tensors[tensor]
    forged.tensors["class_labels.values"] = np.array(values)
    forged.metadata["class_labels"] = name
    return forged


def with_strings(strings, name="object"):
    forged = forge("all")
    encoded = [s if isinstance(s, bytes) else s.encode() for s in strings]
    forged.tensors["class_labels.text"] = np.frombuffer(b"".join(encoded), np.uint8)
    forged.tensors["class_labels.offsets"] = np.cumsum([0] + [len(s) for s in encoded]).astype(
        "<u8"
    )
    forged.metadata["class_labels"] = name
    return forged


def test_attack_21_duplicate_labels(tmp_path):
    path = tmp_path / "model.rt"
    strings = [f"label {i}" for i in range(10)]
    refused(with_strings([*strings[:9], "label 3"]).write(path), "classes 3 and 9 have the same")
    refused(with_strings([""] * 10).write(path), "have the same label")
    integers = np.arange(10)
    integers[7] = 2
    refused(with_values(integers, "int64").write(path), "classes 2 and 7 have the same")
    floats = np.arange(10.0)
    floats[7] = -0.0
    refused(with_values(floats, "float64").write(path), "classes 0 and 7 have the same")
    recalltree.load(with_values(np.arange(10), "int64").write(path))


@pytest.mark.parametrize("offsets", [[1, 5], [0, 5, 3, 10], [0, 2**63], [0, 2**64 - 1], [0], []])
def test_attack_22_offsets_of_labels(tmp_path, offsets):
    forged = forge("all")
    forged.tensors["class_labels.offsets"] = np.array(offsets, dtype="<u8")
    refused(forged.write(tmp_path / "model.rt"), "class labels")


def test_attack_23_labels_that_are_no_text(tmp_path):
    path = tmp_path / "model.rt"
    rest = [str(i) for i in range(9)]
    refused(with_strings([b"\xff", *rest]).write(path), "not UTF-8")
    refused(with_strings([b"\xc3", b"\xa9", *rest[1:]]).write(path), "within a character")
    refused(with_strings([*rest, b"\xc3"]).write(path), "not UTF-8")


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (np.arange(10), "int8 "),
        (np.arange(10), "complex128"),
        (np.arange(10), "V8"),
        (np.arange(10), "datetime64"),
        (np.arange(10), "O"),
        (np.arange(10), "float64"),
        (np.arange(10) * 1000, "int8"),
        (np.arange(10).astype("<u8") + 2**63, "uint32"),
        (np.arange(10.0) * 1e300, "float32"),
        (np.full(10, np.nan), "float64"),
        (np.arange(10, dtype="u1"), "bool"),
        (np.arange(10)[:, np.newaxis], "int64"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_attack_24_types_of_labels(tmp_path, values, name):
    refused(with_values(values, name).write(tmp_path / "model.rt"), "class labels")


@pytest.mark.parametrize(
    "name", ["U0", "U", "U-5", "U1", "U9999999999", "S8", "<U8", "U٣", "", "UU8"]
)
def test_attack_25_types_of_strings(tmp_path, name):
    strings = [f"label {i}" for i in range(10)]
    refused(with_strings(strings, name).write(tmp_path / "model.rt"), "class labels")


def test_attack_26_labels_that_grow_when_loaded(tmp_path):
    # NumPy would make 10 strings of 2**28 characters of this: 10 GiB.
    strings = [f"label {i}" for i in range(10)]
    path = with_strings(strings, "U268435456").write(tmp_path / "model.rt")
    classes = recalltree.load(path).classes_
    assert classes.dtype == object
    assert classes.tolist() == strings


@pytest.mark.parametrize("n", [0, 1, 9])
def test_attack_27_fewer_labels_than_classes(tmp_path, n):
    forged = with_strings([f"label {i}" for i in range(n)])
    refused(forged.write(tmp_path / "model.rt"), f"10 classes and {n} labels")


def test_attack_28_names_of_features(tmp_path):
    path = tmp_path / "model.rt"
    for strings, match in ((["a"] * 63, "64 features and 63 names"), ([b"\xff"] * 64, "UTF-8")):
        forged = forge("all")
        encoded = [s if isinstance(s, bytes) else s.encode() for s in strings]
        forged.tensors["feature_names.text"] = np.frombuffer(b"".join(encoded), np.uint8)
        forged.tensors["feature_names.offsets"] = np.arange(len(strings) + 1, dtype="<u8")
        refused(forged.write(path), match)
    forged = forge("all")
    forged.tensors["feature_names.text"] = np.zeros(3, np.uint8)
    refused(forged.write(path), "'feature_names.text' is unknown")
    for extra in (b"[]", b"{", b"\xff", b"[" * 100_000):
        forged = forge("all")
        forged.tensors["extra"] = np.frombuffer(extra, np.uint8)
        refused(forged.write(path), "extra")
