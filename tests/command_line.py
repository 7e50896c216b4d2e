"""Rows in files and the command ``recalltree``, for the tests of the command line."""

import os
import subprocess
import sys

import numpy as np
from click.testing import CliRunner
from safetensors.numpy import load_file

from recalltree.cli import cli

N_CLASSES = 20


def vw_rows(n, seed=0, n_classes=N_CLASSES):
    """Return lines of Vowpal Wabbit text: every class has words of its own, and some noise."""
    rng = np.random.default_rng(seed)
    lines = []
    for c in rng.integers(n_classes, size=n):
        words = [f"w{(5 * c + w) % 100}" for w in rng.integers(7, size=4)]
        words += [f"w{w}" for w in rng.integers(100, size=2)]
        lines.append(f"class{c} | {' '.join(words)}\n")
    return lines


def write_rows(path, n, seed=0, **options):
    """Write rows to a file and return its name."""
    path.write_text("".join(vw_rows(n, seed, **options)))
    return str(path)


def tensors_of(path):
    """Return what a model file holds of the model: every tensor, byte for byte."""
    return {
        name: (array.dtype, array.shape, array.tobytes())
        for name, array in load_file(path).items()
        if name != "extra"  # how rows were read
    }


def explicit(arguments):
    """Return arguments that name the algorithm: tests are not about which is the default."""
    arguments = [str(argument) for argument in arguments]
    named = {"--algorithm", "--resume", "--help"} & set(arguments)
    if arguments[:1] == ["train"] and not named:
        arguments[1:1] = ["--algorithm", "recall-tree"]
    return arguments


def run(*arguments, input=None, exit_code=0):
    """Run a command in this process; return its result."""
    result = CliRunner().invoke(cli, explicit(arguments), input=input)
    unexpected = result.exception is not None and not isinstance(result.exception, SystemExit)
    if unexpected:
        raise result.exception
    assert result.exit_code == exit_code, (result.stdout, result.stderr)
    return result


def environment():
    # Output must not depend on the terminal, nor on warnings of others.
    return {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100"}


COMMAND = [sys.executable, "-m", "recalltree"]


def start(*arguments, **options):
    """Start a command in a process of its own."""
    options = {"stdin": subprocess.DEVNULL} | options
    return subprocess.Popen(
        [*COMMAND, *explicit(arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
        **options,
    )


def finish(process, timeout=60, input=None):
    """Wait for a process; return its exit code, output and messages."""
    out, err = process.communicate(input, timeout=timeout)
    return process.returncode, out.decode(), err.decode()
