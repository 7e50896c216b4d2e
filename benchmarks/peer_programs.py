"""Batch programs for many classes, by their Python packages.

Each ``train`` and ``predict`` runs with one thread, on rows that are in memory where the program
takes them so; what a program has to write to files first is written before its clock starts.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Stopwatch, Times, now

DEFAULTS = "defaults"


class Peer(ABC):
    """One program: training, then the best class of every test row.

    ``takes_values`` says whether it can be given numbers other than counts, and ``settings`` what
    its users often change, by a name: the best of them is found on held-out training rows.
    """

    module: ClassVar[str]
    takes_values: ClassVar[bool] = True
    settings: ClassVar[dict[str, dict[str, Any]]] = {}

    def __init__(self, folder: Path, setting: str = DEFAULTS) -> None:
        self.folder = folder
        self.parameters = {} if setting == DEFAULTS else self.settings[setting]

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
    """PECOS XR-Linear: hierarchical k-means over the classes' mean rows, then ranking.

    It predicts with the model that it loads for prediction only, its faster one.
    """

    module = "pecos"
    settings: ClassVar = {"threshold=0.01": {"threshold": 0.01}}

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        X, Y = _matrix(X), _indicator(y, n_classes)
        with Stopwatch() as clock:
            labels = LabelEmbeddingFactory.create(Y, X, method="pifa")
            clusters = Indexer.gen(labels, indexer_type="hierarchicalkmeans", threads=1)
            model = XLinearModel.train(X, Y, C=clusters, threads=1, **self.parameters)
        path = str(self.folder / "pecos")
        model.save(path)
        self.model = XLinearModel.load(path, is_predict_only=True)
        return clock.times

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        X = _matrix(X)
        with Stopwatch() as clock:
            best = self.model.predict(X, only_topk=1, threads=1)
        return clock.times, _first(best.indptr, best.indices)


class Omikuji(Peer):
    """Omikuji: Parabel's balanced trees, three of them. It reads its training rows from a file.

    Reading is not timed: training begins where its log says so. Its Python package predicts one
    row at a time.
    """

    module = "omikuji"
    settings: ClassVar = {"weight_threshold=0.01": {"linear_weight_threshold": 0.01}}
    beginning = "Training model"

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        import omikuji

        path = self.folder / "omikuji.txt"
        _write_repository_format(path, sp.csr_array(X), y, n_classes)
        parameters = omikuji.Model.default_hyper_param()
        for name, value in self.parameters.items():
            setattr(parameters, name, value)
        with _Watch(self.beginning) as watch:
            self.model = omikuji.Model.train_on_data(str(path), parameters, 1)
            end = now()
        self.model.init_prediction_thread_pool(1)
        if watch.time is None:
            raise RuntimeError(f"omikuji's log does not say {self.beginning!r}")
        return end - watch.time

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        X = sp.csr_array(X)
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
    settings: ClassVar = {"hierarchical-softmax": {"model": "HSM"}}

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        from napkinxc import models

        X, labels = sp.csr_matrix(_matrix(X)), [[int(label)] for label in y]
        parameters = dict(self.parameters)
        kind = getattr(models, parameters.pop("model", "PLT"))
        folder = str(self.folder / "napkinxc")
        self.model = kind(folder, threads=1, seed=0, verbose=False, **parameters)
        with Stopwatch() as clock:
            self.model.fit(X, labels)
        return clock.times

    def predict(self, X: Any) -> tuple[Times, np.ndarray]:
        X = sp.csr_matrix(_matrix(X))
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
    settings: ClassVar = {"lr=0.5, epoch=25": {"lr": 0.5, "epoch": 25}}

    def train(self, X: Any, y: np.ndarray, n_classes: int) -> Times:
        import fasttext

        path = self.folder / "fasttext.txt"
        with path.open("w") as file:
            for line, label in zip(_words(X), y, strict=True):
                file.write(f"__label__{label} {line}\n")
        with Stopwatch() as clock:
            self.model = fasttext.train_supervised(
                input=str(path), loss="hs", minCount=1, thread=1, verbose=0, **self.parameters
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


class _Watch:
    """When some words first come on the process's standard output, of compiled code too.

    The rest of the output is dropped: to read it would cost the program time.
    """

    def __init__(self, words: str) -> None:
        self.words = words
        self.time: Times | None = None

    def __enter__(self) -> _Watch:
        reading, writing = os.pipe()
        self._saved = os.dup(1)
        os.dup2(writing, 1)
        os.close(writing)
        self._reader = threading.Thread(target=self._read, args=[reading])
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        os.dup2(self._saved, 1)  # nothing can write to the pipe: its reader ends
        self._reader.join()
        os.dup2(self._saved, 1)  # if the words came last, it has sent output nowhere meanwhile
        os.close(self._saved)

    def _read(self, reading: int) -> None:
        with open(reading, errors="replace") as lines:  # ends when nothing can write to it
            for line in lines:
                if self.time is None and self.words in line:
                    self.time = now()
                    nowhere = os.open(os.devnull, os.O_WRONLY)
                    os.dup2(nowhere, 1)
                    os.close(nowhere)


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
            pairs = zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
            # A row without features is its label alone: omikuji refuses a space after it.
            file.write(" ".join([str(label), *(f"{j}:{value:.7g}" for j, value in pairs)]) + "\n")


def _words(X: Any) -> Any:
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        counts = np.maximum(1, np.rint(X.data[a:b])).astype(int)
        yield " ".join(map(str, np.repeat(X.indices[a:b], counts)))
