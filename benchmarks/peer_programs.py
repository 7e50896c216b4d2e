"""Batch programs for many classes, by their Python packages.

Each ``train`` and ``predict`` runs with one thread, on rows that are in memory where the program
takes them so; what a program has to write to files first is written before its clock starts.
Labels are an indicator matrix: a row may have several.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Stopwatch, Times, now, peak_rss

DEFAULTS = "defaults"


class Peer(ABC):
    """One program: training, then the best labels of every test row.

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
    def train(self, X: Any, Y: sp.csr_array) -> Times:
        """Learn, and return the time it took."""

    @abstractmethod
    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        """Return the time it took, and the k best labels of each row, -1 where there are fewer."""

    def peak_rss(self) -> int:
        """Return the peak memory of the program, in bytes."""
        return peak_rss()


class Pecos(Peer):
    """PECOS XR-Linear: hierarchical k-means over the classes' mean rows, then ranking.

    It predicts with the model that it loads for prediction only, its faster one.
    """

    module = "pecos"
    settings: ClassVar = {"threshold=0.01": {"threshold": 0.01}}

    def train(self, X: Any, Y: sp.csr_array) -> Times:
        from pecos.xmc import Indexer, LabelEmbeddingFactory
        from pecos.xmc.xlinear.model import XLinearModel

        X, Y = _matrix(X), _matrix(Y)
        with Stopwatch() as clock:
            labels = LabelEmbeddingFactory.create(Y, X, method="pifa")
            clusters = Indexer.gen(labels, indexer_type="hierarchicalkmeans", threads=1)
            model = XLinearModel.train(X, Y, C=clusters, threads=1, **self.parameters)
        path = str(self.folder / "pecos")
        model.save(path)
        self.model = XLinearModel.load(path, is_predict_only=True)
        return clock.times

    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        X = _matrix(X)
        with Stopwatch() as clock:
            best = self.model.predict(X, only_topk=k, threads=1)
        return clock.times, _ranked(best, k)


class Omikuji(Peer):
    """Omikuji: Parabel's balanced trees, three of them. It reads its training rows from a file.

    Reading is not timed: training begins where its log says so. Its Python package predicts one
    row at a time.
    """

    module = "omikuji"
    settings: ClassVar = {"weight_threshold=0.01": {"linear_weight_threshold": 0.01}}
    beginning = "Training model"

    def train(self, X: Any, Y: sp.csr_array) -> Times:
        import omikuji

        path = self.folder / "omikuji.txt"
        _write_repository_format(path, sp.csr_array(X), Y)
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

    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        X = sp.csr_array(X)
        rows = [
            list(zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True))
            for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True)
        ]
        with Stopwatch() as clock:
            best = [self.model.predict(row, top_k=k) for row in rows]
        return clock.times, _filled([[label for label, _ in found] for found in best], k)


class NapkinXC(Peer):
    """napkinXC: a probabilistic label tree. Its model lies in files."""

    module = "napkinxc"
    settings: ClassVar = {"hierarchical-softmax": {"model": "HSM"}}

    def train(self, X: Any, Y: sp.csr_array) -> Times:
        from napkinxc import models

        X, labels = sp.csr_matrix(_matrix(X)), np.split(Y.indices, Y.indptr[1:-1])
        labels = [row.tolist() for row in labels]
        parameters = dict(self.parameters)
        kind = getattr(models, parameters.pop("model", "PLT"))
        folder = str(self.folder / "napkinxc")
        self.model = kind(folder, threads=1, seed=0, verbose=False, **parameters)
        with Stopwatch() as clock:
            self.model.fit(X, labels)
        return clock.times

    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        X = sp.csr_matrix(_matrix(X))
        self.model.load()
        with Stopwatch() as clock:
            best = self.model.predict(X, top_k=k)
        return clock.times, _filled(best, k)


class FastText(Peer):
    """fastText with hierarchical softmax, its loss for many classes. It reads words from a file.

    A feature is a word, written as often as it counts. Reading is part of its training.
    """

    module = "fasttext"
    takes_values = False
    settings: ClassVar = {"lr=0.5, epoch=25": {"lr": 0.5, "epoch": 25}}

    def train(self, X: Any, Y: sp.csr_array) -> Times:
        import fasttext

        path = self.folder / "fasttext.txt"
        with path.open("w") as file:
            for line, labels in zip(_words(X), np.split(Y.indices, Y.indptr[1:-1]), strict=True):
                file.write(" ".join([*(f"__label__{label}" for label in labels), line]) + "\n")
        with Stopwatch() as clock:
            self.model = fasttext.train_supervised(
                input=str(path),
                minCount=1,
                thread=1,
                verbose=0,
                **{"loss": "hs", **self.parameters},
            )
        return clock.times

    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        lines = list(_words(X))
        # The package's own predict() fails with NumPy 2, the compiled one does not.
        with Stopwatch() as clock:
            best = [self.model.f.predict(line + "\n", k, 0.0, "strict") for line in lines]
        prefix = len("__label__")
        return clock.times, _filled([[int(name[prefix:]) for _, name in row] for row in best], k)


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


def indicator(y: np.ndarray, n_classes: int) -> sp.csr_array:
    """Return one class for each row as an indicator matrix."""
    ones = np.ones(len(y), dtype=np.float32)
    return sp.csr_array((ones, y, np.arange(len(y) + 1)), shape=(len(y), n_classes))


def _filled(rows: Sequence[Sequence[int]], k: int) -> np.ndarray:
    """Return lists of at most k labels as an array, with -1 for labels that a row has not."""
    return np.array([[*row, *[-1] * (k - len(row))] for row in rows], dtype=np.int64).reshape(-1, k)


def _ranked(scores: Any, k: int) -> np.ndarray:
    """Return the columns of each row of a sparse matrix, the largest values first."""
    rows = zip(scores.indptr[:-1], scores.indptr[1:], strict=True)
    best = [scores.indices[a:b][np.argsort(-scores.data[a:b], kind="stable")] for a, b in rows]
    return _filled([row[:k].tolist() for row in best], k)


def _write_repository_format(path: Path, X: Any, Y: sp.csr_array) -> None:
    with path.open("w") as file:
        file.write(f"{X.shape[0]} {X.shape[1]} {Y.shape[1]}\n")
        lists = np.split(Y.indices, Y.indptr[1:-1])
        for labels, a, b in zip(lists, X.indptr[:-1], X.indptr[1:], strict=True):
            pairs = zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
            # A row without features is its labels alone: omikuji refuses a space after them.
            line = [",".join(map(str, labels)), *(f"{j}:{value:.7g}" for j, value in pairs)]
            file.write(" ".join(line) + "\n")


def _words(X: Any) -> Any:
    for a, b in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        counts = np.maximum(1, np.rint(X.data[a:b])).astype(int)
        yield " ".join(map(str, np.repeat(X.indices[a:b], counts)))
