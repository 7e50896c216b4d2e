"""Programs for rows with several labels: those of ``peer_programs``, and more of their kinds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from benchmarks.measure import Times, Usage, run
from benchmarks.peer_programs import DEFAULTS, FastText, NapkinXC, Omikuji, Pecos, Peer, _filled
from benchmarks.vowpal import PROGRAM


class BinaryRelevance(NapkinXC):
    """napkinXC's binary relevance: one model for each label, over all rows."""

    settings: ClassVar = {}

    def __init__(self, folder: Path, setting: str = DEFAULTS) -> None:
        super().__init__(folder, setting)
        self.parameters = {"model": "BR"}


class ProbabilisticTree(NapkinXC):
    """napkinXC's probabilistic label tree."""

    settings: ClassVar = {}


class FastTextOfLists(FastText):
    """fastText with hierarchical softmax, and with one model for each label (``ova``)."""

    settings: ClassVar = {
        "lr=0.5, epoch=25": {"lr": 0.5, "epoch": 25},
        "lr=1, epoch=10, wordNgrams=2": {"lr": 1.0, "epoch": 10, "wordNgrams": 2},
        "dim=200, lr=1, epoch=10": {"dim": 200, "lr": 1.0, "epoch": 10},
        "ova": {"loss": "ova"},
        "ova, dim=50, lr=0.5, epoch=10": {"loss": "ova", "dim": 50, "lr": 0.5, "epoch": 10},
    }


class VowpalTree(Peer):
    """Vowpal Wabbit's online probabilistic label tree: one pass, its file driver on a cache.

    Times are those of its command less those of a run that reads the same rows and learns nothing
    (``--noop``); starting is a part of both.
    """

    module = "vowpalwabbit"
    settings: ClassVar = {
        "-l 1": {"-l": "1"},
        "-l 0.5 --sgd": {"-l": "0.5", "--sgd": ""},
    }

    def train(self, X: Any, Y: sp.csr_array) -> Times:
        self.tree = ["--plt", str(Y.shape[1]), "--loss_function", "logistic"]
        self.usages: list[Usage] = []
        self._write("train", X, Y)
        chosen = [part for pair in self.parameters.items() for part in pair if part]
        learned = self._run("train", [*self.tree, *chosen, "-f", str(self.folder / "model")])
        return learned.times - self._noop("train")

    def predict(self, X: Any, k: int) -> tuple[Times, np.ndarray]:
        self._write("test", X, None)
        output = self.folder / "predictions"
        model = ["-i", str(self.folder / "model"), "--loss_function", "logistic"]
        found = self._run("test", [*model, "-t", "--top_k", str(k), "-p", str(output)])
        times = found.times - self._noop("test")
        lines = output.read_text().splitlines()
        return times, _filled([[int(y) for y in line.split(",") if y][:k] for line in lines], k)

    def peak_rss(self) -> int:
        return max(usage.peak_rss for usage in self.usages)

    def _write(self, part: str, X: Any, Y: sp.csr_array | None) -> None:
        """Write the rows as text, and caches of them with lists of labels and without labels."""
        X = sp.csr_array(X)
        none: list[list[int]] = [[]] * X.shape[0]
        lists = none if Y is None else np.split(Y.indices, Y.indptr[1:-1])
        reading = {part: (lists, self.tree), f"{part}-noop": (none, ["--noop"])}
        for name, (labels, reduction) in reading.items():
            with (self.folder / f"{name}.txt").open("w") as file:
                file.writelines(_vowpal_lines(X, labels))
            run([*PROGRAM, *self._source(name), *reduction, "-t", "--quiet"])

    def _source(self, name: str) -> list[str]:
        data, cache = self.folder / f"{name}.txt", self.folder / f"{name}.cache"
        return ["-d", str(data), "--cache_file", str(cache), "-b", "26"]

    def _run(self, name: str, arguments: list[str]) -> Usage:
        usage = run([*PROGRAM, *self._source(name), *arguments])
        if "using cache_file" not in usage.output:
            raise RuntimeError(f"Vowpal Wabbit did not read its cache:\n{usage.output[:500]}")
        self.usages.append(usage)
        return usage

    def _noop(self, part: str) -> Times:
        return self._run(f"{part}-noop", ["--noop"]).times


def _vowpal_lines(X: sp.csr_array, lists: Sequence[Any]) -> Iterator[str]:
    for labels, a, b in zip(lists, X.indptr[:-1], X.indptr[1:], strict=True):
        pairs = zip(X.indices[a:b].tolist(), X.data[a:b].tolist(), strict=True)
        features = " ".join(f"{j}:{value:.7g}" for j, value in pairs)
        yield f"{','.join(map(str, labels))} | {features}\n"


PROGRAMS: dict[str, type[Peer]] = {
    "pecos": Pecos,
    "omikuji": Omikuji,
    "napkinxc-plt": ProbabilisticTree,
    "napkinxc-br": BinaryRelevance,
    "fasttext": FastTextOfLists,
    "vowpal": VowpalTree,
}

#: Those that compare every row with every label: they get a part of the training rows.
SLOW = {
    ("napkinxc-br", DEFAULTS),
    ("fasttext", "ova"),
    ("fasttext", "ova, dim=50, lr=0.5, epoch=10"),
}
