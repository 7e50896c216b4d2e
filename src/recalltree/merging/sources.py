"""Models that are merged: each as the arrays of its file, wherever these lie."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalltree.estimators.base import OnlineClassifier
from recalltree.estimators.loading import load
from recalltree.model_file.container import Container, ModelFileError
from recalltree.model_file.model import TRAINING, Model


@dataclass
class Source:
    """One model.

    Attributes
    ----------
    name : str
        What messages call it.
    model : Model
    kind : type
        The class of the estimator.
    container : Container or None
        The file that its arrays are mapped from.
    core : object
        The model as the core sees it.
    """

    name: str
    model: Model
    kind: type[OnlineClassifier]
    container: Container | None = None
    core: Any = None

    def check_sum(self, after_piece: Callable[[int], object]) -> None:
        """Raise ModelFileError if the bytes of a file are not those that were written.

        Parameters
        ----------
        after_piece : callable
            Called now and then with how many bytes were read since.
        """

        def release(n_bytes: int) -> None:
            self.release()
            after_piece(n_bytes)

        if self.container is not None:
            self.container.check_sum(release)

    def check(self) -> int:
        """Raise ModelFileError if numbers of a file are not finite or not in order.

        Returns
        -------
        int
            Bytes that were read.
        """
        if self.container is None:
            return 0
        try:
            self.core.check()
        except ValueError as error:
            message = str(error).removeprefix("state: ")
            raise ModelFileError(f"{self.name}: {message}") from error
        self.release()
        return len(self.container.data)

    def __getitem__(self, array: str) -> NDArray[Any]:
        return self.model.state[array]

    def release(self) -> None:
        """Give back the memory of what was read of a mapped file; it can be read again."""
        mapped = None if self.container is None else self.container.data.obj
        if isinstance(mapped, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


def open_source(given: Any, name: str) -> Source:
    """Return a model that was given as an estimator or as the path of a file.

    Raises
    ------
    TypeError
        If it is neither.
    ModelFileError
        If the file is damaged.
    ValueError
        If the model was compacted.
    """
    if isinstance(given, str | os.PathLike):
        name, given = os.fspath(given), load(given)
    elif not isinstance(given, OnlineClassifier):
        raise TypeError(
            f"{name} is a {type(given).__name__}; give fitted estimators of recalltree, or paths "
            "of model files."
        )
    fitted = given._check_fitted()
    if fitted.contents != TRAINING:
        raise ValueError(
            f"{name} was compacted: it lacks AdaGrad's sums, without which it cannot be merged. "
            "Merge the models that were compacted, then compact the result."
        )
    return Source(name, given._to_model(), type(given), fitted.container, fitted.core)


def empty_source(like: Source) -> Source:
    """Return a model that has learned nothing: the base of models that have none."""
    config = like.model.config
    core = like.kind._core_type(**config)
    return Source(
        "the empty model",
        Model(
            algorithm=like.model.algorithm,
            parameters=like.model.parameters,
            config=config,
            state=core.state(),
            classes=np.empty(0, dtype=object),
        ),
        like.kind,
    )
