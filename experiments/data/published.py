"""The paper's own sets that are published as rows of features: ALOI, Imagenet, ODP.

They are files in the text format of Vowpal Wabbit, which a user downloads into a folder of the data
folder. What is found is checked against what the paper says of the set.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from benchmarks.datasets import Dataset, file_key

from experiments.data.task import ArrayTask, Batch, Task
from recalltree.readers import open_rows

#: The authors shuffle ODP, which is sorted by class, in a buffer of this many rows.
SHUFFLE_ROWS = 100_000


@dataclass(frozen=True)
class PublishedSet:
    """Where a set is to be had, and what it must be.

    Attributes
    ----------
    files : names of the training and of the test file, in the folder of the set
    address : where the files are published
    n_classes : labels are 1 to this
    n_train, n_test : rows; what is found may differ by a tenth, None is not checked
    n_features : of a dense set; None is sparse, its features hashed to 2**bits columns
    """

    name: str
    files: tuple[str, str]
    address: str
    n_classes: int
    n_train: int | None
    n_test: int | None
    n_features: int | None = None
    bits: int = 20

    def paths(self, data_dir: Path) -> tuple[Path, Path]:
        """Return the files, which must be there."""
        train, test = (data_dir / self.name / file for file in self.files)
        for path in (train, test):
            if not path.exists():
                raise FileNotFoundError(
                    f"set {self.name!r}: no file {path}. Download {' and '.join(self.files)} from "
                    f"{self.address} into {path.parent}"
                )
        return train, test

    def reader(self, path: Path, state: Any = None) -> Any:
        """Open a file; with the state of another reader, its features mean the same."""
        options: dict[str, Any] = {"bits": self.bits}
        if self.n_features is not None:
            options = {"features": "dictionary", "n_features": self.n_features}
        if state is not None:
            options |= {"frozen": True, "state": state}
        return open_rows(path, "vw", label_type="int", **options)


ALOI = PublishedSet(
    "aloi",
    ("aloi_train.vw.gz", "aloi_test.vw.gz"),
    "http://lowrank.net/nikos/",
    n_classes=1_000,
    n_train=97_200,
    n_test=10_800,
    n_features=128,
)
IMAGENET = PublishedSet(
    "imagenet",
    ("training.txt.gz", "testing.txt.gz"),
    "http://hunch.net/~jl/datasets/imagenet/",
    n_classes=21_841,
    n_train=None,
    n_test=None,
)
ODP = PublishedSet(
    "odp",
    ("odp_train.vw.gz", "odp_test.vw.gz"),
    "http://hunch.net/~jl/",
    n_classes=105_033,
    n_train=None,
    n_test=None,
)


def check_labels(published: PublishedSet, path: Path, y: np.ndarray) -> None:
    """Check that labels are 1 to K."""
    if len(y) and not (y.min() >= 1 and y.max() <= published.n_classes):
        raise ValueError(
            f"{path}: labels from {y.min()} to {y.max()}; those of {published.name} are 1 to "
            f"{published.n_classes:,}"
        )


def check_rows(published: PublishedSet, path: Path, found: int, expected: int | None) -> None:
    """Check that a file is complete."""
    if found == 0 or (expected is not None and abs(found - expected) > expected / 10):
        raise ValueError(
            f"{path}: {found:,} rows; {published.name} has "
            f"{'some' if expected is None else f'about {expected:,}'}. Is the download complete?"
        )


def check_classes(published: PublishedSet, found: int) -> None:
    """Check that the training file shows the classes; a tenth may have test rows only."""
    if not 0.9 * published.n_classes <= found <= published.n_classes:
        raise ValueError(
            f"{published.name}: {found:,} classes in the training file, "
            f"{published.n_classes:,} are expected"
        )


def load_into_memory(
    published: PublishedSet, data_dir: Path, rows: int | None, test_rows: int | None
) -> ArrayTask:
    """Load a small, dense set."""
    assert published.n_features is not None
    parts: list[tuple[np.ndarray, np.ndarray]] = []
    expected = (published.n_train, published.n_test)
    state = None  # the features of the test rows are those of the training rows
    for path, n_rows in zip(published.paths(data_dir), expected, strict=True):
        reader = published.reader(path, state)
        batches = list(reader)
        state = reader.options["state"]
        X = sp.vstack([batch.X for batch in batches]).toarray().astype(np.float32)
        y = np.concatenate([batch.y for batch in batches])
        check_labels(published, path, y)
        check_rows(published, path, len(y), n_rows)
        parts.append((X, (y - 1).astype(np.int32)))
    (X_train, y_train), (X_test, y_test) = parts
    check_classes(published, len(np.unique(y_train)))
    dataset = Dataset(
        name=published.name,
        key=published.name,
        X_train=X_train[:rows],
        y_train=y_train[:rows],
        X_test=X_test,
        y_test=y_test,
        n_classes=published.n_classes,
    )
    return ArrayTask.of(dataset, test_rows, is_small=True)


@dataclass(frozen=True)
class FileTask(Task):
    """A set that is read from its files in every pass, because it does not fit in memory."""

    published: PublishedSet
    train_path: Path
    test_path: Path
    n_train: int
    n_test: int
    is_small: bool = False

    @property
    def name(self) -> str:  # type: ignore[override]
        return self.published.name

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return self.published.n_classes

    @property
    def n_features(self) -> int:  # type: ignore[override]
        return self.published.n_features or 2**self.published.bits

    def train_batches(self, seed: int | None = None) -> Iterator[Batch]:
        batches = self._batches(self.train_path, self.n_train)
        yield from batches if seed is None else shuffled(batches, seed)

    def test_batches(self) -> Iterator[Batch]:
        yield from self._batches(self.test_path, self.n_test)

    def head(self, share: float) -> FileTask:
        return replace(self, n_train=max(1, round(share * self.n_train)))

    def _batches(self, path: Path, n_rows: int) -> Iterator[Batch]:
        left = n_rows
        for batch in self.published.reader(path):
            if left <= 0:
                return
            check_labels(self.published, path, batch.y)
            yield batch.X[:left], batch.y[:left] - 1
            left -= len(batch.y)


def shuffled(batches: Iterator[Batch], seed: int, n_rows: int = SHUFFLE_ROWS) -> Iterator[Batch]:
    """Yield the rows of every ``n_rows`` in a random order."""
    random = np.random.default_rng(seed)
    held: list[Batch] = []

    def release() -> Iterator[Batch]:
        if held:
            X, y = sp.vstack([X for X, _ in held]).tocsr(), np.concatenate([y for _, y in held])
            order = random.permutation(len(y))
            yield X[order], y[order]
            held.clear()

    for batch in batches:
        held.append(batch)
        if sum(len(y) for _, y in held) >= n_rows:
            yield from release()
    yield from release()


def load_from_files(
    published: PublishedSet,
    data_dir: Path,
    cache_dir: Path,
    rows: int | None,
    test_rows: int | None,
) -> FileTask:
    """Open a large set; the first time, all of it is read once to be checked and counted."""
    paths = published.paths(data_dir)
    counted = cache_dir / f"{file_key(published.name, paths)}.json"
    if not counted.exists():
        (n_train, n_classes), (n_test, _) = (count(published, path) for path in paths)
        counted.parent.mkdir(parents=True, exist_ok=True)
        counted.write_text(json.dumps([n_train, n_test, n_classes]))
    n_train, n_test, n_classes = json.loads(counted.read_text())
    check_classes(published, n_classes)
    check_rows(published, paths[0], n_train, published.n_train)
    check_rows(published, paths[1], n_test, published.n_test)
    return FileTask(
        published,
        *paths,
        n_train=min(n_train, rows or n_train),
        n_test=min(n_test, test_rows or n_test),
    )


def count(published: PublishedSet, path: Path) -> tuple[int, int]:
    """Read a file to its end, check its labels, and return how many rows and classes it has."""
    n_rows = 0
    is_there = np.zeros(published.n_classes, dtype=bool)
    for batch in published.reader(path):
        check_labels(published, path, batch.y)
        is_there[batch.y - 1] = True
        n_rows += len(batch.y)
    return n_rows, int(is_there.sum())
