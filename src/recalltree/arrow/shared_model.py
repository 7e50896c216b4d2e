"""The model file that the processes of a machine share: mapped once in each, and watched."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from recalltree.estimators import load
from recalltree.model_file import ModelFileError
from recalltree.model_file.class_labels import StoredText

#: Models that a process keeps open.
_N_OPEN = 8


class ModelChangedError(ModelFileError):
    """A model file is not the one that a predictor was made for.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.arrow import ModelChangedError, Predictor
    >>> clf = RecallTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     clf.save(file.name)
    ...     answer = Predictor(file.name, features="x")
    ...     clf.partial_fit([[2.0]], ["very"]).save(file.name)
    ...     try:
    ...         answer(pa.record_batch({"x": [0.5]}))
    ...     except ModelChangedError:
    ...         print("make a new predictor")
    make a new predictor
    """


@dataclass(frozen=True)
class FileIdentity:
    """Identity of a predictor's file: all that its pickle holds of the model.

    Attributes
    ----------
    path : str
        Absolute.
    digest : str
        The SHA-256 of the content, which the file's header holds.
    stamp : tuple of int
        Size and time of the last change. While they stay, so does the content.
    """

    path: str
    digest: str
    stamp: tuple[int, int]


@dataclass(frozen=True)
class SharedModel:
    """A mapped model, as prediction of batches needs it.

    Attributes
    ----------
    clf : estimator
        Without ``feature_names_in_``, since batches are matched by the names of their columns.
    classes : Array
        The labels by class id. The bytes of strings are those of the file.
    feature_names : list of str or None
    rows : dict or None
        Options of the reader whose rows the model learned.
    stamp : tuple of int
        Of the file, when its content was known to be right.
    inode : int
    """

    clf: Any
    classes: pa.Array
    feature_names: list[str] | None
    rows: dict[str, Any] | None
    stamp: tuple[int, int]
    inode: int


def identify(path: str | os.PathLike[str]) -> FileIdentity:
    """Return the identity of a model file, as it is now."""
    absolute = str(Path(path).resolve())
    shared = _open(absolute)
    return FileIdentity(absolute, _digest(shared.clf), shared.stamp)


def open_shared(identity: FileIdentity) -> SharedModel:
    """Return the model of a file, mapped at most once per process.

    Raises
    ------
    ModelChangedError
        If the file is another one by now.
    FileNotFoundError
        If this machine does not have it.
    """
    status = _status(identity.path)
    shared = _opened(identity)
    if (status.st_ino, *_stamp(status)) != (shared.inode, *shared.stamp):
        _opened.cache_clear()  # somebody touched it: look at the whole of it again
        shared = _opened(identity)
    return shared


@lru_cache(maxsize=_N_OPEN)
def _opened(identity: FileIdentity) -> SharedModel:
    changed = (
        f"{identity.path} has changed since the predictor was made (its SHA-256 was "
        f"{identity.digest[:12]}...); put the old file back, or make a new predictor."
    )
    try:
        shared = _open(identity.path)
        if shared.stamp != identity.stamp and _digest(shared.clf) == identity.digest:
            shared.clf._fitted.container.check_sum()  # a copy, or changed in place
    except ModelFileError as error:
        raise ModelChangedError(f"{changed} ({error})") from error
    if _digest(shared.clf) != identity.digest:
        raise ModelChangedError(changed)
    return shared


def _open(path: str) -> SharedModel:
    status = _status(path)
    clf = load(path)
    labels = clf._fitted.labels._stored
    rows = (getattr(clf, "model_extra_", None) or {}).get("rows")
    names = clf.__dict__.pop("feature_names_in_", None)
    return SharedModel(
        clf,
        _as_arrow(labels),
        None if names is None else [str(name) for name in names],
        rows,
        _stamp(status),
        status.st_ino,
    )


def _digest(clf: Any) -> str:
    digest: str = clf._fitted.container.metadata["sha256"]
    return digest


def _status(path: str) -> os.stat_result:
    try:
        return Path(path).stat()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"{path}: there is no such model file on this machine ({platform.node()}). Every "
            "machine with workers needs it at this path: share the folder, or copy the file."
        ) from error


def _stamp(status: os.stat_result) -> tuple[int, int]:
    return status.st_size, status.st_mtime_ns


def _as_arrow(labels: Any) -> pa.Array:
    """Return labels of a file as an Arrow array, which views their bytes."""
    stored = labels.stored
    if not isinstance(stored, StoredText):
        return pa.array(labels.decode())
    fits = len(stored.text) < np.iinfo(np.int32).max
    offsets = stored.offsets.astype(np.int32 if fits else np.int64)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(stored.text)]
    return pa.Array.from_buffers(pa.string() if fits else pa.large_string(), len(stored), buffers)
