"""Vowpal Wabbit: its file driver, run as a program of its own on cache files.

``python -m vowpalwabbit ARGS`` (from the PyPI wheel) is the native command line: parsing, learning
and prediction all happen in its C++. Every timed run reads a binary cache, so text is parsed once,
outside the measurements. Labels are 1 .. K there, 0 .. K-1 in a :class:`Dataset`.

What a timed run does besides learning or predicting is measured too, never guessed:

start    the same command over a cache of one row: the interpreter, allocating or loading the model
reading  ``--noop`` over the whole cache less ``--noop`` over one row: reading the other rows
net      raw - start - reading

``--noop`` reads plain numbers as labels, so it has a cache of its own, made from the same text.
"""

from __future__ import annotations

import math
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import Dataset, Rows
from benchmarks.measure import Times, Usage, best, run

# Votes have no counterpart there: they are compared with what has the same aim.
REDUCTIONS = {
    "one-against-some": "--recall_tree",
    "recall-tree": "--recall_tree",
    "one-against-all": "--oaa",
    "lom-tree": "--log_multi",
}
LEARNING = ("--loss_function", "logistic", "-l", "1")
PROGRAM = (sys.executable, "-m", "vowpalwabbit")

# Bits of the hashed weight table. 26 is what its authors use on ALOI, the model of `glyphs`.
BITS = {"glyphs": 26, "webdirectory": 26, "wikipassage": 28}


def is_available() -> bool:
    """Tell whether the ``vowpalwabbit`` wheel is installed."""
    return util.find_spec("vowpalwabbit") is not None


def version() -> str:
    """Return the installed version."""
    return metadata.version("vowpalwabbit")


def table_bits(dataset: Dataset) -> int:
    """Return the ``-b`` for a set: chosen above, else room for the weights of 3 K dense rows."""
    if dataset.name in BITS:
        return BITS[dataset.name]
    return min(26, max(18, math.ceil(math.log2(3 * dataset.n_classes * dataset.n_features))))


def format_rows(X: Rows, y: np.ndarray, chunk: int = 4096) -> Iterator[str]:
    """Yield one line of text per row; zeros are left out, values are shortest exact float32."""
    for start in range(0, X.shape[0], chunk):
        block = sp.csr_array(X[start : start + chunk])
        ids = (block.indices + 1).astype(str)
        values = block.data.astype(str)
        features = [f"{i}:{v}" for i, v in zip(ids, values, strict=True)]
        for row, label in enumerate(y[start : start + chunk]):
            active = features[block.indptr[row] : block.indptr[row + 1]]
            yield f"{label + 1} | {' '.join(active)}\n"


def parse_predictions(text: str) -> np.ndarray:
    """Return the 0-based labels of a ``-p`` file; -1 where it had no answer (it writes 0)."""
    return np.array([int(line.split()[0]) for line in text.splitlines()], dtype=np.int64) - 1


@dataclass(frozen=True)
class Phase:
    """Training or prediction of one repeat, with what is to be taken off."""

    raw: Times
    start: Times
    reading: Times

    @property
    def net(self) -> Times:
        return self.raw - self.start - self.reading

    @classmethod
    def best(cls, repeats: Sequence[Phase]) -> Phase:
        """Return the best of each part over the repeats."""
        return cls(
            raw=best(phase.raw for phase in repeats),
            start=best(phase.start for phase in repeats),
            reading=best(phase.reading for phase in repeats),
        )


class VowpalWabbit:
    """One set in Vowpal Wabbit's files, kept under ``cache_dir``, and the commands over them."""

    def __init__(self, dataset: Dataset, cache_dir: Path) -> None:
        self.dataset = dataset
        self.bits = table_bits(dataset)
        self.folder = cache_dir.resolve() / f"vowpal-{version()}" / f"{dataset.key}-b{self.bits}"
        self.commands: dict[str, str] = {}

    def prepare(self) -> None:
        """Write text and caches of all rows and of the first row, unless they are there."""
        if self.folder.exists():
            return
        partial = self.folder.with_name(self.folder.name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        final, self.folder = self.folder, partial
        try:
            for split in ("train", "test"):
                X = getattr(self.dataset, f"X_{split}")
                y = getattr(self.dataset, f"y_{split}")
                self._write(split, X, y)
                self._write(f"{split}-first", X[:1], y[:1])
        finally:
            self.folder = final
        partial.rename(final)

    def _write(self, split: str, X: Rows, y: np.ndarray) -> None:
        text = self.folder / f"{split}.txt"
        with text.open("w") as file:
            file.writelines(format_rows(X, y))
        # An untrained tree in test mode reads class labels and does nothing with them.
        idle = ["--noop", "-t", "--recall_tree", str(self.dataset.n_classes)]
        for cache, reduction in ((f"{split}.cache", idle), (f"{split}.noop.cache", ["--noop"])):
            run([*PROGRAM, *self._source(split, cache), *reduction, "--quiet"])

    def _source(self, split: str, cache: str) -> list[str]:
        """Return the arguments that name the data; with a cache, the text is not opened."""
        data, cache_file = self.folder / f"{split}.txt", self.folder / cache
        return ["-d", str(data), "--cache_file", str(cache_file), "-b", str(self.bits)]

    def _run(self, split: str, cache: str, arguments: list[str], label: str) -> Usage:
        command = [*PROGRAM, *self._source(split, cache), *arguments]
        usage = run(command)
        if "using cache_file" not in usage.output:
            raise RuntimeError(f"Vowpal Wabbit did not read its cache: {' '.join(command)}")
        self.commands[label] = " ".join(["vw", *command[len(PROGRAM) :]]).replace(
            f"{self.folder}/", ""
        )
        return usage

    def _learning(self, algorithm: str) -> list[str]:
        return [REDUCTIONS[algorithm], str(self.dataset.n_classes), *LEARNING]

    def train(self, algorithm: str) -> tuple[Phase, int]:
        """Train in one pass, without saving; return the times and the peak memory in bytes."""
        arguments = self._learning(algorithm)
        raw = self._run("train", "train.cache", arguments, "train")
        start = self._run("train-first", "train-first.cache", arguments, "train start")
        return Phase(raw.times, start.times, self._reading("train", [])), raw.peak_rss

    def save_model(self, algorithm: str) -> Path:
        """Train once more, untimed, into a model file, unless it is there."""
        model = self.folder / f"{algorithm}.model"
        if not model.exists():
            partial = model.with_suffix(".partial")
            arguments = [*self._learning(algorithm), "-f", str(partial)]
            self._run("train", "train.cache", arguments, "save model")
            partial.rename(model)
        return model

    def predict(self, algorithm: str) -> tuple[Phase, int, np.ndarray]:
        """Predict the test rows; return the times, the peak memory in bytes and the labels."""
        output = self.folder / f"{algorithm}.predictions"
        arguments = ["-t", "-i", str(self.save_model(algorithm)), "-p", str(output)]
        start = self._run("test-first", "test-first.cache", arguments, "predict start")
        raw = self._run("test", "test.cache", arguments, "predict")
        labels = parse_predictions(output.read_text())
        reading = self._reading("test", ["-t", "-p", str(output)])
        return Phase(raw.times, start.times, reading), raw.peak_rss, labels

    def learn_and_test(self, algorithm: str, more: list[str]) -> tuple[Usage, np.ndarray]:
        """Train with more arguments; return what that used and the labels of the test rows."""
        model, output = (self.folder / f"{algorithm}-other.{kind}" for kind in ("model", "labels"))
        arguments = [*self._learning(algorithm), *more, "-f", str(model)]
        usage = self._run("train", "train.cache", arguments, "train")
        arguments = ["-t", "-i", str(model), "-p", str(output)]
        self._run("test", "test.cache", arguments, "predict")
        return usage, parse_predictions(output.read_text())

    def _reading(self, split: str, arguments: list[str]) -> Times:
        """Return what reading all rows but the first costs, writing an answer for each if asked."""

        def noop(part: str) -> Times:
            return self._run(part, f"{part}.noop.cache", ["--noop", *arguments], "noop").times

        return noop(split) - noop(f"{split}-first")
