"""Features as a reader learned them, in a form that JSON can hold.

Names of a dictionary and document frequencies belong to a model as its weights do: prediction must
use the columns and the weights of the words that training used.
"""

from __future__ import annotations

import base64
import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree._core import FeatureSpace


def save_state(space: FeatureSpace) -> dict[str, Any] | None:
    """Return the state of a feature space, None if it has none (hashed, without tf-idf).

    Examples
    --------
    >>> from recalltree._core import FeatureSpace
    >>> from recalltree.readers.feature_state import restore_state, save_state
    >>> space = FeatureSpace(n_features=4, hashed=False, tf_idf=False)
    >>> space.restore_names(["cat", "dog"])
    >>> copy = FeatureSpace(n_features=4, hashed=False, tf_idf=False)
    >>> restore_state(copy, save_state(space))
    >>> copy.names()
    ['cat', 'dog']
    """
    state: dict[str, Any] = {}
    names, frequencies = space.names(), space.frequencies()
    if names is not None:
        state["names"] = _pack("\n".join(names).encode()) if names else ""
    if frequencies is not None:
        n_documents, counts = frequencies
        state["n_documents"] = n_documents
        state["document_counts"] = _pack(counts.astype("<u4").tobytes())
    return state or None


def restore_state(space: FeatureSpace, state: dict[str, Any]) -> None:
    """Give a new feature space the state that another one had."""
    try:
        if state.get("names"):
            space.restore_names(_unpack(state["names"]).decode().split("\n"))
        if "document_counts" in state:
            counts = np.frombuffer(_unpack(state["document_counts"]), dtype="<u4")
            space.restore_frequencies(int(state["n_documents"]), counts.astype(np.uint32))
    except (ValueError, KeyError, TypeError, zlib.error) as error:
        raise ValueError(
            f"state does not fit the other options ({error}); pass the options of a reader "
            "together, as its attribute `options` has them"
        ) from error


@dataclass(frozen=True)
class FeatureState:
    """The same state with its parts to hand.

    Attributes
    ----------
    names : list of str or None
        Of a dictionary, in the order of their columns.
    n_documents : int
        Rows that were counted for tf-idf.
    counts : ndarray of uint32 or None
        Rows that had each column.

    Examples
    --------
    >>> from recalltree.readers.feature_state import FeatureState
    >>> state = FeatureState(["cat", "dog"], 0, None)
    >>> FeatureState.unpacked(state.packed()) == state
    True
    """

    names: list[str] | None
    n_documents: int
    counts: NDArray[np.uint32] | None

    @classmethod
    def unpacked(cls, state: dict[str, Any]) -> FeatureState:
        """Return the parts of what ``save_state`` returned; none of an empty dict."""
        names = counts = None
        try:
            if "names" in state:
                names = _unpack(state["names"]).decode().split("\n") if state["names"] else []
            if "document_counts" in state:
                found = np.frombuffer(_unpack(state["document_counts"]), dtype="<u4")
                counts = found.astype(np.uint32)
            return cls(names, int(state.get("n_documents", 0)), counts)
        except (ValueError, TypeError, zlib.error) as error:
            raise ValueError(f"the state of features in a model is damaged: {error}") from error

    def packed(self) -> dict[str, Any]:
        """Return what ``restore_state`` takes."""
        state: dict[str, Any] = {}
        if self.names is not None:
            state["names"] = _pack("\n".join(self.names).encode()) if self.names else ""
        if self.counts is not None:
            state["n_documents"] = self.n_documents
            state["document_counts"] = _pack(self.counts.astype("<u4").tobytes())
        return state


def names_in_options(options: dict[str, Any] | None) -> list[str] | None:
    """Return the names of the first features that a reader's options hold, None without any.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers import open_rows
    >>> from recalltree.readers.feature_state import names_in_options
    >>> reader = open_rows(io.BytesIO(b"1 | cat dog"), format="vw", features="dictionary")
    >>> _ = list(reader)
    >>> names_in_options(reader.options)
    ['cat', 'dog']
    """
    packed = ((options or {}).get("state") or {}).get("names")
    if not packed:
        return None
    return [*options.get("numeric_columns", ()), *_unpack(packed).decode().split("\n")]  # type: ignore[union-attr]


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data)).decode("ascii")


def _unpack(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text, validate=True))
