"""Data sets: svmlight files, or generated rows, as arrays that every program is given alike.

A set is a folder with ``train.svm.zst`` and ``test.svm.zst``: svmlight text, zstd-compressed,
0-based labels, 1-based feature ids. ``passages`` has embeddings and a text with the labels instead.
Parsing is slow, so the arrays are kept in a cache folder.
"""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

DENSE_SETS = frozenset({"glyphs", "generated-dense"})
FILE_SETS = ("glyphs", "webdirectory", "wikipassage")
DENSE_FILE_SETS = ("passages", "glyphs")
GENERATED_SETS = ("generated-dense", "generated-sparse")

FILES_OF_ROWS = ("train.svm.zst", "test.svm.zst")
FILES = {"passages": ("embeddings.i8.npy.zst", "text.tsv.zst")}
# The embeddings are whole numbers; the unit vectors are these times SCALE.
PASSAGES_TO_TRAIN, PASSAGES_SCALE = 144_500, 0.3035433 / 127

FORMAT = 1  # of the cached arrays; raise it when what is stored changes

Rows: TypeAlias = np.ndarray | sp.csr_array


@dataclass(frozen=True)
class Dataset:
    """Training and test rows of one set: float32, dense or CSR; labels are 0 .. n_classes - 1.

    ``key`` names the content: equal keys hold equal rows, so files derived from a set (of one
    program's format, say) can be kept under its key.
    """

    name: str
    key: str
    X_train: Rows
    y_train: np.ndarray
    X_test: Rows
    y_test: np.ndarray
    n_classes: int

    @classmethod
    def split(
        cls, name: str, key: str, X: Rows, y: np.ndarray, n_train: int, n_classes: int
    ) -> Dataset:
        """Return a set of rows of which the first ``n_train`` are for training."""
        return cls(name, key, X[:n_train], y[:n_train], X[n_train:], y[n_train:], n_classes)

    @property
    def n_features(self) -> int:
        return self.X_train.shape[1]

    def head(self, n_rows: int) -> Dataset:
        """Return the first ``n_rows`` training rows and as many test rows."""
        return replace(
            self,
            key=f"{self.key}-{n_rows}",
            X_train=self.X_train[:n_rows],
            y_train=self.y_train[:n_rows],
            X_test=self.X_test[:n_rows],
            y_test=self.y_test[:n_rows],
        )

    def with_test_rows(self, n_rows: int) -> Dataset:
        """Return all training rows and the first ``n_rows`` test rows."""
        key = f"{self.key}-test-{n_rows}"
        return replace(self, key=key, X_test=self.X_test[:n_rows], y_test=self.y_test[:n_rows])


def default_cache_dir() -> Path:
    """Return the user's cache folder for benchmarks."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "recalltree-benchmarks"


def load(name: str, data_dir: Path | None, cache_dir: Path, n_rows: int | None = None) -> Dataset:
    """Load a set by name, from ``data_dir`` or generated, cut to ``n_rows`` if that is given."""
    if name in GENERATED_SETS:
        dataset = generate(name)
    elif data_dir is None:
        raise ValueError(
            f"set {name!r} is read from files: give --data-dir, the folder that holds {name}/, "
            f"or choose one of {', '.join(GENERATED_SETS)}"
        )
    else:
        dataset = _load_files(name, data_dir, cache_dir)
    return dataset if n_rows is None else dataset.head(n_rows)


def arrays_path(dataset: Dataset, cache_dir: Path) -> Path:
    """Write the set's arrays under its key, unless they are there, and return the file."""
    path = cache_dir / f"{dataset.key}.npz"
    if not path.exists():
        save_arrays(dataset, path)
    return path


def save_arrays(dataset: Dataset, path: Path) -> None:
    """Write the arrays to an uncompressed ``.npz`` file; a partial file is never left behind."""
    parts: dict[str, np.ndarray] = {
        "name": np.array(dataset.name),
        "key": np.array(dataset.key),
        "n_classes": np.array(dataset.n_classes),
        "y_train": dataset.y_train,
        "y_test": dataset.y_test,
    }
    for split, X in (("train", dataset.X_train), ("test", dataset.X_test)):
        if isinstance(X, np.ndarray):
            parts[f"X_{split}"] = X
        else:
            parts[f"X_{split}_data"] = X.data
            parts[f"X_{split}_indices"] = X.indices
            parts[f"X_{split}_indptr"] = X.indptr
            parts[f"X_{split}_shape"] = np.array(X.shape)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial.npz")
    np.savez(partial, **parts)
    partial.replace(path)


def load_arrays(path: Path) -> Dataset:
    """Read what :func:`save_arrays` wrote."""

    def rows(split: str) -> Rows:
        if f"X_{split}" in parts:
            return parts[f"X_{split}"]
        values = tuple(parts[f"X_{split}_{part}"] for part in ("data", "indices", "indptr"))
        return sp.csr_array(values, shape=tuple(parts[f"X_{split}_shape"]))

    with np.load(path) as parts:
        return Dataset(
            name=str(parts["name"]),
            key=str(parts["key"]),
            X_train=rows("train"),
            y_train=parts["y_train"],
            X_test=rows("test"),
            y_test=parts["y_test"],
            n_classes=int(parts["n_classes"]),
        )


def _load_files(name: str, data_dir: Path, cache_dir: Path) -> Dataset:
    sources = [data_dir / name / file for file in FILES.get(name, FILES_OF_ROWS)]
    for source in sources:
        if not source.exists():
            raise FileNotFoundError(f"set {name!r}: no file {source} (see --data-dir)")
    key = file_key(name, sources)
    path = cache_dir / f"{key}.npz"
    if not path.exists():
        read = _read_passages if name == "passages" else _parse
        save_arrays(read(name, key, *sources), path)
    return load_arrays(path)


def file_key(name: str, sources: Sequence[Path]) -> str:
    """Return a key for what is derived from files: another one when they change."""
    stamps = [(str(s.resolve()), s.stat().st_size, s.stat().st_mtime_ns) for s in sources]
    return f"{name}-{hashlib.sha256(repr((FORMAT, stamps)).encode()).hexdigest()[:12]}"


def _parse(name: str, key: str, train: Path, test: Path) -> Dataset:
    (X_train, y_train), (X_test, y_test) = read_svmlight(train), read_svmlight(test)
    n_features = max(X_train.shape[1], X_test.shape[1])

    def rows(X: sp.csr_array) -> Rows:
        X.resize((X.shape[0], n_features))
        return X.toarray() if name in DENSE_SETS else X

    return Dataset(
        name=name,
        key=key,
        X_train=rows(X_train),
        y_train=y_train,
        X_test=rows(X_test),
        y_test=y_test,
        n_classes=int(max(y_train.max(), y_test.max())) + 1,
    )


def _read_passages(name: str, key: str, embeddings: Path, text: Path) -> Dataset:
    import zstandard

    decompressor = zstandard.ZstdDecompressor()
    with embeddings.open("rb") as file, decompressor.stream_reader(file) as stream:
        X = np.load(io.BytesIO(stream.read()), allow_pickle=False)
    with text.open("rb") as file, decompressor.stream_reader(file) as stream:
        y = np.array([int(line.split(b"\t", 1)[0]) for line in io.BufferedReader(stream)])
    X = X.astype(np.float32) * np.float32(PASSAGES_SCALE)
    n_classes = int(y.max()) + 1
    return Dataset.split(name, key, X, y.astype(np.int32), PASSAGES_TO_TRAIN, n_classes)


def read_svmlight(path: Path) -> tuple[sp.csr_array, np.ndarray]:
    """Parse one zstd-compressed svmlight file into float32 rows and int32 labels."""
    import zstandard
    from sklearn.datasets import load_svmlight_file

    with path.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as stream:
        X, y = load_svmlight_file(io.BufferedReader(stream), dtype=np.float32, zero_based=False)
    X.sort_indices()
    return sp.csr_array(X), y.astype(np.int32)


def generate(name: str, n_train: int = 20_000, n_test: int = 5_000) -> Dataset:
    """Generate rows, the same on every machine, for where no data folder is at hand.

    ``generated-dense``: 200 Gaussian classes in 64 dimensions. ``generated-sparse``: 1,000 classes
    of short documents; a document mixes words of its class with words that all classes share.
    """
    random = np.random.default_rng(0)
    n_rows = n_train + n_test
    if name == "generated-dense":
        n_classes = 200
        centres = random.normal(size=(n_classes, 64))
        y = random.integers(n_classes, size=n_rows).astype(np.int32)
        X = (centres[y] + random.normal(size=(n_rows, 64))).astype(np.float32)
    elif name == "generated-sparse":
        n_classes, n_words, own = 1_000, 5_000, 20
        words_of = random.integers(n_words, size=(n_classes, own))
        y = random.integers(n_classes, size=n_rows).astype(np.int32)
        of_class = words_of[y[:, None], random.integers(own, size=(n_rows, 8))]
        shared = np.minimum(random.zipf(1.3, size=(n_rows, 8)), n_words) - 1
        words = np.hstack([of_class, shared])
        counts = np.ones(words.size, dtype=np.float32)
        row_of = np.repeat(np.arange(n_rows), words.shape[1])
        X = sp.csr_array((counts, (row_of, words.ravel())), shape=(n_rows, n_words))  # sums counts
    else:
        raise ValueError(f"no generated set {name!r}; there are {', '.join(GENERATED_SETS)}")
    return Dataset.split(name, f"{name}-v{FORMAT}-{n_train}-{n_test}", X, y, n_train, n_classes)
