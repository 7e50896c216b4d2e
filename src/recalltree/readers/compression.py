"""Compressed bytes -> bytes, recognised by their content, a bounded piece at a time."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any

from recalltree.readers.errors import DamagedFileError

#: Bytes that are read, and at most decompressed, at a time.
PIECE = 1 << 18

#: Number of first bytes that tell the compression of a file.
MAGIC_BYTES = 6

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
}

#: More than any preset of xz needs; a file may not ask for gigabytes.
_XZ_MEMORY = 1 << 29


def compression_of(head: bytes) -> str | None:
    """Return what a file is compressed with, by its first bytes; None for plain bytes.

    Examples
    --------
    >>> import gzip
    >>> from recalltree.readers.compression import compression_of
    >>> compression_of(gzip.compress(b"1 2:3"))
    'gzip'
    >>> compression_of(b"1 2:3") is None
    True
    """
    return next((name for magic, name in _MAGIC.items() if head.startswith(magic)), None)


def decompress(read: Callable[[int], bytes], name: str) -> Iterator[bytes]:
    """Yield the plain bytes of a file, in pieces of at most ``PIECE`` bytes.

    Parameters
    ----------
    read : callable
        Takes a number and returns this many bytes or fewer, none only at the end of the file.
    name : str
        What errors call the file.

    Raises
    ------
    DamagedFileError
        If compressed bytes are damaged, or end too early.
    ImportError
        If the file is compressed with zstd and there is nothing to read it with.
    """
    head = b""
    while len(head) < MAGIC_BYTES and (more := read(PIECE)):
        head += more
    compression = compression_of(head)
    if compression is None:
        while head:
            yield head
            head = read(PIECE)
        return
    yield from _decompress_streams(head, read, compression, name)


def _decompress_streams(
    pending: bytes, read: Callable[[int], bytes], compression: str, name: str
) -> Iterator[bytes]:
    """Decompress streams that follow one another, as `cat a.gz b.gz` makes them."""
    while pending:
        stream = _decompressor(compression)
        while not stream.eof:
            if stream.needs_input and not pending:
                pending = read(PIECE)
                if not pending:
                    raise DamagedFileError(f"{name}: the {compression} data end too early")
            try:
                piece = stream.decompress(pending, PIECE)
            except Exception as error:  # each library has its own
                raise DamagedFileError(f"{name}: damaged {compression} data: {error}") from error
            pending = b""
            if piece:
                yield piece
        pending = stream.unused_data or read(PIECE)
        if compression in ("gzip", "xz"):  # both may be padded
            pending = pending.lstrip(b"\0")


def _decompressor(compression: str) -> Any:
    if compression == "gzip":
        return _Gunzip()
    if compression == "bzip2":
        return bz2.BZ2Decompressor()
    if compression == "xz":
        return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
    return _import_zstd().ZstdDecompressor()


class _Gunzip:
    """The decompressor of zlib with the interface that all the others have."""

    def __init__(self) -> None:
        self._stream = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)

    @property
    def eof(self) -> bool:
        return self._stream.eof

    @property
    def unused_data(self) -> bytes:
        return self._stream.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._stream.unconsumed_tail

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._stream.decompress(self._stream.unconsumed_tail + data, max_length)


def _import_zstd() -> Any:
    try:
        from compression import zstd  # Python 3.14
    except ImportError:
        try:
            from backports import zstd
        except ImportError:
            raise ImportError(
                "reading zstd needs Python 3.14 or the package backports.zstd: "
                "pip install 'recalltree[zstd]', or give the file uncompressed"
            ) from None
    return zstd
