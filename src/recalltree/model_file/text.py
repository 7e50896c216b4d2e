"""Lists of strings as two tensors: their UTF-8 bytes end to end, and where each begins."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.model_file.errors import ModelFileError

# Python strings may hold lone surrogates, and labels are any strings.
_ERRORS = "surrogatepass"


def encode_text(strings: list[str]) -> tuple[NDArray[np.uint8], NDArray[np.uint64]]:
    r"""Return the bytes of the strings, and the offsets of each in them.

    Examples
    --------
    >>> from recalltree.model_file.text import encode_text
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
