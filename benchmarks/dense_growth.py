"""Growth of cells: time, work and memory for a dense row, from 1,000 classes to 1,000,000.

Rows are generated: a nested mixture in which ten classes share a centre, ten of these centres the
next one, and so on, so that more classes add neighbours that are farther away, and the nearest stay
as near as they were. Learning is timed over the last rows, 20,000 at most, when all classes are
known. The best hundred classes are compared with those of an exact search over the vectors of all
classes.
"""

from __future__ import annotations

import argparse
import copy
import gc
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import report, study
from benchmarks.dense_programs import unit
from benchmarks.measure import Stopwatch, Times, best, peak_rss

CLASSES = (1_000, 10_000, 100_000, 1_000_000)
FEATURES = (128, 384, 1_024)
BEST = 100
FAN_OUT = 10
# The mixture: its directions, how far centres are apart in each, and noise in and beside them.
DIRECTIONS, SPREAD, NOISE, NOISE_BESIDE = 128, 0.6, 1.0, 0.05
CODEBOOK = 2**16  # offsets that centres draw from
CUT = 2.0  # deviations at which features are cut
# Number of rows from which the whitening is final.
FEWEST_ROWS = 4_000
ROWS_AT_ONCE, CLASSES_AT_ONCE = 20_000, 10_000
WORK = "vectors_compared"  # what is counted of it


class NestedMixture:
    """Rows of classes whose centres are nested: class 1234 is near 1230, less near 1200.

    >>> mixture = NestedMixture(1000, 16, seed=0)
    >>> X, y = mixture.draw(5)
    >>> X.shape, X.dtype.name, y.shape
    ((5, 16), 'float32', (5,))
    """

    def __init__(self, n_classes: int, n_features: int, seed: int) -> None:
        self.n_classes = n_classes
        self.n_features = n_features
        self.random = np.random.default_rng([seed, n_features])
        n_directions = min(DIRECTIONS, n_features)
        self.offsets = self.normal(CODEBOOK, n_directions) * np.float32(SPREAD)
        self.basis = np.linalg.qr(self.normal(n_features, n_directions))[0].T.copy()

    def normal(self, *shape: int) -> np.ndarray:
        return self.random.standard_normal(shape, dtype=np.float32)

    def centres(self, labels: np.ndarray) -> np.ndarray:
        """Return a centre for every label: an offset of its own, and those of its groups."""
        centres = np.zeros((len(labels), self.offsets.shape[1]), np.float32)
        groups = labels.astype(np.uint64)
        level = 0
        while True:
            mixed = (groups * np.uint64(16) + np.uint64(level)) * np.uint64(0x9E3779B97F4A7C15)
            centres += self.offsets[(mixed >> np.uint64(48)).astype(np.int64)]
            if FAN_OUT**level >= self.n_classes:
                return centres
            groups, level = groups // np.uint64(FAN_OUT), level + 1

    def rows_of(self, labels: np.ndarray) -> np.ndarray:
        centres = self.centres(labels)
        rows = (centres + NOISE * self.normal(*centres.shape)) @ self.basis
        return rows + np.float32(NOISE_BESIDE) * self.normal(*rows.shape)

    def draw(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of random classes."""
        labels = self.random.integers(self.n_classes, size=n)
        return self.rows_of(labels), labels

    def passes(self, rows_per_class: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield all classes in random order, this many times, a part of their rows at a time."""
        for _ in range(rows_per_class):
            order = self.random.permutation(self.n_classes)
            for begin in range(0, len(order), ROWS_AT_ONCE):
                labels = order[begin : begin + ROWS_AT_ONCE]
                yield self.rows_of(labels), labels


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--classes", nargs="+", type=int, default=list(CLASSES))
    add("--features", nargs="+", type=int, default=list(FEATURES))
    add("--rows-per-class", type=int, default=2, help="but 4,000 rows in all, at least")
    add("--test-rows", type=int, default=20_000)
    add("--exact-rows", type=int, default=200, help="compared with an exact search")
    add("--repeats", type=int, default=3, help="predictions, of which the shortest counts")
    add("--cells-read", type=int, help="of the estimator, otherwise its default")
    add("--seed", type=int, default=0)
    add("--json", type=Path, help="also write the report here, whenever there is more of it")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure every size, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for n_features in options.features:
        for n_classes in options.classes:
            console.log(f"{n_features} features, {n_classes:,} classes")
            results.append(measure(n_classes, n_features, options))
            content = study.publish(
                options, results, time_unit="microseconds per example: CPU time, one thread"
            )
            gc.collect()
    Console(width=160).print(table(results))
    return content


def measure(n_classes: int, n_features: int, options: argparse.Namespace) -> dict[str, Any]:
    """Learn and answer with this many classes and features."""
    from recalltree import OneAgainstSomeClassifier

    mixture = NestedMixture(n_classes, n_features, options.seed)
    given = {} if options.cells_read is None else {"cells_read": options.cells_read}
    model = OneAgainstSomeClassifier(keys="cells", n_jobs=1, random_state=options.seed, **given)
    classes = np.arange(n_classes)
    n_timed, before = 0, 0
    n_passes = max(options.rows_per_class, -(-FEWEST_ROWS // n_classes))
    for X, y in mixture.passes(n_passes):
        before = model.work_[WORK] if n_timed else 0
        with Stopwatch() as learning:
            model.partial_fit(X, y, classes=classes)
        n_timed = len(y)
    learned = (model.work_[WORK] - before) / n_timed
    X, y = mixture.draw(options.test_rows)
    answers = model.predict(X)  # what is made on first use
    before = model.work_[WORK]
    times: list[Times] = []
    for _ in range(options.repeats):
        with Stopwatch() as answering:
            model.predict(X)
        times.append(answering.times)
    predicted = (model.work_[WORK] - before) / (options.repeats * len(y))
    kept, microseconds = best_kept(model, X[: options.exact_rows])
    bytes_of_model = int(model.memory_bytes_)
    result = {
        "n_classes": n_classes,
        "n_features": n_features,
        "n_train": n_passes * n_classes,
        "error": float(np.mean(answers != y)),
        "best_kept": kept,
        "best_microseconds": microseconds,
        "learn": learning.times.per_example(n_timed),
        "predict": best(times).per_example(len(y)),
        "learn_vectors": learned,
        "predict_vectors": predicted,
        "model_bytes": bytes_of_model,
        "times_class_weights": bytes_of_model / (4 * n_classes * n_features),
        "peak_rss": peak_rss(),
    }
    small = model.compact("float16")
    result["compact_bytes"] = int(small.memory_bytes_)
    result["compact_error"] = float(np.mean(small.predict(X) != y))
    return result


def best_kept(model: Any, X: np.ndarray) -> tuple[float, float]:
    """Return the share of the best hundred that cells find, and microseconds to find a hundred.

    The best are those of an exact search over the vectors of all classes.
    """
    from recalltree.estimators.one_against_some import MappedOneAgainstSome

    core = model._fitted.core
    state = core.state()
    config = {**core.config, "max_candidates": BEST}
    wide = copy.copy(model)
    wide._fitted = replace(model._fitted, core=MappedOneAgainstSome(state, **config))
    n = min(BEST, len(state["class_vectors.bias"]))
    wide.predict_topk(X[:1], k=n)
    with Stopwatch() as clock:
        found, _ = wide.predict_topk(X, k=n)
    exact = best_of_all(state, whiten(state, X), n)
    kept = [len(set(a[:n]) & set(b)) / n for a, b in zip(found, exact, strict=True)]
    return float(np.mean(kept)), clock.times.cpu * 1e6 / len(X)


def whiten(state: dict[str, Any], X: np.ndarray) -> np.ndarray:
    """Whiten rows as the model does."""
    mean, rate = (state[f"whitening.{name}"].ravel()[: X.shape[1]] for name in ("mean", "rate"))
    matrix, position = state["whitening.matrix"], state["whitening.position"]
    standardised = np.clip((X - mean) * rate, -CUT, CUT)
    directions = np.empty_like(X)
    directions[:, position] = standardised @ matrix.reshape(len(position), -1)[:, : X.shape[1]].T
    return unit(directions)


def best_of_all(state: dict[str, Any], whitened: np.ndarray, n: int) -> np.ndarray:
    """Return the n best classes by A c / |c| + w and the bias, all classes compared."""
    vectors, bias = state["class_vectors.vectors"], state["class_vectors.bias"]
    width = vectors.size // (2 * len(bias))
    vectors = vectors.reshape(len(bias), 2, width)
    scale = state["class_vectors.mean_scale"][0] * state["class_vectors.inverse_norms"]
    padded = np.zeros((len(whitened), width), np.float32)
    padded[:, : whitened.shape[1]] = whitened
    labels = np.empty((len(whitened), 0), np.int64)
    scores = np.empty((len(whitened), 0), np.float32)
    for begin in range(0, len(bias), CLASSES_AT_ONCE):
        end = min(begin + CLASSES_AT_ONCE, len(bias))
        part = scale[begin:end, None] * vectors[begin:end, 0] + vectors[begin:end, 1]
        scores = np.hstack([scores, padded @ part.T + bias[begin:end]])
        labels = np.hstack([labels, np.tile(np.arange(begin, end), (len(whitened), 1))])
        best_first = np.argsort(-scores, axis=1)[:, :n]
        scores = np.take_along_axis(scores, best_first, axis=1)
        labels = np.take_along_axis(labels, best_first, axis=1)
    return labels


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per size."""
    shown = Table(caption="Times are CPU time of one thread.", caption_justify="left")
    headings: tuple[str, ...] = (
        "features",
        "classes",
        "error\n%",
        "100 kept\n%",
        "learn\nµs",
        "vectors",
    )
    headings += ("predict\nµs", "vectors", "model\nMB", "x weights", "float16\nMB", "error\n%")
    for heading in headings:
        shown.add_column(heading, justify="right")
    for r in results:
        shown.add_row(
            f"{r['n_features']:,}",
            f"{r['n_classes']:,}",
            f"{100 * r['error']:.2f}",
            f"{100 * r['best_kept']:.1f}",
            report.number(r["learn"]["cpu"]),
            f"{r['learn_vectors']:,.0f}",
            report.number(r["predict"]["cpu"]),
            f"{r['predict_vectors']:,.0f}",
            f"{r['model_bytes'] / 1e6:,.1f}",
            f"{r['times_class_weights']:.3f}",
            f"{r['compact_bytes'] / 1e6:,.1f}",
            f"{100 * r['compact_error']:.2f}",
        )
    return shown
