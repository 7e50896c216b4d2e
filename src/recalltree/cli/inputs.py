"""Files of the commands: models, rows and outputs, by path or through a pipe."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recalltree
from recalltree.cli.generated_options import given_reader_options
from recalltree.cli.messages import is_terminal_input

if TYPE_CHECKING:
    from recalltree.readers import RowReader


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


def check_output(path: str) -> None:
    """Check that a file can be written, before any work is done; ``-`` always can."""
    if path != "-":
        from recalltree.model_file.atomic import check_target

        check_target(path)


def extra_of(clf: Any) -> dict[str, Any]:
    """Return what ``train`` stored with the model, empty if nothing."""
    return dict(getattr(clf, "model_extra_", None) or {})


def paths_of(ctx: click.Context, rows: Sequence[str], model: str | None) -> list[str]:
    """Return where to read rows from: standard input if nothing is named.

    Raises
    ------
    click.UsageError
        If that is a terminal, or if the model comes from there too.
    """
    paths = list(rows) or ["-"]
    if "-" in paths:
        if model == "-":
            raise click.UsageError("model and rows cannot both come from standard input.", ctx)
        if not rows and is_terminal_input():
            raise click.UsageError("give files of rows, or rows on standard input.", ctx)
    return paths


def load_to_predict(model: str, mmap: bool, n_jobs: int | None) -> Any:
    """Return a model that only predicts: where its file is mapped, without scikit-learn."""
    if mmap and model != "-":
        from recalltree.estimators.mapped import map_model

        mapped = map_model(model)
        if mapped is not None:
            return mapped if n_jobs is None else mapped.set_params(n_jobs=n_jobs)
    return load_to_use(model, mmap, n_jobs)


def load_to_use(model: str, mmap: bool, n_jobs: int | None) -> Any:
    """Return a model that is to predict, with this many threads."""
    clf = load_model(model, mmap=mmap)
    if n_jobs is not None:
        clf.set_params(n_jobs=n_jobs)
    return clf


def rows_like_the_models(
    ctx: click.Context, clf: Any, paths: Sequence[str], values: dict[str, Any], **more: Any
) -> RowReader:
    """Return rows to predict, read as the rows were that the model learned from."""
    given = given_reader_options(ctx, values)
    return open_like(paths, extra_of(clf).get("rows"), given, frozen=True, **more)


def open_like(
    paths: Sequence[str],
    kept: dict[str, Any] | None,
    given: dict[str, Any],
    **more: Any,
) -> RowReader:
    """Open rows as a model's rows were read, but for what the user says now.

    Parameters
    ----------
    paths : sequence of str
    kept : dict or None
        The options that the model was made with, if any.
    given : dict
        The options that the user gave.
    **more
        Further arguments of ``open_rows``.

    Returns
    -------
    RowReader
    """
    from recalltree.readers import open_rows

    options = dict(kept or {})
    if "bits" in given and "n_features" not in given:
        options.pop("n_features", None)
    if options and given.get("format", options["format"]) != options["format"]:
        # Another format has options of its own; what all formats share stays.
        shared = ("label_type", "multilabel", "dense", "n_features")
        options = {n: v for n, v in options.items() if n in shared}
    return open_rows(list(paths), **{**options, **given, **more})
