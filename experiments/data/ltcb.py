"""LTCB: from the raw Wikipedia dump to a stream of word ids, in bounded memory.

The dump is read twice: to count words, and to write their ids. The vocabulary is the most frequent
words of the articles that are learned from; all other words are one, out of the vocabulary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from experiments.data.token_stream import END_OF_ARTICLE, TEST_EVERY
from experiments.data.wikipedia_dump import read_articles

N_WORDS = 80_000
SPECIAL = ("<unknown>", "<end of article>")
assert SPECIAL[END_OF_ARTICLE] == "<end of article>"

Progress = Callable[[int], None]  # is told how many words were read


def count_words(articles: Iterable[list[str]], progress: Progress = lambda _: None) -> Counter[str]:
    """Return how often each word occurs in the articles that are learned from."""
    counts: Counter[str] = Counter()
    for number, words in enumerate(articles):
        if number % TEST_EVERY != TEST_EVERY - 1:
            counts.update(words)
        progress(len(words))
    return counts


def prepare(
    dump: Path, folder: Path, n_words: int = N_WORDS, progress: Progress = lambda _: None
) -> int:
    """Write ``vocab.txt`` and ``ids.u32.zst`` into a folder; return how many ids there are."""
    import zstandard

    counts = count_words(read_articles(dump), progress)
    if not counts:
        raise ValueError(f"{dump}: no article with text was found in it")
    # Of equally frequent words the first in the alphabet: the same on every machine.
    ranked = sorted(counts, key=lambda word: (-counts[word], word))[:n_words]
    vocabulary = [*SPECIAL, *ranked]
    ids = {word: i for i, word in enumerate(vocabulary)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    partial = folder / "ids.u32.zst.partial"
    n_ids = 0
    with (
        partial.open("wb") as file,
        zstandard.ZstdCompressor(level=10).stream_writer(file) as stream,
    ):
        for words in read_articles(dump):
            article = [*(ids.get(word, 0) for word in words), END_OF_ARTICLE]
            stream.write(np.array(article, dtype="<u4").tobytes())
            n_ids += len(article)
            progress(len(words))
    partial.replace(folder / "ids.u32.zst")
    return n_ids
