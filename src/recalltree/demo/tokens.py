"""The corpus: the source files of Python's standard library as one stream of tokens."""

from __future__ import annotations

import sysconfig
import tokenize
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from io import StringIO
from itertools import takewhile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

NEWLINE, INDENT, DEDENT = "<newline>", "<indent>", "<dedent>"
LONG_TEXT = '"..."'
#: Literal text of more characters is all one class: docstrings and messages are written once.
SHORT_TEXT_LENGTH = 20

#: Stands before the first token of a file; no token has this id.
START = 0

_NAMED = {tokenize.NEWLINE: NEWLINE, tokenize.INDENT: INDENT, tokenize.DEDENT: DEDENT}
_SKIPPED = {tokenize.COMMENT, tokenize.NL, tokenize.ENCODING, tokenize.ENDMARKER}
_TEXT = {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
_LEFT_OUT = {"site-packages", "dist-packages", "test", "tests", "idle_test"}


def source_files(seed: int = 0, library: Path | None = None) -> list[Path]:
    """Return the source files of the standard library, its tests left out, in a random order.

    Parameters
    ----------
    seed : int, default=0
        The same seed gives the same order.
    library : Path, default=None
        Another folder of Python files.

    Returns
    -------
    list of Path

    Examples
    --------
    >>> from recalltree.demo.tokens import source_files
    >>> "argparse.py" in {path.name for path in source_files()}
    True
    """
    folder = library or Path(sysconfig.get_paths()["stdlib"])
    paths = sorted(
        path for path in folder.rglob("*.py") if not _LEFT_OUT & {*path.relative_to(folder).parts}
    )
    order = np.random.default_rng(seed).permutation(len(paths))
    return [paths[i] for i in order]


def read_tokens(path: Path) -> list[str]:
    r"""Return the tokens of a file, without comments; none if it is not valid Python.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from recalltree.demo.tokens import read_tokens
    >>> path = Path(tempfile.mkdtemp()) / "two_lines.py"
    >>> _ = path.write_text("if ready:  # or not\n    go(1)\n")
    >>> read_tokens(path)
    ['if', 'ready', ':', '<newline>', '<indent>', 'go', '(', '1', ')', '<newline>', '<dedent>']
    """
    try:
        with tokenize.open(path) as file:
            return list(_tokens(file.readline))
    except (SyntaxError, UnicodeDecodeError, tokenize.TokenError):
        return []


def tokens_before_end(code: str) -> list[str]:
    r"""Return the tokens of code that breaks off in the middle of a line.

    Examples
    --------
    >>> from recalltree.demo.tokens import tokens_before_end
    >>> tokens_before_end("import os\nprint(os.")
    ['import', 'os', '<newline>', 'print', '(', 'os', '.']
    """
    end = "END_OF_CODE"
    # Nothing after the mark is read, so it does not matter that brackets are left open.
    return list(takewhile(lambda token: token != end, _tokens(StringIO(f"{code} {end}").readline)))


def _tokens(readline: Callable[[], str]) -> Iterator[str]:
    for token in tokenize.generate_tokens(readline):
        if token.type not in _SKIPPED:
            yield _name(token)


def _name(token: tokenize.TokenInfo) -> str:
    if token.type in _TEXT and len(token.string) > SHORT_TEXT_LENGTH:
        return LONG_TEXT
    return _NAMED.get(token.type, token.string)


@dataclass(frozen=True)
class Corpus:
    """Files as arrays of token ids: those to learn from, and the last tenth to test on.

    Attributes
    ----------
    names : list of str
        The token of each id; the first is not a token, but `START`.
    train, test : list of ndarray
        The token ids of each file.
    """

    names: list[str]
    train: list[NDArray[np.int64]]
    test: list[NDArray[np.int64]]

    @property
    def n_tokens(self) -> int:
        """Number of tokens in all files."""
        return sum(len(ids) for ids in self.train + self.test)


def read_corpus(n_tokens: int, seed: int = 0) -> Corpus:
    """Read whole files of the standard library until there are enough tokens.

    Parameters
    ----------
    n_tokens : int
        How many tokens to read at least, unless the library has fewer.
    seed : int, default=0
        Chooses the files and their order.

    Returns
    -------
    Corpus

    Examples
    --------
    >>> from recalltree.demo.tokens import read_corpus
    >>> corpus = read_corpus(1_000)
    >>> corpus.n_tokens >= 1_000, len(corpus.test)
    (True, 1)
    """
    ids: dict[str, int] = {"<start>": START}
    files = [
        np.array([ids.setdefault(token, len(ids)) for token in tokens], dtype=np.int64)
        for tokens in _until(n_tokens, map(read_tokens, source_files(seed)))
    ]
    if len(files) < 2:
        raise FileNotFoundError(
            "this Python has no source files of its standard library in "
            f"{sysconfig.get_paths()['stdlib']}, which the demonstration learns from"
        )
    n_test = max(1, len(files) // 10)
    return Corpus(list(ids), files[:-n_test], files[-n_test:])


def _until(n_tokens: int, files: Iterable[list[str]]) -> Iterator[list[str]]:
    """Yield files that are not empty until they have enough tokens, two at least."""
    n_read = n_files = 0
    for tokens in files:
        if n_read >= n_tokens and n_files >= 2:
            return
        if tokens:
            n_read += len(tokens)
            n_files += 1
            yield tokens
