"""Writing a file so that its name always holds a whole one: the old, or the new."""

from __future__ import annotations

import errno
import os
import stat
import threading
from collections.abc import Iterable
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], parts: Iterable[memoryview]) -> int:
    """Write a file under another name, make sure that it is on the disk, then rename it.

    Where the system can (Linux), the file has no name at all before it is complete, so that a
    process that is killed leaves nothing behind.

    Parameters
    ----------
    path : path-like
        A link is followed: what it leads to is replaced.
    parts : iterable of memoryview
        What to write.

    Returns
    -------
    int
        The number of bytes written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from recalltree.model_file.atomic import write_atomically
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomically(Path(folder, "new"), [memoryview(b"some"), memoryview(b"thing")])
    ...     Path(folder, "new").read_bytes()
    9
    b'something'
    """
    check_target(path)
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    own_name = f".{target.name}.{os.getpid()}.{threading.get_ident()}.tmp"
    temporary = target.with_name(own_name)
    temporary.unlink(missing_ok=True)  # of a process with the same id that was killed
    try:
        descriptor, is_named = _create(temporary, 0o666 if mode is None else mode)
        try:
            if mode is not None and hasattr(os, "fchmod"):
                os.fchmod(descriptor, mode)
            size = sum(_write(descriptor, part) for part in parts)
            os.fsync(descriptor)
            if not is_named:
                _give_name(descriptor, temporary)
        finally:
            os.close(descriptor)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)
    return size


def check_target(path: str | os.PathLike[str]) -> None:
    """Check that a file can be written, before the work whose result it will hold.

    Raises
    ------
    OSError
        If its folder does not exist or cannot be written to.
    ValueError
        If the path is taken by something else than a file.

    Examples
    --------
    >>> from recalltree.model_file.atomic import check_target
    >>> check_target("no/such/folder/model.rt")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] cannot be written, as there is no folder ...
    """
    target = Path(os.path.realpath(path))
    folder = target.parent
    if not folder.is_dir():
        problem = f"cannot be written, as there is no folder {folder}"
        raise FileNotFoundError(errno.ENOENT, problem, os.fspath(path))
    _mode(target)
    if not os.access(folder, os.W_OK):
        problem = f"cannot be written, as there is no permission for the folder {folder}"
        raise PermissionError(errno.EACCES, problem, os.fspath(path))


def _mode(target: Path) -> int | None:
    """Return the permissions of the file that will be replaced, None if there is none."""
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{target} is not a regular file, so a model cannot take its place.")
    return stat.S_IMODE(found.st_mode)


def _create(temporary: Path, mode: int) -> tuple[int, bool]:
    """Return a new file to be written, and whether it has the name already."""
    unnamed = getattr(os, "O_TMPFILE", None)
    if unnamed is not None and Path("/proc/self/fd").is_dir():
        try:
            return os.open(temporary.parent, unnamed | os.O_WRONLY, mode), False
        except OSError:  # the file system cannot
            pass
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    return os.open(temporary, flags, mode), True


def _give_name(descriptor: int, name: Path) -> None:
    folder = os.open(name.parent, os.O_RDONLY)
    try:
        # Python follows the link of /proc only if it is given a folder.
        os.link(f"/proc/self/fd/{descriptor}", name.name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        os.close(folder)


def _write(descriptor: int, part: memoryview) -> int:
    size = len(part)
    while part:
        part = part[os.write(descriptor, part) :]
    return size


def _sync_folder(folder: Path) -> None:
    """Make sure that the new name is on the disk, too."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
