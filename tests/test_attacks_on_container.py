"""Hostile model files, numbered as in docs/model-file.md: attacks on the container."""

import numpy as np
import pytest
from hostile import MODELS, forge, honest, refused

import recalltree


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

    def misalign(text):  # however long it is
        return text + " " * (1 + -len(text.encode()) % 8)

    refused(forge().write(path, change_text=misalign, padding=1), "not aligned|begin")

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
