"""Measuring a command: wall time, CPU time and peak memory of one child process.

A process inherits the peak memory of the process it was started from, so commands are started by
a small one: ``python -m benchmarks.measure LIMIT COMMAND ...`` runs COMMAND and prints what it
used. LIMIT is seconds of CPU time, or empty. This module therefore imports nothing outside the
standard library.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# One thread in every program, also where a numerical library has a pool of its own.
POOLS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS")
ONE_THREAD = dict.fromkeys(POOLS, "1")


@dataclass(frozen=True)
class Times:
    """Seconds: on the clock, and of CPU in user code and in the system."""

    wall: float
    user: float
    system: float

    @property
    def cpu(self) -> float:
        """User and system time together, which the system counts exactly.

        The division into user and system time is sampled (4 ms ticks on many Linux kernels), too
        coarse for a prediction that lasts 20 ms.
        """
        return self.user + self.system

    def __sub__(self, other: Times) -> Times:
        return Times(self.wall - other.wall, self.user - other.user, self.system - other.system)

    def __add__(self, other: Times) -> Times:
        return Times(self.wall + other.wall, self.user + other.user, self.system + other.system)

    def per_example(self, n_examples: int) -> dict[str, float]:
        """Return microseconds per example, by kind of time."""
        kinds = {"wall": self.wall, "user": self.user, "cpu": self.cpu}
        return {kind: seconds * 1e6 / n_examples for kind, seconds in kinds.items()}


def best(times: Iterable[Times]) -> Times:
    """Return the repeat that took least CPU: the one that others disturbed least."""
    return min(times, key=lambda t: t.cpu)


@dataclass(frozen=True)
class Usage:
    """Resources that a finished command used, and its output."""

    times: Times
    peak_rss: int  # bytes
    output: str


class Stopwatch:
    """Times of this process between entering and leaving a ``with`` block."""

    times: Times

    def __enter__(self) -> Stopwatch:
        self._start = now()
        return self

    def __exit__(self, *_: object) -> None:
        self.times = now() - self._start


def now() -> Times:
    """Return what this process has used so far; the clock has no beginning of its own."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return Times(time.perf_counter(), used.ru_utime, used.ru_stime)


def peak_rss(used: resource.struct_rusage | None = None) -> int:
    """Return the peak resident memory in bytes, of this process unless usage is given."""
    used = used or resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


class OverLimitError(RuntimeError):
    """A command that used more CPU time than it was given."""


def run(command: Sequence[str | os.PathLike[str]], cpu_limit: float | None = None) -> Usage:
    """Run a command to its end in a process of its own and return what it used.

    Raises RuntimeError, with the end of its output, if the command fails, and OverLimitError if it
    uses more than ``cpu_limit`` seconds of CPU time.
    """
    command = [os.fspath(part) for part in command]
    limit = "" if cpu_limit is None else str(max(1, round(cpu_limit)))
    launcher = [sys.executable, "-m", "benchmarks.measure", limit, *command]
    environment = {**os.environ, **ONE_THREAD}
    finished = subprocess.run(
        launcher, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    result = json.loads(finished.stdout)
    if result["exit_code"] == -signal.SIGXCPU:
        raise OverLimitError(f"more than {limit} s of CPU time: {' '.join(command)}")
    if result["exit_code"] != 0:
        tail = "\n".join(result["output"].splitlines()[-15:])
        raise RuntimeError(f"exit code {result['exit_code']} of: {' '.join(command)}\n{tail}")
    return Usage(Times(**result["times"]), result["peak_rss"], result["output"])


def _launch(limit: str, *command: str) -> dict[str, object]:
    if limit:  # for the command and what it starts, each by itself
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), hard))
    start = time.perf_counter()
    child = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    assert child.stdout is not None
    output = child.stdout.read()
    _, status, used = os.wait4(child.pid, 0)
    wall = time.perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    return {
        "exit_code": child.returncode,
        "times": asdict(Times(wall, used.ru_utime, used.ru_stime)),
        "peak_rss": peak_rss(used),
        "output": output,
    }


if __name__ == "__main__":
    json.dump(_launch(*sys.argv[1:]), sys.stdout)
