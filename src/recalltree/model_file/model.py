"""A model as a file holds it, and the file's tensors and metadata."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.model_file.class_labels import (
    StoredLabels,
    StoredText,
    decode_labels,
    encode_labels,
    encode_text,
)
from recalltree.model_file.container import Container, Layout, ModelFileError, lay_out, open_file
from recalltree.model_file.parameters import decode_parameters, encode_parameters, load_json

FORMAT = "recalltree"
FORMAT_VERSION = 1

#: Contents of a file: everything that learning resumes from, or only what prediction needs.
TRAINING, PREDICTION = "training", "prediction"

_EXTRA = "extra"
_NAMES_TEXT, _NAMES_OFFSETS = "feature_names.text", "feature_names.offsets"


@dataclass
class Model:
    """Contents of a model file.

    Attributes
    ----------
    algorithm : str
        "recall-tree", "one-against-all", ...
    parameters : dict
        The constructor parameters of the estimator.
    config : dict
        The parameters of the core, with which learning began.
    state : dict of str to ndarray
        The state of the core.
    classes : ndarray or StoredLabels
        The labels, by class id.
    feature_names : ndarray or None
    attributes : dict
        Of the estimator, as JSON holds them: passes made, curves.
    extra : dict or None
        What the user wanted to be kept with the model, as JSON holds it.
    contents : {"training", "prediction"}
    bfloat16 : frozenset of str
        Arrays of the state that hold bfloat16, as uint16.
    """

    algorithm: str
    parameters: dict[str, Any]
    config: dict[str, Any]
    state: dict[str, NDArray[Any]]
    classes: Any
    feature_names: NDArray[Any] | None = None
    attributes: dict[str, Any] = field(default_factory=dict)
    extra: dict[str, Any] | None = None
    contents: str = TRAINING
    bfloat16: frozenset[str] = frozenset()

    def parts(self) -> list[memoryview]:
        """Return the bytes of the file, in parts."""
        return self._layout().write()

    def n_bytes(self) -> int:
        """Return the size of the file."""
        return self._layout().n_bytes

    def _layout(self) -> Layout:
        classes = self.classes.decode() if isinstance(self.classes, StoredLabels) else self.classes
        labels, label_type = encode_labels(classes)
        tensors = {**self.state, **labels}
        if self.feature_names is not None:
            text, offsets = encode_text(self.feature_names.tolist())
            tensors |= {_NAMES_TEXT: text, _NAMES_OFFSETS: offsets}
        if self.extra is not None:
            tensors[_EXTRA] = np.frombuffer(_dump_extra(self.extra), dtype=np.uint8)
        metadata = {
            "format": FORMAT,
            "format_version": str(FORMAT_VERSION),
            "library_version": version("recalltree"),
            "algorithm": self.algorithm,
            "contents": self.contents,
            "parameters": encode_parameters(self.parameters),
            "config": encode_parameters(self.config),
            "class_labels": label_type,
            "attributes": json.dumps(self.attributes, allow_nan=False),
        }
        return lay_out(tensors, metadata, self.bfloat16)


def read_model(container: Container) -> Model:
    """Return the model that a container holds. The weights are not read."""
    try:
        return _read_model(container)
    except ModelFileError as error:
        if str(error).startswith(container.name):
            raise
        raise ModelFileError(f"{container.name}: {error}") from error


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what a model file says about itself. The weights are not read.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    dict
        "format_version", "library_version", "algorithm", "contents" ("training", or "prediction"
        for a compacted model), "parameters", "config", "n_classes", "n_features", "n_examples",
        "extra" and "tensors": the type, shape and size in bytes of each.

    Examples
    --------
    >>> import tempfile
    >>> from recalltree import RecallTreeClassifier, model_file
    >>> clf = RecallTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     clf.save(file.name)
    ...     header = model_file.read_header(file.name)
    >>> header["algorithm"], header["n_classes"], header["n_examples"]
    ('recall-tree', 2, 2)
    >>> header["tensors"]["predictors.weights"]
    {'dtype': 'float32', 'shape': (2, 16), 'bytes': 128}
    """
    container = open_file(Path(path), use_mmap=True)
    model = read_model(container)
    n_examples = model.state.get("n_examples")
    if n_examples is None or n_examples.shape != (1,):
        raise ModelFileError(f"{container.name}: tensor 'n_examples' is missing.")
    return {
        "format_version": int(container.metadata["format_version"]),
        "library_version": container.metadata.get("library_version"),
        "algorithm": model.algorithm,
        "contents": model.contents,
        "parameters": model.parameters,
        "config": model.config,
        "n_classes": len(model.classes),
        "n_features": model.config.get("n_features"),
        "n_examples": int(n_examples[0]),
        "extra": model.extra,
        "tensors": {
            name: {
                "dtype": "bfloat16" if name in model.bfloat16 else str(array.dtype),
                "shape": array.shape,
                "bytes": array.nbytes,
            }
            for name, array in container.tensors.items()
        },
    }


def _read_model(container: Container) -> Model:
    metadata, tensors = check_metadata(container), dict(container.tensors)
    feature_names = None
    if _NAMES_TEXT in tensors and _NAMES_OFFSETS in tensors:
        names = StoredText(tensors.pop(_NAMES_TEXT), tensors.pop(_NAMES_OFFSETS), "feature names")
        feature_names = np.array(names.decode(), dtype=object)
    extra = tensors.pop(_EXTRA, None)
    return Model(
        algorithm=metadata["algorithm"],
        parameters=decode_parameters(metadata["parameters"]),
        config=decode_parameters(metadata["config"], "config"),
        classes=decode_labels(tensors, metadata["class_labels"]),
        state=tensors,
        feature_names=feature_names,
        attributes=load_json(metadata["attributes"], "attributes"),
        extra=None if extra is None else load_json(_text(extra), "extra"),
        contents=metadata["contents"],
        bfloat16=frozenset(name for name, array in tensors.items() if array.dtype == np.uint16),
    )


def check_metadata(container: Container) -> dict[str, str]:
    """Return the metadata of a model file; raise ModelFileError if it is of another kind."""
    metadata = container.metadata
    if metadata.get("format") != FORMAT:
        raise ModelFileError("it is a safetensors file, but not one of recalltree.")
    found = metadata.get("format_version", "")
    if not re.fullmatch("[1-9][0-9]{0,8}", found):
        raise ModelFileError(f"its format version is {found!r}, which is no number.")
    if int(found) > FORMAT_VERSION:
        raise ModelFileError(
            f"it has format version {found}, written by recalltree "
            f"{metadata.get('library_version')}; this is recalltree {version('recalltree')}, which "
            f"reads format versions up to {FORMAT_VERSION}. Install a newer recalltree."
        )
    needed = ("algorithm", "contents", "parameters", "config", "class_labels", "attributes")
    for name in needed:
        if name not in metadata:
            raise ModelFileError(f"its metadata lack {name!r}.")
    if metadata["contents"] not in (TRAINING, PREDICTION):
        raise ModelFileError(f"its contents are {metadata['contents']!r}.")
    return metadata


def _dump_extra(extra: dict[str, Any]) -> bytes:
    try:
        return json.dumps(extra, allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"extra must be a dict that JSON can hold (finite numbers, strings, lists, dicts): "
            f"{error}."
        ) from error


def _text(data: NDArray[Any]) -> str:
    if data.dtype != np.uint8:
        raise ModelFileError(f"tensor {_EXTRA!r} is not of type U8.")
    try:
        return data.tobytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"tensor {_EXTRA!r} is not UTF-8: {error}.") from error
