"""Usual programs for dense rows with many classes: means, nearest-neighbour indexes, softmaxes.

Each program learns and answers with one thread, on float32 rows in memory. Indexes hold either the
mean of each class or all rows; they name the ``CANDIDATES`` nearest, and the first of them is the
answer.
"""

from __future__ import annotations

import importlib.util
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from benchmarks.dense_softmax import AdaptiveSoftmax, FullSoftmax
from benchmarks.measure import Stopwatch, Times

CANDIDATES = 100
BLOCK = 1024  # test rows that are compared with all classes at once


class Program(ABC):
    """A way to name the class of a dense row.

    ``answer`` returns the best class of every row, or, for more than one, as many as it has; -1
    where there is none. ``add_class`` learns the rows of a class that was not there before.
    """

    module: ClassVar[str] = "numpy"

    @classmethod
    def is_available(cls) -> bool:
        return importlib.util.find_spec(cls.module) is not None

    @abstractmethod
    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        """Learn from all rows."""

    @abstractmethod
    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        """Return n classes for every row, the best first."""

    def add_class(self, X: np.ndarray, label: int) -> Times | None:
        """Learn a new class and return the time it took; None if all has to be learned again."""
        return None

    def model_bytes(self) -> int | None:
        """Return the size of the model, where the program tells."""
        return None


class Means(Program):
    """Cosine to the mean of each class, all classes compared in one matrix product (BLAS)."""

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        self.means = class_means(X, y, n_classes)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        return np.vstack([best(rows @ self.means.T, n) for rows in blocks(X)])

    def add_class(self, X: np.ndarray, label: int) -> Times:
        with Stopwatch() as clock:
            self.means = np.vstack([self.means, unit(X.mean(axis=0))])
        return clock.times

    def model_bytes(self) -> int:
        return self.means.nbytes


class Hnsw(Program):
    """hnswlib over class means or rows, M = 16. ``ef`` is how many it keeps in view."""

    module = "hnswlib"

    def __init__(self, of_rows: bool, ef: int) -> None:
        self.of_rows = of_rows
        self.ef = ef

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        import hnswlib

        points, self.labels = (X, y) if self.of_rows else (class_means(X, y, n_classes), None)
        self.index = hnswlib.Index(space="ip", dim=X.shape[1])
        self.index.init_index(len(points) + CANDIDATES, M=16, ef_construction=200, random_seed=0)
        self.index.set_num_threads(1)
        self.index.add_items(points, np.arange(len(points)))

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        self.index.set_ef(max(self.ef, n))
        found, _ = self.index.knn_query(X, k=n, num_threads=1)
        return (
            found.astype(np.int64) if self.labels is None else self.labels[found.astype(np.int64)]
        )

    def add_class(self, X: np.ndarray, label: int) -> Times:
        points = X if self.of_rows else unit(X.mean(axis=0))[None]
        first = self.index.get_current_count()
        with Stopwatch() as clock:
            self.index.add_items(points, np.arange(first, first + len(points)))
        return clock.times

    def model_bytes(self) -> int:
        return int(self.index.index_file_size())


class Faiss(Program):
    """faiss over class means or rows: ``Flat``, ``IVF...,Flat`` or ``HNSW16``."""

    module = "faiss"

    def __init__(self, of_rows: bool, kind: str, **search: int) -> None:
        self.of_rows = of_rows
        self.kind = kind
        self.search = search

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        points, self.labels = (X, y) if self.of_rows else (class_means(X, y, n_classes), None)
        kind = self.kind.format(cells=4 * int(np.sqrt(len(points))))
        self.index = faiss.index_factory(X.shape[1], kind, faiss.METRIC_INNER_PRODUCT)
        self.index.train(points)
        self.index.add(points)
        for name, value in self.search.items():
            faiss.ParameterSpace().set_index_parameter(self.index, name, value)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        _, found = self.index.search(X, n)
        return found if self.labels is None else np.where(found < 0, -1, self.labels[found])

    def add_class(self, X: np.ndarray, label: int) -> Times:
        points = X if self.of_rows else unit(X.mean(axis=0))[None]
        with Stopwatch() as clock:
            self.index.add(np.ascontiguousarray(points))
        return clock.times

    def model_bytes(self) -> int:
        import faiss

        return int(faiss.serialize_index(self.index).nbytes)


class NearestCentroid(Program):
    """scikit-learn's NearestCentroid: the class mean at the smallest Euclidean distance."""

    module = "sklearn.neighbors"

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        from sklearn.neighbors import NearestCentroid as Estimator

        self.model = Estimator().fit(X, y)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        return np.concatenate([self.model.predict(rows) for rows in blocks(X)])[:, None]


class Sgd(Program):
    """scikit-learn's SGDClassifier: one logistic regression per class, one pass."""

    module = "sklearn.linear_model"

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        from sklearn.linear_model import SGDClassifier

        self.model = SGDClassifier(loss="log_loss", max_iter=1, tol=None, random_state=0)
        self.model.fit(X, y)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        scores = (self.model.decision_function(rows) for rows in blocks(X))
        return np.vstack([self.model.classes_[best(block, n)] for block in scores])


class Ours(Program):
    """OneAgainstSomeClassifier with its defaults, one pass in the rows' own order."""

    module = "recalltree"

    def __init__(self, **parameters: Any) -> None:
        self.parameters = parameters

    def learn(self, X: np.ndarray, y: np.ndarray, n_classes: int) -> None:
        from recalltree import OneAgainstSomeClassifier

        once: dict[str, Any] = {"shuffle": False, "random_state": 0, **self.parameters}
        self.model = OneAgainstSomeClassifier(**once).fit(X, y)

    def answer(self, X: np.ndarray, n: int) -> np.ndarray:
        if n == 1:
            return self.model.predict(X)[:, None]
        found, _ = self.model.predict_topk(X, k=n)
        return np.where(np.equal(found, None), -1, found).astype(np.int64)

    def add_class(self, X: np.ndarray, label: int) -> Times:
        with Stopwatch() as clock:
            self.model.partial_fit(X, np.full(len(X), label))
        return clock.times

    def model_bytes(self) -> int:
        return int(self.model.memory_bytes_)


PROGRAMS: dict[str, Any] = {
    "recalltree": Ours,
    "recalltree, 3 passes": lambda: Ours(n_passes=3, shuffle=True),
    "class means, BLAS": Means,
    "hnswlib, means, ef=24": lambda: Hnsw(of_rows=False, ef=24),
    "hnswlib, means, ef=100": lambda: Hnsw(of_rows=False, ef=100),
    "hnswlib, means, ef=200": lambda: Hnsw(of_rows=False, ef=200),
    "hnswlib, rows, ef=100": lambda: Hnsw(of_rows=True, ef=100),
    "faiss flat, means": lambda: Faiss(False, "Flat"),
    "faiss IVF, means": lambda: Faiss(False, "IVF{cells},Flat", nprobe=32),
    "faiss HNSW, means": lambda: Faiss(False, "HNSW16,Flat", efSearch=100),
    "faiss flat, rows": lambda: Faiss(True, "Flat"),
    "faiss IVF, rows": lambda: Faiss(True, "IVF{cells},Flat", nprobe=32),
    "faiss HNSW, rows": lambda: Faiss(True, "HNSW16,Flat", efSearch=100),
    "NearestCentroid": NearestCentroid,
    "SGDClassifier": Sgd,
    "full softmax": FullSoftmax,
    "adaptive softmax": AdaptiveSoftmax,
}


def class_means(X: np.ndarray, y: np.ndarray, n_classes: int) -> np.ndarray:
    """Return the mean of every class at length one; zeros for a class without rows."""
    order = np.argsort(y, kind="stable")
    sums = np.zeros((n_classes, X.shape[1]), dtype=np.float32)
    some, begin = np.unique(y[order], return_index=True)
    sums[some] = np.add.reduceat(X[order], begin, axis=0)
    return unit(sums)


def unit(rows: np.ndarray) -> np.ndarray:
    """Return rows at length one; rows of zeros stay so."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def blocks(X: np.ndarray) -> Any:
    """Yield the rows in blocks."""
    return (X[i : i + BLOCK] for i in range(0, len(X), BLOCK))


def best(scores: np.ndarray, n: int) -> np.ndarray:
    """Return the columns of the n largest scores of each row, the largest first."""
    if n == 1:
        return scores.argmax(axis=1)[:, None]
    n = min(n, scores.shape[1])
    some = np.argpartition(scores, -n, axis=1)[:, -n:]
    order = np.argsort(-np.take_along_axis(scores, some, axis=1), axis=1, kind="stable")
    return np.take_along_axis(some, order, axis=1)
