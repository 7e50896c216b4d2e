"""A stream of words as a task: predict each word from those before it, in bounded memory.

A folder holds ``ids.u32.zst``, the whole text as little-endian uint32 word ids, and ``vocab.txt``,
whose line number is the id: 0 is a word out of the vocabulary, 1 the end of an article. Ids are
held in memory, at 4 bytes each; features are made batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from experiments.data.task import Batch, Task
from recalltree.demo.features import ORDER, UNKNOWN, feature_rows

END_OF_ARTICLE = 1
N_COLUMNS = 2**22
BATCH_ROWS = 2**15
#: Every tenth article is for testing: the paper's 90/10 split on whole articles.
TEST_EVERY = 10


def read_ids(path: Path, n_ids: int | None = None) -> np.ndarray:
    """Return the first ``n_ids`` word ids of a compressed stream, or all of them."""
    import zstandard

    if not path.exists():
        raise FileNotFoundError(f"no file {path}: a stream of words is a folder with ids.u32.zst")
    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        data = stream.read(-1 if n_ids is None else 4 * n_ids)
    if len(data) % 4:
        raise ValueError(f"{path}: {len(data)} bytes are no sequence of uint32")
    return np.frombuffer(data, dtype="<u4")


def from_next_article(ids: np.ndarray, start: int) -> np.ndarray:
    """Return the words from the first article that begins at ``start`` or later.

    >>> from_next_article(np.array([7, 8, END_OF_ARTICLE, 9]), 1)
    array([9])
    """
    if start == 0:
        return ids
    ends = np.flatnonzero(ids[start - 1 :] == END_OF_ARTICLE)
    return ids[start + ends[0] :] if len(ends) else ids[:0]


def read_vocabulary(path: Path) -> list[str]:
    """Return the word of each id."""
    if not path.exists():
        raise FileNotFoundError(f"no file {path}: vocab.txt stands beside ids.u32.zst")
    return path.read_text(encoding="utf-8").splitlines()


def histories_at(ids: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Return the words before each position, the nearest first; `UNKNOWN` before the article.

    >>> histories_at(np.array([5, 6, END_OF_ARTICLE, 7, 8]), np.array([1, 4]))[:, :3]
    array([[ 5, -1, -1],
           [ 7, -1, -1]])
    """
    places = positions[:, None].astype(np.int64) - np.arange(1, ORDER + 1)
    history = np.where(places >= 0, ids[np.maximum(places, 0)].astype(np.int64), UNKNOWN)
    outside = np.logical_or.accumulate(history == END_OF_ARTICLE, axis=1)
    return np.where(outside, UNKNOWN, history)


@dataclass(frozen=True)
class StreamTask(Task):
    """Next-word prediction on a text: positions to learn from and positions to test on."""

    name: str
    ids: np.ndarray
    n_classes: int
    train_positions: np.ndarray
    test_positions: np.ndarray
    n_features: int = N_COLUMNS
    is_small: bool = False

    @property
    def n_train(self) -> int:  # type: ignore[override]
        return len(self.train_positions)

    @property
    def n_test(self) -> int:  # type: ignore[override]
        return len(self.test_positions)

    def train_batches(self, seed: int | None = None) -> Iterator[Batch]:
        positions = self.train_positions
        if seed is not None:
            positions = np.random.default_rng(seed).permutation(positions)
        yield from self._batches(positions)

    def test_batches(self) -> Iterator[Batch]:
        yield from self._batches(self.test_positions)

    def head(self, share: float) -> StreamTask:
        n = max(1, round(share * self.n_train))
        return replace(self, train_positions=self.train_positions[:n])

    def hold_out(self, fraction: float, seed: int) -> StreamTask:
        """Hold out whole articles; as many words of them as there are test words, at most."""
        article = number_of_article(self.ids)[self.train_positions]
        random = np.random.default_rng(seed)
        is_held_out = (random.random(int(article[-1]) + 1) < fraction)[article]
        aside = self.train_positions[is_held_out]
        if len(aside) == 0 or is_held_out.all():
            raise ValueError(f"{self.name}: too few articles to hold some out; use more rows")
        if self.n_test < len(aside):
            aside = np.sort(random.choice(aside, self.n_test, replace=False))
        return replace(
            self, train_positions=self.train_positions[~is_held_out], test_positions=aside
        )

    def _batches(self, positions: np.ndarray) -> Iterator[Batch]:
        for start in range(0, len(positions), BATCH_ROWS):
            part = positions[start : start + BATCH_ROWS]
            X = feature_rows(histories_at(self.ids, part), self.n_features)
            yield X, self.ids[part].astype(np.int64)


def number_of_article(ids: np.ndarray) -> np.ndarray:
    """Return for every word the number of its article; the end belongs to its article.

    >>> number_of_article(np.array([5, 6, END_OF_ARTICLE, 7])).tolist()
    [0, 0, 0, 1]
    """
    ends = ids == END_OF_ARTICLE
    return np.cumsum(ends) - ends


def split_articles(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the positions to learn from and those of every tenth article, to test on.

    >>> ids = np.array([7, END_OF_ARTICLE] * 10)
    >>> train, test = split_articles(ids)
    >>> len(train), test
    (18, array([18, 19], dtype=uint32))
    """
    is_test = number_of_article(ids) % TEST_EVERY == TEST_EVERY - 1
    return np.flatnonzero(~is_test).astype(np.uint32), np.flatnonzero(is_test).astype(np.uint32)


def load_stream(
    name: str, folder: Path, rows: int | None, test_rows: int | None, start: int = 0
) -> StreamTask:
    """Load a text: the first ``rows`` words to learn, test words of the same part of the text.

    If there are more than ``test_rows`` of these, as many are drawn at random. The first ``start``
    words are left out, and the rest of the article in which they end.
    """
    vocabulary = read_vocabulary(folder / "vocab.txt")
    n_ids = None if rows is None else start + rows + rows // 4 + 100_000
    ids = from_next_article(read_ids(folder / "ids.u32.zst", n_ids), start)
    if len(ids) == 0 or int(ids.max()) >= len(vocabulary):
        raise ValueError(
            f"{folder}: ids.u32.zst has {len(ids):,} ids up to {ids.max(initial=0):,}, and "
            f"vocab.txt {len(vocabulary):,} words; every id must be a line of it"
        )
    train, test = split_articles(ids)
    if rows is not None and rows < len(train):
        train = train[:rows]
        test = test[test < train[-1]]
    if len(test) == 0:
        raise ValueError(
            f"{name}: no test article among the first {len(train):,} words to learn; every "
            f"{TEST_EVERY}th article is one: use more rows"
        )
    if test_rows is not None and test_rows < len(test):
        test = np.sort(np.random.default_rng(0).choice(test, test_rows, replace=False))
    return StreamTask(name, ids, len(vocabulary), train, test)
