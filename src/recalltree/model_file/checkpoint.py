"""Saving now and then while learning."""

from __future__ import annotations

import os
from collections.abc import Callable
from time import monotonic
from typing import Any


class Checkpointer:
    """Saves an estimator whenever enough rows were learned or enough time has passed.

    The file is replaced as a whole: a process that is killed at any moment, even while saving,
    leaves the last checkpoint, and loses what it learned since then.

    Parameters
    ----------
    path : path-like
    every_rows : int, default=None
        Save after this many rows.
    every_minutes : float, default=None
        Save after this many minutes.

    Examples
    --------
    >>> import tempfile
    >>> import recalltree
    >>> from recalltree.model_file import Checkpointer
    >>> batches = [([[0.0], [1.0]], ["no", "yes"])] * 5
    >>> clf = recalltree.RecallTreeClassifier()
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     checkpointer = Checkpointer(file.name, every_rows=4)
    ...     for X, y in batches:
    ...         print(checkpointer.learned(clf.partial_fit(X, y), n_rows=len(y)))
    ...     recalltree.load(file.name).n_examples_, clf.n_examples_
    False
    True
    False
    True
    False
    (8, 10)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        every_rows: int | None = None,
        every_minutes: float | None = None,
    ) -> None:
        if every_rows is not None and every_rows < 1:
            raise ValueError(f"every_rows={every_rows}: it must be at least 1.")
        if every_minutes is not None and not every_minutes >= 0:
            raise ValueError(f"every_minutes={every_minutes}: it must be 0 or more.")
        self.path = path
        self.every_rows = every_rows
        self.every_minutes = every_minutes
        self._start_again()

    def learned(
        self, clf: Any, n_rows: int, extra: Callable[[], dict[str, Any]] | None = None
    ) -> bool:
        """Save the estimator if it is time.

        Parameters
        ----------
        clf : estimator
        n_rows : int
            How many rows it has learned since the last call.
        extra : callable, default=None
            Returns what ``save`` is given as `extra`; called only when it is time.

        Returns
        -------
        bool
            Whether it was saved.
        """
        self._n_rows += n_rows
        is_time = (self.every_rows is not None and self._n_rows >= self.every_rows) or (
            self.every_minutes is not None and monotonic() - self._began >= 60 * self.every_minutes
        )
        if is_time:
            clf.save(self.path, extra=None if extra is None else extra())
            self._start_again()
        return is_time

    def _start_again(self) -> None:
        self._n_rows = 0
        self._began = monotonic()
