"""Sets whose rows have several labels: words of titles, and the lists of their labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from experiments.data.catalogue import Places
from recalltree.readers.compression import decompress

Lists = list[list[str]]


@dataclass(frozen=True)
class ListsTask:
    """Counts of words, and lists of labels: rows to learn from and rows to test with."""

    X: Any
    y: Lists
    X_test: Any
    y_test: Lists

    def of_labels(self, n_labels: int, n_rows: int, n_held_out: int, seed: int) -> ListsTask:
        """Return training rows of some labels, dense, split into two parts."""
        random = np.random.default_rng(seed)
        names = sorted({label for row in self.y for label in row})
        kept = set(random.choice(names, size=min(n_labels, len(names)), replace=False).tolist())
        rows = [i for i in random.permutation(len(self.y)) if not kept.isdisjoint(self.y[i])]
        rows = rows[: n_rows + n_held_out]
        n_learned = max(len(rows) - n_held_out, 2 * len(rows) // 3)
        learned, held_out = rows[:n_learned], rows[n_learned:]
        X = self.X[learned]
        used = np.unique(X.indices)

        def part(numbers: list[int]) -> tuple[Any, Lists]:
            lists = [[label for label in self.y[i] if label in kept] for i in numbers]
            return self.X[numbers][:, used].toarray().astype(np.float64), lists

        return ListsTask(*part(learned), *part(held_out))

    def hold_out(self, n: int, seed: int) -> ListsTask:
        """Return training rows in their order, and others to test with: n, at most a fifth."""
        n = min(n, len(self.y) // 5)
        is_held_out = np.zeros(len(self.y), dtype=bool)
        is_held_out[np.random.default_rng(seed).choice(len(self.y), size=n, replace=False)] = True

        def part(numbers: np.ndarray) -> tuple[Any, Lists]:
            return self.X[numbers], [self.y[i] for i in numbers.tolist()]

        learned, held_out = np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)
        return ListsTask(*part(learned), *part(held_out))


@lru_cache(maxsize=1)  # units come set by set
def load_lists(name: str, places: Places, rows: int | None, test_rows: int | None) -> ListsTask:
    """Load a set: ``subjects``, from files, or ``topics``, which is generated."""
    if name == "topics":
        texts, y = _topics(rows or 3_000, seed=0)
        test_texts, y_test = _topics(test_rows or 1_000, seed=1)
    else:
        folder = places.folder(name) / name
        texts, y = _read(folder / "train.txt.zst", rows)
        test_texts, y_test = _read(folder / "test.txt.zst", test_rows)
    words = CountVectorizer(token_pattern=r"\S+", min_df=2, dtype=np.float32, lowercase=False)
    X = sp.csr_array(words.fit_transform(texts))
    return ListsTask(X, y, sp.csr_array(words.transform(test_texts)), y_test)


def _read(path: Path, n: int | None) -> tuple[list[str], Lists]:
    texts, lists = [], []
    for line in _lines(path):
        if len(texts) == n:
            break
        labels, text = line.split("\t")
        texts.append(text)
        lists.append(labels.split(","))
    return texts, lists


def _lines(path: Path) -> Iterator[str]:
    rest = b""
    with path.open("rb") as file:
        for piece in decompress(file.read, path.name):
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line.decode()
    if rest:
        yield rest.decode()


def _topics(n: int, seed: int) -> tuple[list[str], Lists]:
    """Make rows of words, which come from the row's labels and from anywhere."""
    random = np.random.default_rng(seed)
    texts, lists = [], []
    for _ in range(n):
        labels = random.choice(40, size=random.integers(1, 4), replace=False)
        words = [6 * label + w for label in labels for w in random.integers(6, size=3)]
        texts.append(" ".join(f"w{w}" for w in [*words, *random.integers(240, size=3)]))
        lists.append([f"t{label}" for label in labels])
    return texts, lists
