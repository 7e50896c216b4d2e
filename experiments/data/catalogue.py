"""The catalogue of data sets: what each is, where it comes from, how it is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks import datasets

from experiments.data import published
from experiments.data.standard_library import load_standard_library
from experiments.data.task import ArrayTask, Task
from experiments.data.token_stream import load_stream


@dataclass(frozen=True)
class Places:
    """Where data are: one folder per set, and a folder for what is derived from them."""

    data_dir: Path | None
    cache_dir: Path

    def folder(self, name: str) -> Path:
        """Return the folder of the sets that are read from files."""
        if self.data_dir is None:
            raise ValueError(
                f"set {name!r} is read from files: give --data-dir, which holds {name}/"
            )
        return self.data_dir


@dataclass(frozen=True)
class Part:
    """How much of a set is used: its first training rows, test rows, and where a text begins."""

    rows: int | None = None
    test_rows: int | None = None
    start: int = 0


WHOLE = Part()
Loader = Callable[[Places, Part], Task]


@dataclass(frozen=True)
class Entry:
    """One line of the catalogue; ``is_text``: the order of its rows is that of a text."""

    name: str
    task: str
    source: str
    load: Loader
    is_text: bool = False


def _stand_in(name: str, is_small: bool) -> Loader:
    def load(places: Places, part: Part) -> Task:
        data_dir = None if name in datasets.GENERATED_SETS else places.folder(name)
        dataset = datasets.load(name, data_dir, places.cache_dir)
        task = ArrayTask.of(dataset, part.test_rows, is_small)
        return task if part.rows is None else task.head(min(1.0, part.rows / task.n_train))

    return load


def _stream(name: str) -> Loader:
    return lambda places, part: load_stream(
        name, places.folder(name) / name, part.rows, part.test_rows, part.start
    )


def _files(described: published.PublishedSet) -> Loader:
    return lambda places, part: published.load_from_files(
        described, places.folder(described.name), places.cache_dir, part.rows, part.test_rows
    )


SETS = {
    entry.name: entry
    for entry in (
        Entry(
            "aloi",
            "which of 1,000 objects is in the image (the paper's)",
            f"{' and '.join(published.ALOI.files)} from {published.ALOI.address}",
            lambda places, part: published.load_into_memory(
                published.ALOI, places.folder("aloi"), part.rows, part.test_rows
            ),
        ),
        Entry(
            "imagenet",
            "which of 21,841 kinds of object is in the image (the paper's)",
            f"{' and '.join(published.IMAGENET.files)} from {published.IMAGENET.address}",
            _files(published.IMAGENET),
        ),
        Entry(
            "odp",
            "in which of 105,033 categories is the document (the paper's)",
            f"{' and '.join(published.ODP.files)} from {published.ODP.address}",
            _files(published.ODP),
        ),
        Entry(
            "ltcb",
            "the next of 80,000 words of Wikipedia (the paper's)",
            "enwik9.zip from http://mattmahoney.net/dc/, then python -m experiments prepare ltcb",
            _stream("ltcb"),
            is_text=True,
        ),
        Entry(
            "glyphs",
            "which of 1,000 kanji is it; stands in for aloi",
            "DIR/glyphs/{train,test}.svm.zst",
            _stand_in("glyphs", is_small=True),
        ),
        Entry(
            "webdirectory",
            "which of 11,156 sections of a directory lists the link; stands in for odp",
            "DIR/webdirectory/{train,test}.svm.zst",
            _stand_in("webdirectory", is_small=False),
        ),
        Entry(
            "wikipassage",
            "from which of 91,904 articles is the sentence; stands in for odp",
            "DIR/wikipassage/{train,test}.svm.zst",
            _stand_in("wikipassage", is_small=False),
        ),
        Entry(
            "passages",
            "from which of 17,000 articles is the passage, by its embedding",
            "DIR/passages/{embeddings.i8.npy,text.tsv}.zst",
            _stand_in("passages", is_small=False),
        ),
        Entry(
            "wikitext",
            "the next of 80,000 words; stands in for ltcb",
            "DIR/wikitext/{ids.u32.zst,vocab.txt}",
            _stream("wikitext"),
            is_text=True,
        ),
        Entry(
            "standard-library",
            "the next token in the source of Python's standard library",
            "comes with Python",
            lambda places, part: load_standard_library(part.rows, part.test_rows),
            is_text=True,
        ),
        Entry(
            "generated-dense",
            "200 Gaussian classes, for a quick look",
            "generated",
            _stand_in("generated-dense", is_small=True),
        ),
        Entry(
            "generated-sparse",
            "1,000 classes of short documents, for a quick look",
            "generated",
            _stand_in("generated-sparse", is_small=False),
        ),
    )
}

DENSE, SPARSE = "dense", "sparse"
#: Features of sets that fit in memory: what is tried on a set is known before it is loaded.
KINDS = {
    "glyphs": DENSE,
    "aloi": DENSE,
    "generated-dense": DENSE,
    "webdirectory": SPARSE,
    "wikipassage": SPARSE,
    "generated-sparse": SPARSE,
}


def load(name: str, places: Places, part: Part = WHOLE) -> Task:
    """Load a set by name, or a part of it."""
    if name not in SETS:
        raise ValueError(f"no set {name!r}; there are {', '.join(SETS)}")
    if part.start and not SETS[name].is_text:
        raise ValueError(f"set {name!r} is no text: it is used from its beginning, without --start")
    return SETS[name].load(places, part)
