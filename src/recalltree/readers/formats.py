"""Which format a file has, by its name or by its first line."""

from __future__ import annotations

import re
from pathlib import PurePath

from recalltree.readers.sources import Source

TEXT_FORMATS = ("svmlight", "vw", "fasttext")
TABLE_FORMATS = ("csv", "tsv", "parquet", "arrow", "jsonl")
FORMATS = (*TEXT_FORMATS, *TABLE_FORMATS)

_COMPRESSED = {".gz", ".zst", ".bz2", ".xz"}
_SUFFIXES = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".vw": "vw",
    ".ft": "fasttext",
    ".fasttext": "fasttext",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".arrow": "arrow",
    ".arrows": "arrow",
    ".feather": "arrow",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}
_SVMLIGHT = re.compile(rb"[^\s:#]+(\s+qid:\d+)?(\s+\d+:\S+)+\s*(#.*)?")


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
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith((b"ARROW1", b"\xff\xff\xff\xff")):
        return "arrow"
    lines = (line.strip() for line in head.removeprefix(b"\xef\xbb\xbf").split(b"\n"))
    line = next((line for line in lines if line and not line.startswith(b"#")), b"")
    if line.startswith(b"{"):
        return "jsonl"
    if line.startswith(b"__label__"):
        return "fasttext"
    if _SVMLIGHT.match(line):
        return "svmlight"
    if b"|" in line:
        return "vw"
    return None
