"""C programs beside the Python that calls them, compiled when they are asked for."""

from __future__ import annotations

import ctypes
import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

COMPILERS = ("cc", "gcc", "clang")  # if the environment variable CC names none


def compiler() -> list[str]:
    """Return the command of the C compiler, which the environment variable CC may name."""
    named = shlex.split(os.environ.get("CC", ""))
    for command in [named] if named else [[name] for name in COMPILERS]:
        if shutil.which(command[0]):
            return command
    tried = named[:1] or COMPILERS
    raise FileNotFoundError(
        f"no C compiler ({', '.join(tried)}), and a part of this is a C program: "
        "install one, or name it in the environment variable CC"
    )


def library(source: Path, *options: str) -> ctypes.CDLL:
    """Compile a source file and return it, loaded."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / f"{source.stem}.so"
        command = [*compiler(), "-O3", *options, "-shared", "-fPIC", str(source), "-lm"]
        finished = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True)
        if finished.returncode != 0:
            raise ValueError(f"{shlex.join(command)} failed:\n{finished.stderr}")
        return ctypes.CDLL(str(output))
