"""The formats of rows: what each is called, how it is told, and which options it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath

from recalltree.readers.sources import Source

_WORDS = ("features", "ngrams", "weighting")
_TABLE = (
    "label_column",
    "label_separator",
    "text_column",
    "numeric_columns",
    "embedding_columns",
    "embedding_width",
    "weight_column",
    "lowercase",
    *_WORDS,
)


@dataclass(frozen=True)
class Format:
    """One format. The core parses text, pyarrow reads JSON lines, Parquet and Arrow."""

    name: str
    suffixes: tuple[str, ...]
    options: tuple[str, ...]  # those that not every format has
    is_table: bool = False
    named_features: bool = False  # features have names, of which columns are made
    indexed_features: bool = False  # features have numbers
    has_header: bool = False  # files begin with the numbers of rows, features and labels
    has_lists: bool = False  # a table whose columns may hold lists
    string_labels: bool = False  # labels are strings unless the user says otherwise
    magic: tuple[bytes, ...] = ()  # first bytes of a file
    first_line: bytes | None = None  # the regular expression that it matches


#: Every format. Where a first line looks like several, the first of them is taken.
_ALL = (
    Format(
        "svmlight",
        (".svm", ".svmlight", ".libsvm"),
        ("zero_based",),
        indexed_features=True,
        first_line=rb"(?!__label__|\{)[^\s:#]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?",
    ),
    Format(
        "vw",
        (".vw",),
        ("features", "quadratic"),
        named_features=True,
        first_line=rb"(?!__label__|\{).*\|",
    ),
    Format(
        "fasttext",
        (".ft", ".fasttext"),
        ("label_prefix", *_WORDS),
        named_features=True,
        string_labels=True,
        first_line=rb"__label__",
    ),
    Format(
        "xc",
        (".xc",),
        (),
        indexed_features=True,
        has_header=True,
        first_line=rb"\d+\s+\d+\s+\d+$",
    ),
    Format("csv", (".csv",), _TABLE, is_table=True),
    Format("tsv", (".tsv",), _TABLE, is_table=True),
    Format(
        "parquet",
        (".parquet",),
        _TABLE,
        is_table=True,
        has_lists=True,
        magic=(b"PAR1",),
    ),
    Format(
        "arrow",
        (".arrow", ".arrows", ".feather"),
        _TABLE,
        is_table=True,
        has_lists=True,
        magic=(b"ARROW1", b"\xff\xff\xff\xff"),
    ),
    Format(
        "jsonl",
        (".jsonl", ".ndjson"),
        _TABLE,
        is_table=True,
        has_lists=True,
        first_line=rb"\{",
    ),
)
FORMATS = {format_.name: format_ for format_ in _ALL}

_COMPRESSED = {".gz", ".zst", ".bz2", ".xz"}
_SUFFIXES = {suffix: format_.name for format_ in _ALL for suffix in format_.suffixes}


def format_of(sources: list[Source]) -> str:
    """Return the one format that all sources have.

    Raises
    ------
    ValueError
        If a source has none that can be told, or two sources differ.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers.formats import format_of
    >>> from recalltree.readers.sources import find_sources
    >>> format_of(find_sources(io.BytesIO(b"3 |words many |title one")))
    'vw'
    """
    found = {source.name: _format_of(source) for source in sources}
    names = list(found)
    for name in names[1:]:
        if found[name] != found[names[0]]:
            raise ValueError(
                f"{names[0]} looks like {found[names[0]]} and {name} like {found[name]}; read them "
                "apart, or say which it is with format="
            )
    return found[names[0]]


def _format_of(source: Source) -> str:
    suffixes = [suffix.lower() for suffix in PurePath(source.name).suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    found = guess_format(source.head())
    if found is None:
        raise ValueError(
            f"{source.name}: neither its name nor its first line tells the format; pass format=, "
            f"one of {', '.join(FORMATS)}"
        )
    return found


def guess_format(head: bytes) -> str | None:
    """Return the format of a file by its first bytes, None if they could be anything.

    Examples
    --------
    >>> from recalltree.readers.formats import guess_format
    >>> [guess_format(line) for line in (b"3 1:0.5 7:2", b"__label__cat meow", b"a,b,c")]
    ['svmlight', 'fasttext', None]
    """
    for format_ in _ALL:
        if format_.magic and head.startswith(format_.magic):
            return format_.name
    line = _first_line(head)
    for format_ in _ALL:
        if format_.first_line is not None and re.match(format_.first_line, line):
            return format_.name
    return None


def _first_line(head: bytes) -> bytes:
    lines = (line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    return next((line for line in lines if line and not line.startswith(b"#")), b"")


def n_features_in_headers(sources: list[Source]) -> int | None:
    r"""Return how many features the headers of files say that there are, None if none says it.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers.formats import n_features_in_headers
    >>> from recalltree.readers.sources import find_sources
    >>> n_features_in_headers(find_sources(io.BytesIO(b"2 101 7\n3,5 0:1 100:2\n4 7:1\n")))
    101
    """
    found = [re.fullmatch(rb"\d+\s+(\d+)\s+\d+", _first_line(source.head())) for source in sources]
    return max((int(header[1]) for header in found if header), default=0) or None
