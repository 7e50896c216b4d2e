"""Labels in a model file: one or two tensors, and the type that NumPy knew them by.

Strings are two tensors: their UTF-8 bytes end to end, and where each begins. Names of features are
stored in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import find_duplicate
from recalltree.model_file.container import ModelFileError

TEXT, OFFSETS, VALUES = "class_labels.text", "class_labels.offsets", "class_labels.values"

# How NumPy's types of labels are stored: by kind, as the widest of the kind.
_STORED = {"b": np.uint8, "i": np.int64, "u": np.uint64, "f": np.float64}

_VALUE_TYPES = frozenset(
    ["bool", "float16", "float32", "float64"]
    + [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
)

# A fixed-width array of strings may be far larger than the strings. Beyond this many times their
# size, and this size, labels come back as Python strings.
_MAX_WIDENING = 256
_ALWAYS_FINE_BYTES = 2**20

# Python strings may hold lone surrogates, and labels are any strings.
_ERRORS = "surrogatepass"


def encode_text(strings: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    r"""Return the bytes of the strings, and the offsets of each in them.

    Examples
    --------
    >>> from recalltree.model_file.class_labels import encode_text
    >>> text, offsets = encode_text(["é", "", "ab"])
    >>> bytes(text), offsets
    (b'\xc3\xa9ab', array([0, 2, 2, 4], dtype=uint64))
    """
    encoded = [string.encode("utf-8", _ERRORS) for string in strings]
    offsets = np.zeros(len(encoded) + 1, dtype=np.uint64)
    np.cumsum([len(item) for item in encoded], out=offsets[1:])
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets


class StoredText:
    """A list of strings in a file: checked when it is made, decoded when it is asked for.

    Parameters
    ----------
    text : ndarray of uint8
    offsets : ndarray of uint64
    what : str
        What error messages call it.
    """

    def __init__(self, text: NDArray[Any], offsets: NDArray[Any], what: str) -> None:
        if text.dtype != np.uint8 or offsets.dtype != np.uint64 or text.ndim + offsets.ndim != 2:
            raise ModelFileError(f"{what}: its tensors have other types than U8 and U64.")
        if (
            len(offsets) == 0
            or offsets[0] != 0
            or offsets[-1] != len(text)
            or (offsets[1:] < offsets[:-1]).any()
        ):
            raise ModelFileError(f"{what}: its offsets do not increase from 0 to {len(text)}.")
        self.text, self.offsets = text, offsets
        try:
            n_characters = len(str(text.data, "utf-8", _ERRORS)) if len(text) else 0
        except UnicodeDecodeError as error:
            raise ModelFileError(f"{what}: it is not UTF-8: {error}.") from error
        self._is_ascii = n_characters == len(text)
        starts = text[offsets[:-1][offsets[:-1] < len(text)]]
        if not self._is_ascii and ((starts & 0xC0) == 0x80).any():
            raise ModelFileError(f"{what}: an offset is within a character.")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def decode(self) -> list[str]:
        """Return the strings."""
        data, offsets = self.text.tobytes(), self.offsets.tolist()
        if self._is_ascii:
            string = data.decode("ascii")
            return [string[begin:end] for begin, end in pairwise(offsets)]
        return [data[begin:end].decode("utf-8", _ERRORS) for begin, end in pairwise(offsets)]

    def longest(self) -> int:
        """Return the length of the longest string, in bytes."""
        return int(np.diff(self.offsets).max(initial=0))


def encode_labels(classes: NDArray[Any]) -> tuple[dict[str, NDArray[Any]], str]:
    """Return labels as tensors, and the name of their type.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.model_file.class_labels import encode_labels
    >>> encode_labels(np.array([3, 1], dtype=np.int16))
    ({'class_labels.values': array([3, 1])}, 'int16')
    """
    if classes.dtype.kind in "UO":
        text, offsets = encode_text(classes.tolist())
        name = "object" if classes.dtype.kind == "O" else f"U{classes.dtype.itemsize // 4}"
        return {TEXT: text, OFFSETS: offsets}, name
    stored = classes.astype(_STORED[classes.dtype.kind])
    if not (stored == classes).all():
        raise ValueError(
            f"labels of type {classes.dtype} do not fit into {stored.dtype}; give them as strings."
        )
    is_known = classes.dtype.name in _VALUE_TYPES  # else it is wider than any that is stored
    return {VALUES: stored}, classes.dtype.name if is_known else stored.dtype.name


@dataclass(frozen=True)
class StoredLabels:
    """Labels in a file: checked when they are read, turned into an array when asked for.

    Attributes
    ----------
    stored : StoredText or ndarray
    dtype : dtype
        Of the array.
    """

    stored: StoredText | NDArray[Any]
    dtype: np.dtype[Any]

    def __len__(self) -> int:
        return len(self.stored)

    def decode(self) -> NDArray[Any]:
        """Return the labels in the order of their ids."""
        if isinstance(self.stored, StoredText):
            return np.array(self.stored.decode(), dtype=self.dtype)
        return self.stored.astype(self.dtype)


def decode_labels(tensors: dict[str, NDArray[Any]], name: str) -> StoredLabels:
    """Take the tensors of the labels out of `tensors` and return the labels.

    Raises
    ------
    ModelFileError
        If the type is unknown, the tensors do not fit it, or two labels are equal.
    """
    if TEXT in tensors or OFFSETS in tensors:
        labels = _decode_strings(tensors, name)
    else:
        labels = _decode_values(tensors, name)
    if isinstance(labels.stored, StoredText):
        pair = find_duplicate(labels.stored.text, labels.stored.offsets)
    else:
        values = labels.stored + labels.stored.dtype.type(0)  # of floats, -0 is 0
        offsets = np.arange(len(values) + 1, dtype=np.uint64) * np.uint64(values.itemsize)
        pair = find_duplicate(values.view(np.uint8), offsets)
    if pair is not None:
        raise ModelFileError(f"class labels: classes {pair[0]} and {pair[1]} have the same label.")
    return labels


def _decode_strings(tensors: dict[str, NDArray[Any]], name: str) -> StoredLabels:
    try:
        text = StoredText(tensors.pop(TEXT), tensors.pop(OFFSETS), "class labels")
    except KeyError as error:
        raise ModelFileError(f"class labels: tensor {error} is missing.") from None
    if name == "object":
        return StoredLabels(text, np.dtype(object))
    digits = name.removeprefix("U")
    if not (name.startswith("U") and digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise ModelFileError(f"class labels: the type of strings cannot be {name!r}.")
    width = int(digits)
    if width * 4 < text.longest() or width == 0:
        raise ModelFileError(f"class labels: a string does not fit into the type {name!r}.")
    limit = _ALWAYS_FINE_BYTES + _MAX_WIDENING * len(text.text)
    return StoredLabels(text, np.dtype(name if 4 * width * len(text) <= limit else object))


def _decode_values(tensors: dict[str, NDArray[Any]], name: str) -> StoredLabels:
    if VALUES not in tensors:
        raise ModelFileError(f"class labels: tensor {VALUES!r} is missing.")
    values = tensors.pop(VALUES)
    if name not in _VALUE_TYPES:
        raise ModelFileError(f"class labels: the type {name!r} is unknown.")
    dtype = np.dtype(name)
    if values.dtype != _STORED[dtype.kind] or values.ndim != 1:
        raise ModelFileError(f"class labels: {name} labels are not stored as {values.dtype}.")
    with np.errstate(over="ignore", invalid="ignore"):
        fits = (values.astype(dtype).astype(values.dtype) == values).all()
    if not fits:
        raise ModelFileError(f"class labels: a label does not fit into the type {name}.")
    return StoredLabels(values, dtype)
