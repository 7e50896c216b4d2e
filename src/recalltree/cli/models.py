"""Models in and out, by path or through a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import recalltree


def load_model(path: str, *, mmap: bool = True, verify: bool = False) -> Any:
    """Load a model from a file, or from standard input if `path` is ``-``.

    Parameters
    ----------
    path : str
    mmap, verify : bool
        As of ``recalltree.load``.

    Returns
    -------
    estimator
    """
    if path != "-":
        return recalltree.load(path, mmap=mmap, verify=verify)
    with tempfile.TemporaryDirectory() as folder:
        spooled = Path(folder) / "model"
        with spooled.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        # Read to the end now: the file is gone in a moment.
        return recalltree.load(spooled, mmap=False, verify=verify)


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
