"""Training by tasks of Ray: rounds of shards, each followed by a merge and a checkpoint."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import ray
from sklearn.base import clone
from sklearn.utils import check_random_state

from recalltree.estimators import LOMTreeClassifier, load
from recalltree.estimators.base import OnlineClassifier
from recalltree.model_file.parameters import encode_parameters
from recalltree.ray.display import Display
from recalltree.ray.shards import Plan, make_plan
from recalltree.ray.tasks import Learned, learn_shard, merge_in_tree
from recalltree.readers import BadRowWarning
from recalltree.validation import count_threads

#: Where a checkpoint notes how far training has come, beside the model.
NOTES = "ray"

_ASK_SECONDS = 0.5
#: Seconds that training waits for a node when none is left.
_PATIENCE = 30.0


class TrainingError(RuntimeError):
    """Training could not continue. What was learned is in the checkpoint.

    The message says why, what the checkpoint holds, and how to continue; the cause is chained.
    """


def fit(
    clf: Any,
    rows: Any,
    *,
    num_workers: int,
    sync_every: int = 1_000_000,
    first_rows: int = 10_000,
    checkpoint: str | os.PathLike[str],
    max_retries: int = 3,
    quiet: bool = False,
    **options: Any,
) -> Any:
    r"""Learn files of rows by tasks of Ray.

    In each round every worker continues from the same model with rows of its own; then their models
    are merged into the next one (``recalltree.merge``), which is also saved to the checkpoint. A
    task is a pure function of that model and its rows: whatever Ray has to run again gives the same
    bytes. Workers read the rows themselves, so all nodes need to reach the files.

    Parameters
    ----------
    clf : estimator
        Fitted or not: a fitted one continues to learn. It has ``n_passes`` passes.
    rows : str, path, or list of these
        Files, patterns, and addresses for fsspec (``"s3://bucket/*.parquet"``).
    num_workers : int
        Tasks at a time.
    sync_every : int, default=1_000_000
        About how many rows are learned in a round, by all workers together.
    first_rows : int, default=10_000
        About how many rows one worker learns alone before the first round, if `clf` is not fitted:
        so that all continue from the same trees and scales.
    checkpoint : path-like
        Where the driver writes the model after each round. The same call continues from there.
    max_retries : int, default=3
        How often Ray runs a task again whose worker or node was lost.
    quiet : bool, default=False
        Show no progress.
    **options
        As ``recalltree.readers.open_rows`` takes them.

    Returns
    -------
    estimator
        `clf` itself, fitted. A ``random_state`` of None is a number afterwards.

    Raises
    ------
    TrainingError
        If a row is bad, or too many workers, all nodes, or the disk were lost. The checkpoint holds
        the model of the last finished round, and so it does after Ctrl-C.
    ValueError
        If an argument is wrong, or the checkpoint is of another training.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import ray
    >>> import recalltree.ray
    >>> from recalltree import OneAgainstSomeClassifier
    >>> folder = Path(tempfile.mkdtemp())
    >>> for i in range(2):
    ...     _ = (folder / f"{i}.vw").write_text("cat | meow purr\ndog | bark wag\n" * 100)
    >>> context = ray.init("local", num_cpus=2, include_dashboard=False)
    >>> clf = recalltree.ray.fit(
    ...     OneAgainstSomeClassifier(random_state=0),
    ...     f"{folder}/*.vw",
    ...     num_workers=2,
    ...     sync_every=200,
    ...     checkpoint=folder / "model.rt",
    ... )
    >>> clf.n_examples_, clf.classes_.tolist()
    (400, ['cat', 'dog'])
    >>> ray.shutdown()
    """
    _check(clf, num_workers, sync_every, first_rows, max_retries, options)
    clf._validate_params()
    alone = 0 if hasattr(clf, "_fitted") or num_workers == 1 else first_rows
    plan = make_plan(rows, num_workers, sync_every, alone, options)
    notes = _notes(clf, plan, num_workers, sync_every, alone)
    run = _Run(clf, plan, notes, Path(checkpoint), max_retries, quiet=quiet)
    model = run.go()
    clf.__dict__.clear()
    clf.__dict__.update(model.__dict__)
    return clf


class _Run:
    """One call of ``fit``."""

    def __init__(
        self,
        clf: Any,
        plan: Plan,
        notes: dict[str, Any],
        checkpoint: Path,
        max_retries: int,
        *,
        quiet: bool,
    ) -> None:
        self._plan = plan
        self._notes = notes
        self._checkpoint = checkpoint
        self._quiet = quiet
        self._n_passes = clf.n_passes
        self._threads = count_threads(clf.n_jobs)
        self._task_options = {"max_retries": max_retries, "num_cpus": self._threads}
        self._finished = 0  # rounds, of all passes
        self._n_rows = 0
        self._model = self._resumed(clf)

    @property
    def _n_rounds(self) -> int:
        return self._n_passes * len(self._plan.rounds)

    def go(self) -> Any:
        """Learn the rounds that are left; return the model."""
        total = self._n_passes * self._plan.n_rows
        with Display(total, self._n_rounds, self._n_rows, quiet=self._quiet) as display:
            while self._finished < self._n_rounds:
                display.begin_round(self._finished + 1)
                pending: list[Any] = []
                with self._stopping(pending):
                    model, n_rows = self._round(display, pending)
                    self._save(model, self._finished + 1, self._n_rows + n_rows)
                self._model = model
                self._finished += 1
                self._n_rows += n_rows
        if not self._checkpoint.exists():
            raise ValueError("no row was learned: all were bad, or the files are empty.")
        # Not the copy in Ray's memory, which goes when Ray does.
        return load(self._checkpoint)

    def _round(self, display: Display, pending: list[Any]) -> tuple[Any, int]:
        """Learn one round; return the merged model and how many rows it had."""
        pass_number, number = divmod(self._finished, len(self._plan.rounds))
        # Each round begins with a copy of the driver, so that a lost node costs one round at most.
        base = ray.put(self._model)
        learn = learn_shard.options(**self._task_options)
        tasks = [
            learn.remote(base, shard, self._plan.options, pass_number)
            for shard in self._plan.rounds[number]
        ]
        merged = merge_in_tree(base, [model for model, _ in tasks], len(tasks) * self._threads)
        pending += [done for _, done in tasks] + [merged]
        n_rows = 0
        for done in self._results(pending[:-1]):
            self._warn(done)
            display.learned(done)
            n_rows += done.n_rows
        (model,) = self._results([merged])
        if model is None:  # no row of the round was good
            model = self._model
        return model, n_rows

    def _results(self, references: list[Any]) -> Iterator[Any]:
        """Yield results as they come; complain when there is nowhere to run any more."""
        left = list(references)
        since = monotonic()
        while left:
            ready, left = ray.wait(left, timeout=_ASK_SECONDS)
            if ready:
                since = monotonic()
                yield ray.get(ready[0])
            elif ray.cluster_resources().get("CPU", 0) >= self._threads:
                since = monotonic()
            elif monotonic() - since > _PATIENCE:
                raise RuntimeError(
                    f"no node with {self._threads} CPUs is left; nodes were lost, and none has "
                    f"come for {_PATIENCE:.0f} seconds"
                )

    def _warn(self, done: Learned) -> None:
        for message in done.warnings:
            warnings.warn(message, BadRowWarning, stacklevel=4)

    # --- checkpoints ------------------------------------------------------------------------------

    def _save(self, model: Any, finished: int, n_rows: int) -> None:
        if not hasattr(model, "_fitted"):
            return  # nothing was learned yet
        extra = {name: v for name, v in (model.model_extra_ or {}).items() if name != NOTES}
        position = {"finished": finished, "n_rounds": self._n_rounds, "n_rows": n_rows}
        model.save(self._checkpoint, extra={**extra, NOTES: {**self._notes, **position}})

    def _resumed(self, clf: Any) -> Any:
        """Return the model to continue from: that of the checkpoint, if there is one."""
        if not self._checkpoint.exists():
            folder = self._checkpoint.parent
            if not folder.is_dir():
                raise FileNotFoundError(
                    f"checkpoint={self._checkpoint}: there is no folder {folder}"
                )
            return _with_fixed_seed(clf)
        model = load(self._checkpoint, mmap=False)
        found = (getattr(model, "model_extra_", None) or {}).get(NOTES)
        if not found:
            raise ValueError(
                f"checkpoint={self._checkpoint} is there and was not written by this function; "
                "name another file, or remove it."
            )
        other = [name for name in self._notes if found.get(name) != self._notes[name]]
        if other:
            how = _differences(found, self._notes, other)
            raise ValueError(
                f"checkpoint={self._checkpoint} is of another training: {how}. Call fit as before "
                "to continue, name another file, or remove it."
            )
        self._finished, self._n_rows = found["finished"], found["n_rows"]
        return model

    @contextmanager
    def _stopping(self, pending: list[Any]) -> Iterator[None]:
        """Say what is left, whatever ends the training."""
        try:
            yield
        except KeyboardInterrupt:
            _cancel(pending)
            raise KeyboardInterrupt(f"interrupted; {self._what_is_left()}") from None
        except (ray.exceptions.RayError, OSError, ValueError, RuntimeError) as error:
            _cancel(pending)
            cause = getattr(error, "cause", None) or error
            raise TrainingError(f"{_in_words(cause)}; {self._what_is_left()}") from cause

    def _what_is_left(self) -> str:
        now = f"round {self._finished + 1} of {self._n_rounds} was not finished"
        if not self._finished:
            return f"{now}, and there was none before, so nothing was saved"
        return (
            f"{now}; {self._checkpoint} holds the model after round {self._finished} "
            f"({self._n_rows:,} rows), and the same call continues from there"
        )


def _check(
    clf: Any,
    num_workers: int,
    sync_every: int,
    first_rows: int,
    max_retries: int,
    options: dict[str, Any],
) -> None:
    if not isinstance(clf, OnlineClassifier):
        raise TypeError(f"clf is a {type(clf).__name__}; give an estimator of recalltree.")
    if isinstance(clf, LOMTreeClassifier) and num_workers != 1:
        raise ValueError("trees of LOMTreeClassifier cannot be merged; take another estimator.")
    least = {"num_workers": 1, "sync_every": 1, "first_rows": 0, "max_retries": 0}
    given = (num_workers, sync_every, first_rows, max_retries)
    for (name, smallest), value in zip(least.items(), given, strict=True):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < smallest:
            raise ValueError(f"{name}={value!r}: it must be an integer of at least {smallest}.")
    for name in ("frozen", "state", "require_labels"):
        if name in options:
            raise ValueError(f"{name} is no option of training; leave it out.")


def _with_fixed_seed(clf: Any) -> Any:
    """Return the estimator with a number as its random_state, so that all workers begin alike."""
    if hasattr(clf, "_fitted") or isinstance(clf.random_state, Integral):
        return clf
    seed = int(check_random_state(clf.random_state).randint(np.iinfo(np.int32).max))
    return clone(clf).set_params(random_state=seed)


def _notes(clf: Any, plan: Plan, num_workers: int, sync_every: int, alone: int) -> dict[str, Any]:
    """Return what makes a training what it is; another one cannot continue from its checkpoint."""
    parameters = clf.get_params(deep=False)
    del parameters["random_state"]  # it may be drawn
    return {
        "files": _digest(plan.files),
        "options": _digest(sorted(plan.options.items())),
        "parameters": encode_parameters(parameters),
        "num_workers": int(num_workers),
        "sync_every": int(sync_every),
        "first_rows": int(alone),
        "began_with": int(getattr(clf, "n_examples_", 0)) if hasattr(clf, "_fitted") else 0,
    }


def _digest(content: Any) -> str:
    return hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()[:16]


def _differences(found: dict[str, Any], now: dict[str, Any], names: list[str]) -> str:
    return ", ".join(
        f"{name} was {found.get(name)}, is {now[name]}"
        if isinstance(now[name], int)
        else f"the {name} differ"
        for name in names
    )


def _in_words(error: BaseException) -> str:
    text = str(error).strip()
    first = text.splitlines()[0] if text else type(error).__name__
    return first.rstrip(".;")


def _cancel(references: list[Any]) -> None:
    for reference in references:
        ray.cancel(reference, force=False)
