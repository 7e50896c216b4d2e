"""Sets whose rows have several labels: titles as counts of words, labels as indicator matrices.

``subjects`` is a folder with ``train.txt.zst`` and ``test.txt.zst`` (``label,label TAB title``) and
``labels.txt`` (``label TAB name``). Features are the words (``subjects-bigrams``: and pairs of
neighbouring words, at half their weight) that at least two training rows have.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from benchmarks.datasets import file_key
from benchmarks.program_runs import hold_out

FILES = ("labels.txt", "train.txt.zst", "test.txt.zst")
#: The longest sequence of words that is a feature.
NGRAMS = {"subjects": 1, "subjects-bigrams": 2}
GENERATED = "generated-labels"
SETS = (*NGRAMS, GENERATED)
WEIGHT_OF_PAIRS = 0.5
FORMAT = 2  # of the cached arrays; raise it when what is stored changes


@dataclass(frozen=True)
class LabelSet:
    """Training and test rows of one set: float32 CSR rows and indicators of equal length.

    ``words_train`` and ``words_test`` are the words alone, in their order and as often as they
    come: CSR rows whose columns are not sorted.

    ``key`` names the content, as that of ``benchmarks.datasets.Dataset`` does.
    """

    name: str
    key: str
    X_train: sp.csr_array
    Y_train: sp.csr_array
    X_test: sp.csr_array
    Y_test: sp.csr_array
    words_train: sp.csr_array
    words_test: sp.csr_array

    @property
    def n_train(self) -> int:
        return self.X_train.shape[0]

    @property
    def n_test(self) -> int:
        return self.X_test.shape[0]

    def head(self, n_train: int | None = None, n_test: int | None = None) -> LabelSet:
        """Return the first rows of each part; None is all of them."""
        return replace(
            self,
            key=f"{self.key}-{n_train}-{n_test}",
            X_train=self.X_train[:n_train],
            Y_train=self.Y_train[:n_train],
            X_test=self.X_test[:n_test],
            Y_test=self.Y_test[:n_test],
            words_train=self.words_train[:n_train],
            words_test=self.words_test[:n_test],
        )

    def hold_out(self) -> LabelSet:
        """Return a set whose test rows are held out from the training rows: every tenth."""
        kept, held = hold_out(self.n_train)
        return replace(
            self,
            key=f"{self.key}-held-out",
            X_train=self.X_train[kept],
            Y_train=self.Y_train[kept],
            X_test=self.X_train[held],
            Y_test=self.Y_train[held],
            words_train=self.words_train[kept],
            words_test=self.words_train[held],
        )


def load(name: str, data_dir: Path | None, cache_dir: Path) -> LabelSet:
    """Load a set by name, from ``data_dir`` or generated."""
    if name == GENERATED:
        return generate()
    if data_dir is None:
        raise ValueError(
            f"set {name!r} is read from files: give --data-dir, the folder that holds subjects/, "
            f"or choose {GENERATED}"
        )
    sources = [data_dir / "subjects" / file for file in FILES]
    for source in sources:
        if not source.exists():
            raise FileNotFoundError(f"set {name!r}: no file {source} (see --data-dir)")
    path = cache_dir / f"{file_key(f'{name}-v{FORMAT}', sources)}.npz"
    if not path.exists():
        save_arrays(_read(name, path.stem, sources), path)
    return load_arrays(path)


def save_arrays(dataset: LabelSet, path: Path) -> None:
    """Write the arrays to an uncompressed ``.npz`` file; a partial file is never left behind."""
    parts: dict[str, np.ndarray] = {}
    for field in fields(dataset):
        value = getattr(dataset, field.name)
        if isinstance(value, str):
            parts[field.name] = np.array(value)
        else:
            for part in ("data", "indices", "indptr", "shape"):
                parts[f"{field.name}_{part}"] = np.asarray(getattr(value, part))
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **parts)
    partial.replace(path)


def load_arrays(path: Path) -> LabelSet:
    """Read what :func:`save_arrays` wrote."""

    def matrix(name: str) -> sp.csr_array:
        values = tuple(parts[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(values, shape=tuple(parts[f"{name}_shape"]))

    with np.load(path) as parts:
        return LabelSet(
            **{
                field.name: str(parts[field.name]) if field.name in parts else matrix(field.name)
                for field in fields(LabelSet)
            }
        )


def generate(n_train: int = 4_000, n_test: int = 1_000) -> LabelSet:
    """Generate rows, the same on every machine: each has words of its one to four labels."""
    random = np.random.default_rng(0)
    n_rows, n_labels, n_words, own = n_train + n_test, 200, 2_000, 10
    words_of = random.integers(n_words, size=(n_labels, own))
    X, Y = sp.lil_array((n_rows, n_words), dtype=np.float32), sp.lil_array((n_rows, n_labels))
    for i in range(n_rows):
        for label in random.integers(n_labels, size=random.integers(1, 5)):
            Y[i, label] = 1.0
            for word in words_of[label, random.integers(own, size=3)]:
                X[i, word] += 1.0
    X, Y = sp.csr_array(X), sp.csr_array(Y, dtype=np.float32)
    key = f"{GENERATED}-v{FORMAT}-{n_train}-{n_test}"
    parts = (X[:n_train], Y[:n_train], X[n_train:], Y[n_train:], X[:n_train], X[n_train:])
    return LabelSet(GENERATED, key, *parts)


def _read(name: str, key: str, sources: list[Path]) -> LabelSet:
    from sklearn.feature_extraction.text import CountVectorizer

    labels, train, test = sources
    names = [line.split("\t", 1)[0] for line in labels.read_text().splitlines()]
    number = {label: i for i, label in enumerate(names)}
    words = CountVectorizer(min_df=2, ngram_range=(1, NGRAMS[name]), dtype=np.float32)
    parts = {}
    for split, source in (("train", train), ("test", test)):
        lists, titles = zip(*_rows(source), strict=True)
        X = sp.csr_array(
            words.fit_transform(titles) if split == "train" else words.transform(titles)
        )
        X.sort_indices()
        parts[f"words_{split}"] = _in_order(titles, words.vocabulary_)
        if NGRAMS[name] > 1:
            is_pair = np.array([" " in word for word in words.get_feature_names_out()])
            X.data[is_pair[X.indices]] *= WEIGHT_OF_PAIRS
        columns = [sorted({number[label] for label in row}) for row in lists]
        offsets = np.cumsum([0, *map(len, columns)])
        flat = np.concatenate(columns).astype(np.int32)
        ones = np.ones(len(flat), dtype=np.float32)
        parts[f"X_{split}"] = X
        parts[f"Y_{split}"] = sp.csr_array((ones, flat, offsets), shape=(len(lists), len(names)))
    return LabelSet(name=name, key=key, **parts)


def _in_order(titles: Sequence[str], number: dict[str, int]) -> sp.csr_array:
    from sklearn.feature_extraction.text import CountVectorizer

    split = CountVectorizer().build_analyzer()
    rows = [[number[word] for word in split(title) if word in number] for title in titles]
    offsets = np.cumsum([0, *map(len, rows)])
    flat = np.fromiter(itertools.chain.from_iterable(rows), np.int32, offsets[-1])
    ones = np.ones(len(flat), dtype=np.float32)
    return sp.csr_array((ones, flat, offsets), shape=(len(rows), len(number)))


def _rows(path: Path) -> Iterator[tuple[list[str], str]]:
    import zstandard

    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        for line in io.TextIOWrapper(stream, encoding="utf-8"):
            labels, _, title = line.rstrip("\n").partition("\t")
            yield labels.split(","), title
