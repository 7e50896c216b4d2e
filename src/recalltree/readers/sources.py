"""Sources of bytes: files, patterns, pipes, standard input, open files."""

from __future__ import annotations

import glob
import io
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from recalltree.readers.compression import decompress
from recalltree.readers.errors import OneReadError

#: A path, an address, a pattern of either, "-" for standard input, a part, or an open binary file.
Readable = Any

#: Paths that fsspec opens: a protocol comes first, or several ("simplecache::s3://...").
_ADDRESS = re.compile(r"[a-z][a-z0-9+.:-]+://", re.IGNORECASE)


class Source:
    """One file, from which bytes can be read once or any number of times.

    Parameters
    ----------
    name : str
        What messages call it.
    open_file : callable
        Returns the opened file.
    size : int or None
        Bytes of the file; None if they come through a pipe, which can be read once.
    """

    def __init__(self, name: str, open_file: Callable[[], BinaryIO], size: int | None) -> None:
        self.name = name
        self.size = size
        self._open_file = open_file
        #: Which rows are read, of formats whose rows are numbered; None: all of them.
        self.rows: tuple[int, int] | None = None
        #: Number of lines of the file before those that are read.
        self.count_lines_before: Callable[[], int] = lambda: 0
        self._was_opened = False
        self._head: tuple[bytes, Stream] | None = None

    @property
    def is_pipe(self) -> bool:
        """True if the bytes come when they come, and only once."""
        return self.size is None

    def check_available(self) -> None:
        """Complain about a pipe that was read before."""
        if self.is_pipe and self._was_opened and self._head is None:
            raise OneReadError(
                f"{self.name} can be read only once: save it to a file to read it several times"
            )

    def open(self) -> Stream:
        """Return the file's bytes from the beginning."""
        if self._head is not None:  # a pipe of which somebody saw the head
            (head, stream), self._head = self._head, None
            stream.push_back(head)
            return stream
        self.check_available()
        self._was_opened = True
        return Stream(self._open_file(), self.name)

    def open_seekable(self) -> BinaryIO:
        """Return the file itself, for formats that are read in any order."""
        if self.is_pipe:
            raise OneReadError(
                f"{self.name} is a pipe, and this format is read in any order: save it to a file"
            )
        file = self._open_file()
        return file.file if isinstance(file, _Borrowed) else file

    def head(self) -> bytes:
        """Return the first decompressed bytes, which are not lost for those who open it later."""
        stream = self.open()
        head = next(stream, b"")
        if self.is_pipe:
            self._head = head, stream
        else:
            stream.close()
        return head


class Stream:
    """An opened source: an iterator over its bytes, decompressed, that knows how far it read."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file = file
        self._name = name
        self._pieces = decompress(self._read, name)
        self._pushed_back = b""
        self.n_read = 0  # of the file as it is, perhaps compressed

    def __iter__(self) -> Stream:
        return self

    def __next__(self) -> bytes:
        if self._pushed_back:
            head, self._pushed_back = self._pushed_back, b""
            return head
        return next(self._pieces)

    def as_file(self) -> io.BufferedReader:
        """Return the decompressed bytes as a file, which gives as many as are asked for."""
        return io.BufferedReader(_PieceFile(self))

    def push_back(self, head: bytes) -> None:
        """Yield `head` again, first."""
        self._pushed_back = head

    def close(self) -> None:
        """Close the file, unless it is the user's."""
        if not isinstance(self._file, _Borrowed):
            self._file.close()

    def _read(self, size: int) -> bytes:
        # A pipe gives the bytes that it has at the moment, and is not waited for.
        data = getattr(self._file, "read1", self._file.read)(size)
        if data is None:
            raise BlockingIOError(f"{self._name} is in non-blocking mode, which is not supported")
        if isinstance(data, str):
            raise TypeError(f"{self._name} is open as text; open it as bytes, with mode 'rb'")
        self.n_read += len(data)
        return bytes(data)


class _PieceFile(io.RawIOBase):
    """A file of bytes that come in pieces."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = next(self._pieces, b"")
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n


class _Borrowed:
    """An open file of the user's, which is never closed."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.read = file.read
        if hasattr(file, "read1"):
            self.read1 = file.read1


def find_sources(paths: Readable | Sequence[Readable]) -> list[Source]:
    """Return the sources that paths, patterns and open files stand for, in order.

    Parameters
    ----------
    paths : str, path, open binary file, FilePart, or sequence of these
        ``"-"`` is standard input. A string like ``"s3://bucket/name"`` is an address for fsspec. A
        string that names no file but has a ``*``, ``?`` or ``[`` is a pattern: its files come in
        sorted order, and ``**`` matches folders within folders.

    Raises
    ------
    FileNotFoundError
        If a file does not exist, or a pattern matches nothing.

    Examples
    --------
    >>> import io
    >>> from recalltree.readers.sources import find_sources
    >>> [source.name for source in find_sources(["-", io.BytesIO(b"1 2:3")])]
    ['<stdin>', '<BytesIO>']
    """
    if isinstance(paths, str | os.PathLike) or hasattr(paths, "read") or hasattr(paths, "source"):
        paths = [paths]
    sources = [source for path in paths for source in _sources_of(path)]
    if not sources:
        raise ValueError("paths is empty; give at least one file")
    return sources


def _sources_of(path: Readable) -> list[Source]:
    if hasattr(path, "read"):
        return [_from_open_file(path)]
    if path == "-":
        return [Source("<stdin>", _stdin, None)]
    if hasattr(path, "source"):  # a part of a file
        return [path.source()]
    text = os.fspath(path)
    if _ADDRESS.match(text):
        return _from_address(text)
    if not os.path.exists(text) and any(c in text for c in "*?["):  # noqa: PTH110
        found = sorted(glob.glob(text, recursive=True))  # noqa: PTH207
        found = [match for match in found if not Path(match).is_dir()]
        if not found:
            raise FileNotFoundError(f"no file matches the pattern {text!r}")
        return [_from_path(match) for match in found]
    return [_from_path(text)]


def _from_path(text: str) -> Source:
    status = Path(text).stat()  # FileNotFoundError names the file
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(f"{text} is a folder; give its files, for example {text}/*")
    size = status.st_size if stat.S_ISREG(status.st_mode) else None
    return Source(text, lambda: Path(text).open("rb", buffering=0), size)


def _from_address(text: str) -> list[Source]:
    """Return the files of an address or of a pattern of addresses, such as s3://rows/*.parquet."""
    try:
        import fsspec
    except ImportError as error:
        raise ImportError(
            f"reading {text} needs the package fsspec, and the one of its storage: "
            "pip install fsspec"
        ) from error
    system, path = fsspec.core.url_to_fs(text)
    paths = sorted(system.glob(path)) if any(c in text for c in "*?[") else [path]
    if not paths:
        raise FileNotFoundError(f"no file matches the pattern {text!r}")
    return [_from_system(system, path) for path in paths]


def _from_system(system: Any, path: str) -> Source:
    found = system.info(path)  # FileNotFoundError names the file
    name = system.unstrip_protocol(path)
    if found.get("type") == "directory":
        raise IsADirectoryError(f"{name} is a folder; give its files, for example {name}/*")
    return Source(name, lambda: system.open(path, "rb"), found.get("size"))


def _from_open_file(file: Any) -> Source:
    name = getattr(file, "name", None)
    name = name if isinstance(name, str) else f"<{type(file).__name__}>"
    if not (hasattr(file, "seekable") and file.seekable()):
        return Source(name, lambda: _Borrowed(file), None)  # type: ignore[return-value, arg-type]
    start = file.tell()
    size = file.seek(0, os.SEEK_END) - start
    file.seek(start)

    def rewound() -> Any:
        file.seek(start)
        return _Borrowed(file)

    return Source(name, rewound, size)


def _stdin() -> Any:
    # Unbuffered where possible: a thread that waits in a buffered read holds a lock at exit.
    buffer = sys.stdin.buffer
    return _Borrowed(getattr(buffer, "raw", buffer))
