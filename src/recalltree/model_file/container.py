"""The container: safetensors, with tensors placed so that they can be used where they lie.

A file is the length of the header (8 bytes, little endian), the header (JSON) and the tensors, end
to end. The header is padded with spaces to a multiple of 64 bytes, and tensors come in the order of
their alignment, so that all of them are aligned and none needs padding: dense weights, whose rows
fill whole cache lines, first, then by the size of their elements. Every reader of safetensors reads
these files; that of the library copies the tensors for NumPy, which is why it is not used here.

Nothing in a file is believed before it was checked.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The header is read into memory, so it is bounded. What may be long is in tensors.
MAX_HEADER_BYTES = 2**20
ALIGNMENT = 64

#: NumPy has no bfloat16: its bits are held as uint16, which is no element type of a model file.
_DTYPES: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "BF16": np.dtype("<u2"),
    "I64": np.dtype("<i8"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U8": np.dtype("u1"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
_MAX_DIMENSIONS = 2
_NO_CHECKSUM = "0" * 64
_PIECE_BYTES = 2**25
_SHA256 = re.compile("[0-9a-f]{64}")


class ModelFileError(ValueError):
    """A model file cannot be used: it is damaged, of another kind, or made to do harm.

    Nothing was changed, neither the file nor an estimator.

    Examples
    --------
    >>> import recalltree
    >>> from pathlib import Path
    >>> try:
    ...     recalltree.load(Path(recalltree.__file__))
    ... except recalltree.model_file.ModelFileError as error:
    ...     print(error)
    /...__init__.py: it is not a model file (it does not begin as one).
    """


@dataclass(frozen=True)
class Container:
    """A file, or the bytes of one, with its header checked. The tensors are views.

    Attributes
    ----------
    name : str
        What error messages call it.
    data : memoryview
        The whole file.
    metadata : dict of str to str
    tensors : dict of str to ndarray
        Read-only; bfloat16 as uint16.
    """

    name: str
    data: memoryview
    metadata: dict[str, str]
    tensors: dict[str, NDArray[Any]]

    def check_sum(self, after_piece: Callable[[int], None] | None = None) -> None:
        """Raise ModelFileError unless the bytes are those that were written.

        Parameters
        ----------
        after_piece : callable, default=None
            Called now and then with how many bytes were read since, for example to give back
            memory.
        """
        expected = self.metadata.get("sha256", "")
        if not _SHA256.fullmatch(expected):
            raise ModelFileError(f"{self.name}: it has no checksum.")
        header = self.data[: _data_start(self.data)]
        marked = bytes(header).replace(expected.encode(), _NO_CHECKSUM.encode(), 1)
        digest = hashlib.sha256(marked)
        for begin in range(len(header), len(self.data), _PIECE_BYTES):
            piece = self.data[begin : begin + _PIECE_BYTES]
            digest.update(piece)
            if after_piece is not None:
                after_piece(len(piece))
        if digest.hexdigest() != expected:
            raise ModelFileError(
                f"{self.name}: the checksum does not fit the content; the file is damaged. "
                "Take a copy that is not."
            )


def open_file(path: Path, *, use_mmap: bool) -> Container:
    """Return the container that is in a file: mapped, or read into memory."""
    with path.open("rb") as file:
        if use_mmap:
            try:
                data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            except ValueError:  # an empty file cannot be mapped
                data = memoryview(b"")
        else:
            size = path.stat().st_size
            room = np.empty(size + ALIGNMENT, dtype=np.uint8)
            start = -room.ctypes.data % ALIGNMENT
            data = room.data[start : start + size]
            data = data[: file.readinto(data)].toreadonly()
    return read_bytes(data, str(path))


def read_bytes(data: memoryview, name: str) -> Container:
    """Return the container that the bytes are. Only the header is read."""
    header = _parse(data, name)
    metadata = header.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(v, str) for v in metadata.values()):
        raise ModelFileError(f"{name}: __metadata__ is not a map of strings.")
    start = _data_start(data)
    tensors, end = {}, 0
    for tensor, entry in sorted(header.items(), key=lambda item: _offsets(item, name)):
        dtype, shape, (begin, stop) = _entry(tensor, entry, name)
        if begin != end:
            what = "overlaps the one before it" if begin < end else "leaves a hole before it"
            raise ModelFileError(f"{name}: tensor {tensor!r} {what}.")
        end = stop
        if start + stop > len(data):
            raise ModelFileError(
                f"{name}: it ends at byte {len(data)}, within or before tensor {tensor!r}; it is "
                "truncated."
            )
        if (start + begin) % dtype.itemsize:
            raise ModelFileError(f"{name}: tensor {tensor!r} is not aligned to its elements.")
        array = np.frombuffer(data, dtype, math.prod(shape), start + begin).reshape(shape)
        tensors[tensor] = array
    if start + end != len(data):
        raise ModelFileError(f"{name}: {len(data) - start - end} bytes belong to no tensor.")
    return Container(name, data, metadata, tensors)


@dataclass(frozen=True)
class Layout:
    """A file that is to be written: where its tensors go.

    Attributes
    ----------
    metadata : mapping of str to str
        The checksum is added to it.
    entries : dict
        What the header says of each tensor.
    parts : list of memoryview
        The bytes of each tensor, in the order of the file.
    """

    metadata: Mapping[str, str]
    entries: dict[str, Any]
    parts: list[memoryview]

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return len(self._header(_NO_CHECKSUM)) + sum(len(part) for part in self.parts)

    def write(self) -> list[memoryview]:
        """Return the bytes of the file, in parts: the header, then every tensor."""
        digest = hashlib.sha256(self._header(_NO_CHECKSUM))
        for part in self.parts:
            digest.update(part)
        return [memoryview(self._header(digest.hexdigest())), *self.parts]

    def _header(self, checksum: str) -> bytes:
        content = {"__metadata__": {**self.metadata, "sha256": checksum}, **self.entries}
        text = json.dumps(content, separators=(",", ":")).encode()
        padded = text + b" " * (-(8 + len(text)) % ALIGNMENT)
        if len(padded) > MAX_HEADER_BYTES:
            raise ValueError(
                f"the model's parameters take {len(padded)} bytes as JSON, and {MAX_HEADER_BYTES} "
                "is the most that a model file holds."
            )
        return len(padded).to_bytes(8, "little") + padded


def lay_out(
    tensors: Mapping[str, NDArray[Any]], metadata: Mapping[str, str], bfloat16: frozenset[str]
) -> Layout:
    """Return the file of these tensors.

    Parameters
    ----------
    tensors : mapping of str to ndarray
    metadata : mapping of str to str
    bfloat16 : frozenset of str
        Which of the tensors, of type uint16, hold bfloat16.
    """
    order = sorted(tensors, key=lambda name: (-_alignment(tensors[name]), name))
    entries, parts, end = {}, [], 0
    for name in order:
        array = np.ascontiguousarray(tensors[name])
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        entries[name] = {
            "dtype": "BF16" if name in bfloat16 else _NAMES[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [end, end + array.nbytes],
        }
        parts.append(array.reshape(-1).view(np.uint8).data)
        end += array.nbytes
    return Layout(metadata, entries, parts)


def _alignment(array: NDArray[Any]) -> int:
    """Return what a tensor's size is a multiple of, and its place therefore can be."""
    is_padded = array.ndim == 2 and array.shape[1] * array.itemsize % ALIGNMENT == 0
    return ALIGNMENT if is_padded else array.dtype.itemsize


# --- reading what may be anything -----------------------------------------------------------


def _data_start(data: memoryview) -> int:
    return 8 + int.from_bytes(data[:8], "little")


def _parse(data: memoryview, name: str) -> dict[str, Any]:
    if len(data) < 8:
        raise ModelFileError(f"{name}: it has {len(data)} bytes, which is too short for a model.")
    length = _data_start(data) - 8
    if not 2 <= length <= MAX_HEADER_BYTES or data[8:9] != b"{":
        raise ModelFileError(f"{name}: it is not a model file (it does not begin as one).")
    if 8 + length > len(data):
        raise ModelFileError(f"{name}: it ends within its header; it is truncated.")
    try:
        header = json.loads(
            str(data[8 : 8 + length], "utf-8"), object_pairs_hook=_unique, parse_constant=_refuse
        )
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{name}: its header is not valid JSON: {error}.") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{name}: its header is not a JSON object.")
    return header


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key appears twice")
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON number")


def _offsets(item: tuple[str, Any], name: str) -> tuple[int, int]:
    tensor, entry = item
    offsets: Any = entry.get("data_offsets") if isinstance(entry, dict) else None
    if not _is_counts(offsets) or len(offsets) != 2:
        raise ModelFileError(f"{name}: tensor {tensor!r} has no data_offsets [begin, end].")
    return offsets[0], offsets[1]


def _entry(
    tensor: str, entry: dict[str, Any], name: str
) -> tuple[np.dtype[Any], tuple[int, ...], tuple[int, int]]:
    dtype = _DTYPES.get(str(entry.get("dtype")))
    shape: Any = entry.get("shape")
    if dtype is None:
        raise ModelFileError(
            f"{name}: tensor {tensor!r} has the type {entry.get('dtype')!r}; known are "
            f"{', '.join(_DTYPES)}."
        )
    if not _is_counts(shape) or not 1 <= len(shape) <= _MAX_DIMENSIONS:
        raise ModelFileError(f"{name}: tensor {tensor!r} has the shape {shape!r}.")
    if set(entry) != {"dtype", "shape", "data_offsets"}:
        raise ModelFileError(f"{name}: tensor {tensor!r} is described by {sorted(entry)}.")
    begin, end = _offsets((tensor, entry), name)
    if end - begin != math.prod(shape) * dtype.itemsize:
        raise ModelFileError(
            f"{name}: tensor {tensor!r} of shape {tuple(shape)} and type {entry['dtype']} does not "
            f"take bytes {begin} to {end}."
        )
    return dtype, tuple(shape), (begin, end)


def _is_counts(value: Any) -> bool:
    """Return whether this is a list of integers that can count bytes."""
    return isinstance(value, list) and all(
        type(item) is int and 0 <= item < 2**63 for item in value
    )
