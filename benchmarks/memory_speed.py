"""Speed of memory for one thread on this machine: ``memory_speed.c``, compiled when it is asked."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.compiled import library

SOURCE = Path(__file__).with_suffix(".c")


@dataclass(frozen=True)
class MemorySpeed:
    """How fast one thread reads an array of this many bytes, the best of some repeats.

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


@cache
def _library() -> ctypes.CDLL:
    speed = library(SOURCE)
    speed.measure_memory.argtypes = [
        ctypes.c_size_t,
        ctypes.c_int,
        ctypes.POINTER(ctypes.c_double),
    ]
    return speed
