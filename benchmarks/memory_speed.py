"""What memory gives one thread on this machine: ``memory_speed.c``, compiled when it is asked."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).with_suffix(".c")
COMPILERS = ("cc", "gcc", "clang")  # if the environment variable CC names none


@dataclass(frozen=True)
class MemorySpeed:
    """How fast one thread reads an array of so many bytes, the best of some repeats.

    ``latency`` is the time of one line whose place the line before it tells, ``line`` that of one
    among many whose places are known: both at random places, in nanoseconds.
    """

    array_bytes: int
    gb_per_second: float
    latency: float
    line: float

    @classmethod
    def measure(cls, array_bytes: int, repeats: int = 5) -> MemorySpeed:
        """Measure an array of this size."""
        found = (ctypes.c_double * 3)()
        if _library().measure_memory(array_bytes, repeats, found) != 0:
            raise ValueError(f"there is no memory for an array of {array_bytes:,} bytes")
        per_byte, latency, line = found
        return cls(array_bytes, 1 / per_byte, latency, line)


def compiler() -> list[str]:
    """Return the command of the C compiler, which the environment variable CC may name."""
    named = shlex.split(os.environ.get("CC", ""))
    for command in [named] if named else [[name] for name in COMPILERS]:
        if shutil.which(command[0]):
            return command
    tried = named[:1] or COMPILERS
    raise FileNotFoundError(
        f"no C compiler ({', '.join(tried)}), and the speed of memory is measured by a C program: "
        "install one, or name it in the environment variable CC"
    )


@cache
def _library() -> ctypes.CDLL:
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "memory_speed.so"
        command = [*compiler(), "-O3", "-shared", "-fPIC", str(SOURCE), "-o", str(output)]
        finished = subprocess.run(command, capture_output=True, text=True)
        if finished.returncode != 0:
            raise ValueError(f"{shlex.join(command[:-2])} failed:\n{finished.stderr}")
        library = ctypes.CDLL(str(output))
    library.measure_memory.argtypes = [
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_double),
    ]
    return library
