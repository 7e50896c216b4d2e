"""Looking at a model file without loading it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recalltree.model_file.container import open_file
from recalltree.model_file.errors import ModelFileError
from recalltree.model_file.model import read_model


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
