"""Models in and out, by path or through a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import recalltree


def load_model(path: str, *, to_learn: bool = False) -> Any:
    """Load a model from a file, or from standard input if `path` is ``-``.

    Parameters
    ----------
    path : str
    to_learn : bool, default=False
        Check everything, as a model that goes on learning needs it.

    Returns
    -------
    estimator
    """
    options = {"mmap": not to_learn, "verify": to_learn}
    if path != "-":
        return recalltree.load(path, **options)
    with tempfile.TemporaryDirectory() as folder:
        spooled = Path(folder) / "model"
        with spooled.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        # Read to the end now: the file is gone in a moment.
        return recalltree.load(spooled, **{**options, "mmap": False})


def save_model(clf: Any, path: str, extra: dict[str, Any]) -> None:
    """Save a model to a file, or to standard output if `path` is ``-``."""
    if path != "-":
        clf.save(path, extra=extra)
        return
    with tempfile.TemporaryDirectory() as folder:
        spooled = Path(folder) / "model"
        clf.save(spooled, extra=extra)
        with spooled.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)
        sys.stdout.buffer.flush()


def extra_of(clf: Any) -> dict[str, Any]:
    """Return what ``train`` noted in a model beside the model itself: empty if nothing."""
    return dict(getattr(clf, "model_extra_", None) or {})
