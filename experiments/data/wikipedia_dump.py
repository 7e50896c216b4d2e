"""A Wikipedia dump as the words of its articles: enwik8, enwik9 (the LTCB) and their like.

The Large Text Compression Benchmark is the first 10^8 or 10^9 bytes of an XML dump, so its last
article is cut off. An article becomes lower-case words of the letters a to z; digits are spelled
out one by one. What a reader would not see (markup, tables, templates, references, addresses) is
left out; of links, the text is kept.
"""

from __future__ import annotations

import html
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

_TEXT_START = re.compile(r"<text\b[^>]*>")
_REDIRECT = re.compile(r"\s*#redirect", re.IGNORECASE)
_LEFT_OUT = (
    re.compile(r"<!--.*?-->", re.DOTALL),
    re.compile(r"<(ref|math|gallery|timeline|pre|nowiki)\b[^>/]*>.*?</\1\s*>", re.DOTALL),
    re.compile(r"<[^<>]*>"),
)
_TEMPLATE = re.compile(r"\{\{[^{}]*\}\}|\{\|(?:(?!\{\||\|\}).)*\|\}", re.DOTALL)
_FILE_LINK = re.compile(
    r"\[\[(?:image|file|category|media):(?:[^\[\]]|\[\[[^\[\]]*\]\])*\]\]", re.I
)
_OTHER_LANGUAGE = re.compile(r"\[\[[a-z-]{2,12}:[^\[\]]*\]\]")
_LINK = re.compile(r"\[\[(?:[^\[\]|]*\|)?([^\[\]]*)\]\]")
_EXTERNAL_LINK = re.compile(r"\[(?:https?|ftp)://[^\s\]]*\s*([^\]]*)\]")
_ADDRESS = re.compile(r"(?:https?|ftp)://\S+")
_WORD = re.compile(r"[a-z]+|[0-9]")


@contextmanager
def open_dump(path: Path) -> Iterator[IO[bytes]]:
    """Open a dump, plain or in a zip file as it is published."""
    if not path.exists():
        raise FileNotFoundError(
            f"no file {path}. Download enwik8.zip or enwik9.zip from http://mattmahoney.net/dc/"
        )
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            if len(names) != 1:
                raise ValueError(f"{path}: one file is expected in it, not {names}")
            with archive.open(names[0]) as file:
                yield file
    else:
        with path.open("rb") as file:
            yield file


def read_articles(path: Path) -> Iterator[list[str]]:
    """Yield the words of each article that is no redirect, in the order of the dump."""
    with open_dump(path) as file:
        first = file.readline().lstrip()
        if not first.startswith(b"<mediawiki"):
            raise ValueError(
                f"{path}: it begins with {first[:40]!r}; a Wikipedia dump begins with <mediawiki"
            )
        lines: list[str] | None = None
        for raw in file:
            line = raw.decode("utf-8", errors="replace")
            if lines is None:
                start = _TEXT_START.search(line)
                if start is None or start.group().endswith("/>"):
                    continue
                lines, line = [], line[start.end() :]
            text, end, _ = line.partition("</text>")
            lines.append(text)
            if end:
                yield from _words_of("".join(lines))
                lines = None
        if lines:  # cut off
            yield from _words_of("".join(lines))


def _words_of(raw: str) -> Iterator[list[str]]:
    if not _REDIRECT.match(raw):
        words = clean(html.unescape(raw))
        if words:
            yield words


def clean(text: str) -> list[str]:
    """Return the words of an article's wiki text.

    >>> clean("'''Anarchism''' is a [[political theory|theory]]{{fact}} of 1840<ref>p. 3</ref>.")
    ['anarchism', 'is', 'a', 'theory', 'of', 'one', 'eight', 'four', 'zero']
    """
    for pattern in _LEFT_OUT:
        text = pattern.sub(" ", html.unescape(text))
    previous = None
    while previous != text:  # templates and tables are nested: from the inside out
        previous, text = text, _TEMPLATE.sub(" ", text)
    text = _FILE_LINK.sub(" ", text)
    text = _OTHER_LANGUAGE.sub(" ", text)
    text = _LINK.sub(r"\1", text)
    text = _EXTERNAL_LINK.sub(r"\1", text)
    text = _ADDRESS.sub(" ", text)
    # Letters with accents become plain ones, so that a name stays one word.
    text = unicodedata.normalize("NFKD", text.lower().replace("'", ""))
    text = "".join(c for c in text if not unicodedata.combining(c))
    return [DIGITS[int(word)] if word.isdigit() else word for word in _WORD.findall(text)]
