"""A baseline in the style of fastText, online: averaged embeddings and a hierarchical softmax.

An example is the mean of the embeddings of its features. A class is a leaf of a Huffman tree, and
its probability the product of logistic decisions along the way to it. Everything is learned by
plain gradient steps, example by example, as fastText does; but fastText counts the classes in a
first pass over the data and lets its rate fall to zero by the end. Here the rate stays, since a
stream has no end, and the counts are given: an advantage over methods that begin with nothing.

What is done with one example is here in NumPy, and for many rows, the same, in C.
"""

from __future__ import annotations

import ctypes
import heapq
import math
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.compiled import library
from benchmarks.measure import Stopwatch
from scipy.special import expit

from experiments.data.task import Task
from experiments.measured import NO_TIME, curve_of
from recalltree.estimators.progressive_curve import ProgressiveCurve, next_moment

SOURCE = Path(__file__).with_suffix(".c")
N_DIMENSIONS = 100
#: Features are folded into this many rows of embeddings: fastText has as many for n-grams.
MAX_ROWS = 2**21
#: Rates of the embeddings: the best is taken, an advantage. On a short beginning of a text higher
#: ones are better than on all of it.
RATES = (0.05, 0.1, 0.25, 0.5)


def huffman_tree(counts: np.ndarray) -> np.ndarray:
    """Return the two children of every inner node: a node, or -1 - class; the root is the last.

    >>> huffman_tree(np.array([5, 1, 1]))
    array([[-3, -2],
           [ 0, -1]])
    """
    heap = [(int(count), -1 - label) for label, count in enumerate(counts)]
    heapq.heapify(heap)
    children = []
    while len(heap) > 1:
        (few, a), (more, b) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (few + more, len(children)))
        children.append((a, b))
    return np.array(children)


def ways_to_leaves(children: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return for every class the inner nodes on the way from the root, and the sides taken.

    >>> ways_to_leaves(huffman_tree(np.array([5, 1, 1])))[2]
    (array([1, 0]), array([0., 0.], dtype=float32))
    """
    ways: list[Any] = [None] * (len(children) + 1)
    stack: list[tuple[int, list[int], list[int]]] = [(len(children) - 1, [], [])]
    while stack:
        node, nodes, sides = stack.pop()
        for side, child in enumerate(children[node].tolist()):
            way = ([*nodes, node], [*sides, side])
            if child >= 0:
                stack.append((child, *way))
            else:
                ways[-1 - child] = (np.array(way[0]), np.array(way[1], dtype=np.float32))
    return ways


class AveragedEmbeddings:
    """Averaged embeddings and a hierarchical softmax, learned example by example.

    Parameters
    ----------
    n_features : int
    counts : ndarray of shape (n_classes,)
        How frequent each class is: frequent ones are near the root.
    learning_rate : float
    n_dimensions : int
    seed : int

    Examples
    --------
    >>> model = AveragedEmbeddings(4, np.array([1, 1, 1, 1]), learning_rate=1.0, n_dimensions=8)
    >>> for _ in range(50):
    ...     for label in range(4):
    ...         model.learn(np.array([label]), label)
    >>> [model.predict(np.array([label])) for label in range(4)]
    [0, 1, 2, 3]
    """

    def __init__(
        self,
        n_features: int,
        counts: np.ndarray,
        learning_rate: float = 0.1,
        n_dimensions: int = N_DIMENSIONS,
        seed: int = 0,
    ) -> None:
        self.learning_rate = learning_rate
        self.children = huffman_tree(counts)
        self.ways = ways_to_leaves(self.children)
        nodes, sides = zip(*self.ways, strict=True)
        self._flat_ways = (
            np.cumsum([0, *map(len, nodes)]),
            np.concatenate(nodes).astype(np.int64),
            np.concatenate(sides),
        )
        self.n_rows = min(n_features, MAX_ROWS)
        random = np.random.default_rng(seed)
        self.embeddings = random.random((self.n_rows, n_dimensions), dtype=np.float32)
        self.embeddings -= 0.5
        self.embeddings *= 2 / n_dimensions
        self.deciders = np.zeros((len(self.children), n_dimensions), dtype=np.float32)

    def mean(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows of some features, and the mean of their embeddings."""
        rows = features % self.n_rows
        if len(rows) == 0:
            return rows, np.zeros(self.embeddings.shape[1], dtype=np.float32)
        return rows, self.embeddings[rows].mean(axis=0)

    def learn(self, features: np.ndarray, label: int) -> None:
        """Learn one example: its features and its class."""
        rows, hidden = self.mean(features)
        nodes, sides = self.ways[label]
        deciders = self.deciders[nodes]
        steps = self.learning_rate * (sides - expit(deciders @ hidden))
        self.deciders[nodes] = deciders + steps[:, None] * hidden
        if len(rows):
            np.add.at(self.embeddings, rows, (steps @ deciders) / len(rows))

    def predict(self, features: np.ndarray) -> int:
        """Return the most probable class, by a search from the root, the most probable first."""
        _, hidden = self.mean(features)
        heap = [(0.0, len(self.children) - 1)]
        while True:
            cost, node = heapq.heappop(heap)
            if node < 0:
                return -1 - node
            margin = float(self.deciders[node] @ hidden)
            for side, child in zip((-1, 1), self.children[node].tolist(), strict=True):
                heapq.heappush(heap, (cost + _log1p_exp(-side * margin), child))

    def predict_and_learn(self, X: Any, y: np.ndarray) -> np.ndarray:
        """Learn the rows of a CSR matrix, and return the answer to each just before it."""
        labels = np.ascontiguousarray(y, dtype=np.int64)
        starts, features = (np.ascontiguousarray(a, np.int64) for a in (X.indptr, X.indices))
        answers = np.empty(len(labels), dtype=np.int64)
        compiled = _compiled()
        if compiled is None:
            for i, (start, end) in enumerate(pairwise(starts)):
                answers[i] = self.predict(features[start:end])
                self.learn(features[start:end], int(labels[i]))
        elif compiled(self._in_c(), len(labels), starts, features, labels, answers) != 0:
            raise MemoryError("no memory to search the classes in")
        return answers

    def _in_c(self) -> _Model:
        return _Model(
            self.n_rows,
            self.embeddings.shape[1],
            len(self.children),
            self.learning_rate,
            *(
                array.ctypes.data
                for array in (self.embeddings, self.deciders, self.children, *self._flat_ways)
            ),
        )


class _Model(ctypes.Structure):
    """A model as the C program has it: `Model` there."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("n_rows", "n_dimensions", "n_nodes")),
        ("rate", ctypes.c_float),
        *(
            (name, ctypes.c_void_p)
            for name in ("embeddings", "deciders", "children", "starts", "nodes", "sides")
        ),
    )


@cache
def _compiled() -> Any:
    """Return the C function that does many rows, or None if there is no compiler."""
    try:
        function = library(SOURCE, "-march=native").embeddings_run
    except FileNotFoundError:
        return None
    numbers = np.ctypeslib.ndpointer(np.int64, flags="C_CONTIGUOUS")
    function.argtypes = [ctypes.POINTER(_Model), ctypes.c_size_t, *[numbers] * 4]
    return function


def _log1p_exp(x: float) -> float:
    return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


@dataclass
class Progress:
    """How many words the embeddings learned, and how many they got wrong before."""

    n_examples: int = 0
    progressive_errors: int = 0

    def add(self, wrong: np.ndarray) -> None:
        self.n_examples += len(wrong)
        self.progressive_errors += int(wrong.sum())

    @property
    def progressive_weight(self) -> int:
        return self.n_examples


def learn_best(task: Task, seed: int) -> dict[str, Any]:
    """Learn the text with every rate, and take the best."""
    counts = sum(np.bincount(y, minlength=task.n_classes) for _, y in task.train_batches())
    tried = {rate: learn(task, counts, rate, seed) for rate in RATES}
    rate = min(tried, key=lambda rate: tried[rate]["progressive_error"])
    rates = {str(rate): found["progressive_error"] for rate, found in tried.items()}
    return {**tried[rate], "learning_rate": rate, "rates": rates}


def learn(task: Task, counts: Any, rate: float, seed: int) -> dict[str, Any]:
    """Learn the text with one rate, each word predicted just before."""
    model = AveragedEmbeddings(task.n_features, counts, rate, seed=seed)
    curve, so_far = ProgressiveCurve(), Progress()
    times = NO_TIME
    for X, y in task.train_batches():
        start = 0
        while start < len(y):
            due = next_moment(so_far.n_examples)
            rows = slice(start, start + due - so_far.n_examples)
            with Stopwatch() as watch:
                answers = model.predict_and_learn(X[rows], y[rows])
            times += watch.times
            so_far.add(answers != y[rows])
            if so_far.n_examples == due:
                curve.record(due, so_far.progressive_weight, so_far.progressive_errors)
            start = rows.stop
    return {
        "n_train": task.n_train,
        "n_classes": task.n_classes,
        "progressive_error": so_far.progressive_errors / so_far.n_examples,
        "train_seconds": times.cpu,
        "train_microseconds": times.per_example(task.n_train)["cpu"],
        "n_judged": so_far.n_examples,
        "memory_bytes": model.embeddings.nbytes + model.deciders.nbytes,
        "curve": curve_of(curve.as_array(so_far), "error"),
    }
