"""Hostile model files, numbered as in docs/model-file.md: attacks on what is said of a model."""

import pickle
from pathlib import Path

import numpy as np
import pytest
from hostile import MODELS, forge, refused, use

import recalltree
from recalltree.model_file import ModelFileError, read_header


@pytest.mark.parametrize(
    ("version", "match"),
    [("2", "format version 2.*newer"), ("999999999", "newer")]
    + [(v, "no number") for v in ("", "0", "01", "-1", "1.0", "one", "9" * 5000, "²")],
)
def test_attack_13_other_versions(tmp_path, version, match):
    forged = forge()
    forged.metadata["format_version"] = version
    refused(forged.write(tmp_path / "model.rt"), match)
    with pytest.raises(ModelFileError, match=match):
        read_header(tmp_path / "model.rt")


def test_attack_14_other_kinds_of_file(tmp_path):
    path = tmp_path / "model.rt"
    path.write_bytes(pickle.dumps({"a": 1}))
    refused(path, "not a model file")
    path.write_bytes(Path(__file__).read_bytes())
    refused(path, "not a model file")
    forged = forge()
    forged.metadata = {"format": "pt"}
    refused(forged.write(path), "not one of recalltree")
    for algorithm in ("recall-forest", "os.system", "lom-tree", "one-against-all"):
        forged = forge()
        forged.metadata["algorithm"] = algorithm
        refused(forged.write(path), "known are .*recall-tree|is missing|unknown")
    for name in ("algorithm", "contents", "parameters", "config", "class_labels", "attributes"):
        forged = forge()
        del forged.metadata[name]
        refused(forged.write(path), f"metadata lack '{name}'")
    forged = forge()
    forged.metadata["contents"] = "everything"
    refused(forged.write(path), "contents are 'everything'")


@pytest.mark.parametrize("model", MODELS)
def test_attack_15_missing_and_unknown_tensors(tmp_path, model):
    path = tmp_path / "model.rt"
    for name in forge(model).tensors:
        forged = forge(model)
        array = forged.tensors.pop(name)
        refused(forged.write(path), "is missing")
        forged.tensors[f"{name}.more"] = array
        forged.tensors[name] = array
        refused(forged.write(path), "unknown|unexpected type")


@pytest.mark.parametrize("model", MODELS)
def test_attack_16_tensors_of_other_types_and_lengths(tmp_path, model):
    path = tmp_path / "model.rt"
    for name, array in forge(model).tensors.items():
        if name.startswith("class_labels"):  # attacks 21 to 27
            continue
        others = [array[:-1], np.concatenate([array, array[-1:]]), array[:0]]
        others += [array.astype(dtype) for dtype in ("<f4", "<f8", "<u4", "<u8", "u1", "<i8")]
        for other in others:
            if other.dtype == array.dtype and len(other) == len(array):
                continue
            forged = forge(model)
            forged.tensors[name] = other
            forged.write(path)
            with pytest.raises(ModelFileError):
                recalltree.load(path, mmap=False)
            try:
                clf = recalltree.load(path)
            except ModelFileError:
                continue
            use(clf, model)  # what prediction does not need may be longer or shorter


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "cubic"},
        {"loss": ["logistic"]},
        {"max_candidates": -1},
        {"max_candidates": "7"},
        {"max_depth": 10**12},
        {"learning_rate": 1e400},
        {"n_jobs": {"__class__": "os.system"}},
        {"verbose": ...},
        {"__class__": "os"},
        {"self": 1},
        {"random_state": {"RandomState": {"bit_generator": "os"}}},
        {"random_state": {"RandomState": {"bit_generator": "seed"}}},
        {"random_state": {"RandomState": {"bit_generator": "MT19937", "state": {"key": [1]}}}},
        {"random_state": {"RandomState": {"bit_generator": "MT19937", "state": {"key": "a"}}}},
        {"random_state": {"RandomState": ["MT19937", [0] * 624]}},
        {"random_state": -1},
    ],
    ids=str,
)
def test_attack_17_parameters(tmp_path, change):
    forged = forge()
    forged.change_json("parameters", change)
    refused(forged.write(tmp_path / "model.rt"), "param|parameters|random")


@pytest.mark.parametrize("name", ["parameters", "config", "attributes"])
@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '"a"', "null"])
def test_attack_18_metadata_that_are_no_json(tmp_path, name, text):
    forged = forge()
    forged.metadata[name] = text
    refused(forged.write(tmp_path / "model.rt"), f"{name} is not")


@pytest.mark.parametrize(
    "change",
    [
        *({"n_features": n} for n in (0, 1, 63, 65, 2**29, 2**32 - 1, 2**32, -1, 64.5, "64", None)),
        {"sparse": False},
        {"sparse": "no"},
        {"loss": "cubic"},
        {"loss": 7},
        {"max_candidates": 2},
        {"path_features": "all"},
        {"learning_rate": "fast"},
        {"n_features": ...},
        {"unknown": 1},
        {"self": 1},
        {"state": {}},
    ],
    ids=str,
)
def test_attack_19_a_core_of_other_parameters(tmp_path, change):
    forged = forge()
    forged.change_json("config", change)
    refused(
        forged.write(tmp_path / "model.rt"),
        "array|incompatible|option|known|max_candidates|feature|number",
    )


@pytest.mark.parametrize(
    "change",
    [
        {"n_iter_": "1"},
        {"n_iter_": -1},
        {"n_iter_": True},
        {"n_iter_": ...},
        {"n_iter_": 10**30},
        {"validation_errors_": "a"},
        {"validation_errors_": [[1]]},
        {"curve": 7},
        {"curve": [[1, 2]]},
        {"curve": [[1, 2, "3"]]},
        {"curve": [[1, 2, 3]] * 1000},
        {"__dict__": {}},
        {"predict": 1},
    ],
    ids=str,
)
def test_attack_20_attributes(tmp_path, change):
    forged = forge()
    forged.change_json("attributes", change)
    refused(forged.write(tmp_path / "model.rt"), "attribute|curve")
