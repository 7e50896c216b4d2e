"""Batch programs for many classes, by their Python packages, each with its own defaults.

Each ``train`` and ``predict`` runs with one thread, on rows that are in memory where the program
takes them so; what a program has to write to files first is written before its clock starts.
"""

from __future__ import annotations

import importlib.util
import os
import re
import tempfile
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Stopwatch, Times


class Peer(ABC):
    """One program: training, then the best class of every test row.

    ``takes_dense`` and ``takes_values`` say what rows it can be given: dense arrays, and numbers
    other than counts.
    """

    module: ClassVar[str]
    takes_dense: ClassVar[bool] = False
    takes_values: ClassVar[bool] = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def is_available(cls) -> bool:
        return importlib.util.find_spec(cls.module) is not None

    @abstractmethod
    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        """Learn, and return the time it took."""

    @abstractmethod
    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        """Return the time it took, and a class for each row, -1 where the program has none."""


class Pecos(Peer):
    """PECOS XR-Linear: hierarchical k-means over the classes' mean rows, then ranking."""

    module = "pecos"
    takes_dense = True

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        X, Y = _matrix(X), _indicator(y, n_classes)
        with Stopwatch() as clock:
            labels = LabelEmbeddingFactory.create(Y, X, method="pifa")
            clusters = Indexer.gen(labels, indexer_type="hierarchicalkmeans", threads=1)
            self.model = XLinearModel.train(X, Y, C=clusters, threads=1)
        return clock.times

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        X = _matrix(X)
        with Stopwatch() as clock:
            best = self.model.predict(X, only_topk=1, threads=1)
        return clock.times, _first(best.indptr, best.indices)


class Omikuji(Peer):
    """Omikuji: Parabel's balanced trees, three of them. It reads its training rows from a file.

    The time of training is the one it reports itself, which leaves the reading out. Its Python
    package predicts one row at a time.
    """

    module = "omikuji"

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        import omikuji

        path = self.folder / "omikuji.txt"
        _write_repository_format(path, X, y, n_classes)
        with Stopwatch() as clock, _Stderr() as log:
            self.model = omikuji.Model.train_on_data(str(path), None, 1)
        reported = re.search(r"training complete; it took ([0-9.]+)\s*s", log.text)
        if reported is None:
            return clock.times
        seconds = float(reported[1])
        return Times(wall=seconds, user=seconds, system=0.0)

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        rows = [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]
        with Stopwatch() as clock:
            best = [self.model.predict(row, top_k=1) for row in rows]
        return clock.times, np.array([found[0][0] if found else -1 for found in best])


class NapkinXC(Peer):
    """napkinXC: a probabilistic label tree. Its model lies in files."""

    module = "napkinxc"

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        from napkinxc.models import PLT

        X, labels = _matrix(X), [[int(label)] for label in y]
        self.model = PLT(str(self.folder / "napkinxc"), threads=1, seed=0, verbose=False)
        with Stopwatch() as clock:
            self.model.fit(X, labels)
        return clock.times

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        X = _matrix(X)
        self.model.load()
        with Stopwatch() as clock:
            best = self.model.predict(X, top_k=1)
        return clock.times, np.array([found[0] if found else -1 for found in best])


class FastText(Peer):
    """fastText with hierarchical softmax, its loss for many classes. It reads words from a file.

    A feature is a word, written as often as it counts. Reading is part of its training.
    """

    module = "fasttext"
    takes_values = False

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        import fasttext

        path = self.folder / "fasttext.txt"
        with path.open("w") as file:
            for line, label in zip(_words(X), y, strict=True):
                file.write(f"__label__{label} {line}\n")
        with Stopwatch() as clock:
            self.model = fasttext.train_supervised(
                input=str(path), loss="hs", minCount=1, thread=1, verbose=0
            )
        return clock.times

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        lines = list(_words(X))
        # The package's own predict() fails with NumPy 2, the compiled one does not.
        with Stopwatch() as clock:
            best = [self.model.f.predict(line + "\n", 1, 0.0, "strict") for line in lines]
        prefix = len("__label__")
        return clock.times, np.array([int(found[0][1][prefix:]) if found else -1 for found in best])


PEERS: dict[str, type[Peer]] = {
    "pecos": Pecos,
    "omikuji": Omikuji,
    "napkinxc": NapkinXC,
    "fasttext": FastText,
}


class _Stderr:
    """What is written to the process's standard error stream, by compiled code too."""

    text: str = ""

    def __enter__(self) -> _Stderr:
        self._file = tempfile.TemporaryFile()
        self._saved = os.dup(2)
        os.dup2(self._file.fileno(), 2)
        return self

    def __exit__(self, *_: object) -> None:
        os.dup2(self._saved, 2)
        os.close(self._saved)
        self._file.seek(0)
        self.text = self._file.read().decode(errors="replace")
        self._file.close()


def _matrix(X: Any) -> Any:
    """Return rows as these programs want them: scipy's older matrix class, 32-bit throughout."""
    if not sp.issparse(X):
        return np.ascontiguousarray(X, dtype=np.float32)
    rows = sp.csr_matrix(X, dtype=np.float32)
    rows.sort_indices()
    return rows


def _indicator(y: np.ndarray, n_classes: int) -> sp.csr_matrix:
    ones = np.ones(len(y), dtype=np.float32)
    return sp.csr_matrix((ones, y, np.arange(len(y) + 1)), shape=(len(y), n_classes))


def _first(indptr: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the first column of every row, -1 where there is none."""
    some = np.diff(indptr) > 0
    first = np.full(len(some), -1, dtype=np.int64)
    first[some] = indices[indptr[:-1][some]]
    return first


def _write_repository_format(path: Path, X: Any, y: np.ndarray, n_classes: int) -> None:
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {n_classes}\n")
        for label, a, b in zip(y, X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = zip(X.indices[a:b], X.data[a:b], strict=True)
            file.write(f"{label} {' '.join(f'{j}:{value:.7g}' for j, value in pairs)}\n")


def _words(X: Any) -> Any:
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        counts = np.maximum(1, np.rint(X.data[a:b])).astype(int)
        yield " ".join(map(str, np.repeat(X.indices[a:b], counts)))
