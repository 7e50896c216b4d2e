"""Hostile model files: numbered as in docs/model-file.md, each refused with a clear error.

"Refused" is a ModelFileError when the file is loaded; where a number is nonsense but the structure
is sound, it is one when the file is verified or read to go on learning, while predicting from it
unverified stays within the file.
"""

import contextlib
import functools
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from classifiers import digits
from forged import Forged
from scipy import sparse

import recalltree
from recalltree import LOMTreeClassifier, OneAgainstAllClassifier, RecallTreeClassifier
from recalltree.model_file import ModelFileError, read_header

NONE = np.iinfo(np.uint32).max
MODELS = ["tree", "sparse tree", "all", "sparse all", "lom", "sparse lom"]


@functools.cache
def honest(model):
    """Return the bytes of a good file."""
    X, y = digits(300)
    labels = np.array([f"label {i}" for i in range(10)])[y]
    clf = {
        "tree": RecallTreeClassifier(max_candidates=3, path_interactions=True),
        "all": OneAgainstAllClassifier(),
        "lom": LOMTreeClassifier(),
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


# --- the container --------------------------------------------------------------------------


def test_attack_01_no_file_or_an_empty_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        recalltree.load(tmp_path / "absent.rt")
    with pytest.raises(IsADirectoryError):
        recalltree.load(tmp_path)
    (tmp_path / "model.rt").touch()
    refused(tmp_path / "model.rt", "too short")


@pytest.mark.parametrize("model", MODELS)
def test_attack_02_truncated_anywhere(tmp_path, model):
    data = honest(model)
    path = tmp_path / "model.rt"
    start = 8 + int.from_bytes(data[:8], "little")
    for length in [*range(12), start - 1, start, start + 1, *range(100, len(data), 997), -1]:
        path.write_bytes(data[:length])
        refused(path, "too short|truncated|does not begin")
    path.write_bytes(data + b"\0")
    refused(path, "1 bytes belong to no tensor")


@pytest.mark.parametrize("length", [0, 1, 2**20 + 1, 2**31, 2**63, 2**64 - 1])
def test_attack_03_lying_length_of_the_header(tmp_path, length):
    path = tmp_path / "model.rt"
    path.write_bytes(length.to_bytes(8, "little") + honest("tree")[8:])
    refused(path, "does not begin|truncated")


@pytest.mark.parametrize(
    "text",
    [
        b"{",
        b"{} {}",
        b'{"a": NaN}',
        b'{"a": 1' + b"0" * 5000 + b"}",
        b'{"\xff": 1}',
        b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
        b'{"a": ' * 30_000 + b"1" + b"}" * 30_000,
    ],
    ids=["open", "two", "NaN", "long number", "not UTF-8", "deep list", "deep object"],
)
def test_attack_04_header_that_is_no_json(tmp_path, text):
    path = forge().write(tmp_path / "model.rt", change_text=lambda _: text)
    refused(path, "header is not valid JSON")


def test_attack_05_keys_that_appear_twice(tmp_path):
    def twice(text):
        entry = '"n_examples": {"dtype": "U64", "shape": [1], "data_offsets": [0, 8]}, '
        return text.replace('"n_examples"', entry + '"n_examples"', 1)

    refused(forge().write(tmp_path / "model.rt", change_text=twice), "a key appears twice")


def _move(name, by):
    def change(header):
        header[name]["data_offsets"] = [o + by for o in header[name]["data_offsets"]]

    return change


def test_attack_06_tensors_that_overlap_or_leave_holes(tmp_path):
    path = tmp_path / "model.rt"
    refused(forge().write(path, change_header=_move("tree.left", -4)), "overlaps|hole")
    refused(forge().write(path, change_header=_move("tree.left", 4)), "overlaps|hole")
    refused(forge().write(path, change_header=lambda h: h.pop("tree.left")), "hole")

    def all_over_each_other(header):
        for name in header:
            if name != "__metadata__":
                size = np.diff(header[name]["data_offsets"])[0]
                header[name]["data_offsets"] = [0, int(size)]

    refused(forge().write(path, change_header=all_over_each_other), "overlaps")


@pytest.mark.parametrize(
    "offsets",
    [
        None,
        [],
        [0],
        [0, 8, 16],
        [-8, 0],
        [8, 0],
        [0.0, 8.0],
        ["0", "8"],
        [False, True],
        [2**63] * 2,
    ],
)
def test_attack_07_offsets_that_are_none(tmp_path, offsets):
    def change(header):
        header["n_examples"]["data_offsets"] = offsets

    refused(forge().write(tmp_path / "model.rt", change_header=change), "n_examples|overlaps|hole")


@pytest.mark.parametrize(
    "shape",
    [None, 1, [], [2], [-1], [True], [1.0], ["1"], [1, 1, 1], [0], [2**62], [2**32] * 2, [1, 0]],
)
def test_attack_08_shapes_that_lie(tmp_path, shape):
    def change(header):
        header["n_examples"]["shape"] = shape

    refused(forge().write(tmp_path / "model.rt", change_header=change), "n_examples")


def test_attack_09_huge_tensors(tmp_path):
    def change(header):
        last = max(
            (n for n in header if n != "__metadata__"), key=lambda n: header[n]["data_offsets"]
        )
        begin, _ = header[last]["data_offsets"]
        header[last] |= {"dtype": "U8", "shape": [2**62], "data_offsets": [begin, begin + 2**62]}

    refused(forge().write(tmp_path / "model.rt", change_header=change), "truncated")


@pytest.mark.parametrize("dtype", ["F8_E4M3", "I32", "U16", "object", "", None, 7, ["F32"]])
def test_attack_10_unknown_types(tmp_path, dtype):
    def change(header):
        header["n_examples"]["dtype"] = dtype

    refused(forge().write(tmp_path / "model.rt", change_header=change), "type .*; known are F64")


def test_attack_11_tensors_out_of_line(tmp_path):
    path = tmp_path / "model.rt"
    refused(
        forge().write(path, change_text=lambda text: text + " ", padding=1), "not aligned|begin"
    )

    def describe(header):
        header["n_examples"]["order"] = "F"

    refused(forge().write(path, change_header=describe), "is described by")
    for entry in (None, [], "U8", 7):

        def change(header, entry=entry):
            header["n_examples"] = entry

        refused(forge().write(path, change_header=change), "no data_offsets")


@pytest.mark.parametrize("metadata", [[], "a", {"format": 1}, {"format": {"a": "b"}}, None])
def test_attack_12_metadata_that_are_no_strings(tmp_path, metadata):
    def change(header):
        header["__metadata__"] = metadata

    refused(forge().write(tmp_path / "model.rt", change_header=change), "not a map of strings")


# --- the model ------------------------------------------------------------------------------


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


# --- labels ---------------------------------------------------------------------------------


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
    refused(forged.write(path), "unexpected type")
    for extra in (b"[]", b"{", b"\xff", b"[" * 100_000):
        forged = forge("all")
        forged.tensors["extra"] = np.frombuffer(extra, np.uint8)
        refused(forged.write(path), "extra")


# --- the tree -------------------------------------------------------------------------------


def changed(model, name, position, value):
    forged = forge(model)
    array = forged.tensors[name].reshape(-1)
    array[position] = value
    return forged


def inner_node(model):
    return int(np.flatnonzero(forge(model).tensors["tree.left"] != NONE)[1])


@pytest.mark.parametrize("model", ["tree", "sparse lom"])
@pytest.mark.parametrize("side", ["tree.left", "tree.right"])
def test_attack_29_cycles_of_nodes(tmp_path, model, side):
    path = tmp_path / "model.rt"
    node = inner_node(model)
    for ancestor in {node, int(forge(model).tensors["tree.parent"][node]), 0}:
        refused(changed(model, side, node, ancestor).write(path), "children are not its own|do not")
    # A cycle whose nodes all name each other as parents, out of reach of the root.
    forged = forge(model)
    left, parent = forged.tensors["tree.left"], forged.tensors["tree.parent"]
    child = int(left[node])
    if left[child] == NONE:
        left[child], forged.tensors["tree.right"][child] = node, node
    parent[node] = child
    refused(forged.write(path), "parent|children|tree")


@pytest.mark.parametrize("model", ["tree", "sparse lom"])
@pytest.mark.parametrize("name", ["tree.left", "tree.right", "tree.parent"])
def test_attack_30_nodes_that_do_not_exist(tmp_path, model, name):
    n_nodes = len(forge(model).tensors["tree.left"])
    for value in (n_nodes, n_nodes + 1, 2**31, NONE - 1):
        for node in (0, inner_node(model)):
            forged = changed(model, name, node, value)
            refused(forged.write(tmp_path / "model.rt"), "parent|children|root")


@pytest.mark.parametrize("model", ["tree", "lom"])
def test_attack_31_routers_that_do_not_exist(tmp_path, model):
    forged = forge(model)
    n_routers = len(forged.tensors["routers.bias"])
    for value in (n_routers, NONE - 1):
        forged = changed(model, "tree.router", inner_node(model), value)
        refused(forged.write(tmp_path / "model.rt"), "router does not exist")


def test_attack_32_nodes_with_two_parents_or_none(tmp_path):
    path = tmp_path / "model.rt"
    for model in ("tree", "lom"):
        forged = forge(model)
        node = inner_node(model)
        forged.tensors["tree.right"][node] = forged.tensors["tree.left"][node]
        refused(forged.write(path), "children")
        forged = forge(model)  # cut off a branch
        forged.tensors["tree.left"][0] = NONE
        refused(forged.write(path), "child|tree")
    refused(changed("lom", "tree.root", 0, 10**6).write(path), "root does not exist")
    refused(changed("lom", "tree.root", 0, inner_node("lom")).write(path), "root does not exist")
    refused(changed("tree", "tree.depth", 1, 5).write(path), "children|depth")


@pytest.mark.parametrize(
    ("model", "offsets"), [("tree", "histograms.offsets"), ("lom", "labels.offsets")]
)
def test_attack_33_offsets_of_histograms(tmp_path, model, offsets):
    size = len(forge(model).tensors[offsets])
    for position, value in ((0, 1), (1, 2**63), (2, 10**9), (size - 1, 0), (size - 1, 2**40)):
        forged = changed(model, offsets, position, value)
        refused(forged.write(tmp_path / "model.rt"), f"'{offsets}' does not increase")


@pytest.mark.parametrize(
    ("model", "name"),
    [("tree", "histograms.labels"), ("lom", "labels.labels"), ("all", "classes.order")],
)
def test_attack_34_classes_that_do_not_exist(tmp_path, model, name):
    for value in (10, 2**31, NONE):
        refused(
            changed(model, name, 0, value).write(tmp_path / "model.rt"), f"'{name}' names class"
        )
    refused(changed("lom", "tree.majority", 0, 10).write(tmp_path / "model.rt"), "label does not")


def test_attack_35_counts_that_lie(tmp_path):
    path = tmp_path / "model.rt"
    refused(changed("tree", "tree.max_candidates", 0, 2**32 - 1).write(path), "max_candidates")
    refused(changed("tree", "tree.max_candidates", 0, 0).write(path), "max_candidates")
    refused(changed("all", "classes.seen", 0, 7).write(path), "classes.seen")
    refused(changed("all", "classes.seen", 0, 0).write(path), "classes.order")
    refused(
        changed("all", "classes.order", 0, forge("all").tensors["classes.order"][1]).write(path),
        "repeats",
    )
    for value in (0, 9):
        refused(changed("all", "n_examples", 0, value).write(path), "n_examples")
    for model in MODELS:  # a number that is only a number
        forged = changed(model, "n_examples", 0, 2**64 - 1)
        use(recalltree.load(forged.write(path), verify=True), model)
    forged = forge("all")
    forged.tensors["classes.seen"] = np.ones(10**6, dtype="<u4")
    forged.tensors["n_examples"][0] = 10**9
    forged.tensors["classes.order"] = np.arange(10**6, dtype="<u4")
    refused(forged.write(path), "differ in number")


def test_attack_36_histograms_out_of_order(tmp_path):
    path = tmp_path / "model.rt"
    labels = forge("tree").tensors["histograms.labels"]
    for name, position, value, match in (
        ("histograms.labels", 0, labels[1], "repeats a class"),
        ("histograms.counts", 1, 1e9, "not ranked"),
        ("histograms.arrivals", 0, 10**6, "not an order"),
        ("histograms.arrivals", 0, forge("tree").tensors["histograms.arrivals"][1], "not an order"),
    ):
        refused_when_read(changed("tree", name, position, value).write(path), "tree", match)
    labels = forge("lom").tensors
    node = int(np.flatnonzero(np.diff(labels["labels.offsets"]) > 1)[0])
    begin = int(labels["labels.offsets"][node])
    forged = changed("lom", "labels.labels", begin, labels["labels.labels"][begin + 1])
    refused_when_read(forged.write(path), "lom", "repeats a class")


def test_attack_37_interactions_out_of_order(tmp_path):
    path = tmp_path / "model.rt"
    keys = forge("tree").tensors["interactions.node_and_class"]
    for value in (keys[0], keys[0] - 1, 2**64 - 1):
        forged = changed("tree", "interactions.node_and_class", 1, value)
        refused(forged.write(path), "not increasing")


# --- weights --------------------------------------------------------------------------------

SPARSE_WEIGHTS = [("sparse tree", n) for n in ("predictors", "routers", "path", "interactions")]
SPARSE_WEIGHTS += [("sparse all", "predictors"), ("sparse lom", "routers"), ("tree", "path")]


@pytest.mark.parametrize(("model", "name"), SPARSE_WEIGHTS)
def test_attack_38_offsets_of_weights(tmp_path, model, name):
    path = tmp_path / "model.rt"
    offsets = forge(model).tensors[f"{name}.offsets"]
    last = len(offsets) - 1
    for position, value in ((0, 1), (1, 2**63), (last // 2, 10**9), (last, 0), (last, 2**40)):
        refused(changed(model, f"{name}.offsets", position, value).write(path), "offsets'")
    forged = forge(model)
    forged.tensors[f"{name}.offsets"] = np.append(offsets, np.full(100, offsets[-1]))
    refused(forged.write(path), "more features than the model")


@pytest.mark.parametrize(("model", "name"), SPARSE_WEIGHTS)
def test_attack_39_rows_of_weights(tmp_path, model, name):
    path = tmp_path / "model.rt"
    for value in (10**6, NONE):
        forged = changed(model, f"{name}.rows", slice(None, None, 3), value)
        refused_when_read(forged.write(path), model, "does not exist|not increasing")
    for value in (0, slice(None, None, -1)):
        forged = forge(model)
        array = forged.tensors[f"{name}.rows"]
        array[:] = array[value]
        refused_when_read(forged.write(path), model, "not increasing")


FLOATS = [(m, n) for m in ("tree", "sparse tree", "all", "lom") for n in (
    "predictors.weights", "predictors.accumulators", "predictors.bias",
    "predictors.bias_accumulators", "routers.weights", "routers.bias", "path.weights",
    "interactions.weights", "interactions.accumulators", "scale.features", "scale.sums",
    "histograms.counts", "histograms.sums", "progress", "tree.min_count",
    "tree.margins", "labels.values",
)]  # fmt: skip
FLOATS = [(model, name) for model, name in FLOATS if name in forge(model).tensors]


@pytest.mark.parametrize(("model", "name"), FLOATS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_attack_40_numbers_that_are_not_finite(tmp_path, model, name, value):
    path = changed(model, name, slice(0, None, 2), value).write(tmp_path / "model.rt")
    refused_when_read(path, model, "holds|finite|padded|ranked|range")


def test_attack_41_origin_of_decay(tmp_path):
    X, y = digits(100)
    clf = RecallTreeClassifier(count_decay=10.0).fit(X, y)
    for value in (np.nan, np.inf, -np.inf, 1e300, -1e300):
        forged = Forged(b"".join(clf._to_model().parts()))
        forged.tensors["tree.decay_origin"][0] = value
        forged.write(tmp_path / "model.rt")
        with pytest.raises(ModelFileError, match="decay_origin"):
            recalltree.load(tmp_path / "model.rt", verify=True)
        recalltree.load(tmp_path / "model.rt").candidates(X)


def test_attack_42_padding_of_rows(tmp_path):
    X, y = digits(100)
    clf = OneAgainstAllClassifier().fit(X[:, :60], y)
    forged = Forged(b"".join(clf._to_model().parts()))
    forged.tensors["predictors.weights"][0, 63] = 1.0
    forged.write(tmp_path / "model.rt")
    with pytest.raises(ModelFileError, match="padded with zeros"):
        recalltree.load(tmp_path / "model.rt", mmap=False)


# --- damage ---------------------------------------------------------------------------------


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
import test_model_file_attacks as attacks
from pathlib import Path
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)
folder = Path(sys.argv[2])
attacks.test_attack_03_lying_length_of_the_header(folder, 2**63)
attacks.test_attack_08_shapes_that_lie(folder, [2**62])
attacks.test_attack_09_huge_tensors(folder)
for n in (2**29, 2**32 - 1):
    attacks.test_attack_19_a_core_of_other_parameters(folder, {"n_features": n})
attacks.test_attack_22_offsets_of_labels(folder, [0, 2**63])
attacks.test_attack_26_labels_that_grow_when_loaded(folder)
attacks.test_attack_35_counts_that_lie(folder)
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
    tests = [int(name.split("_")[2]) for name in globals() if name.startswith("test_attack_")]
    assert sorted(numbers) == sorted(tests) == list(range(1, len(tests) + 1))
