"""The examples of docs/command-line.md, run one after the other as they stand there."""

import doctest
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import environment, tensors_of
from quick_command import quick_command

PAGE = Path(__file__).parents[1] / "docs" / "command-line.md"
WHAT_IT_DOES = "train animals.vw --passes 3"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs bash")


def examples():
    """Return (line of the page, command, expected output) of every example."""
    found = []
    text = PAGE.read_text(encoding="utf-8")
    for block in re.finditer(r"^```console\n(.*?)^```$", text, re.S | re.M):
        line = text[: block.start(1)].count("\n") + 1
        for part in re.split(r"^\$ ", block[1], flags=re.M)[1:]:
            command, *rest = part.split("\n")
            while rest and rest[0].startswith("> "):
                command += "\n" + rest.pop(0)[2:]
            found.append((line, command, "\n".join(rest)))
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder to run the examples in, and an environment that knows the command."""
    path = tmp_path_factory.mktemp("docs")
    (path / "bin").mkdir()
    env = environment()
    env["PATH"] = f"{path / 'bin'}{os.pathsep}{env['PATH']}"
    with quick_command(path / "bin" / "recalltree", env):
        yield path, env


def test_the_examples_do_what_they_say(folder):
    path, env = folder
    checker = doctest.OutputChecker()
    assert len(examples()) > 15
    for line, command, expected in examples():
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=path,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
        )
        found = done.stdout.decode()
        if done.returncode:
            found += f"[exit code {done.returncode}]\n"
        assert checker.check_output(expected, found, FLAGS), (
            f"line {line}: {command}\nexpected:\n{expected}\nfound:\n{found}"
        )


def test_the_python_of_the_page_makes_the_same_model(folder):
    path, env = folder
    (code,) = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.S | re.M)
    rows = examples()[0][1]
    subprocess.run(["bash", "-c", rows], cwd=path, env=env, check=True)
    subprocess.run(
        ["bash", "-c", f"recalltree {WHAT_IT_DOES} -m expected.rt -q"],
        cwd=path,
        env=env,
        check=True,
    )
    subprocess.run([sys.executable, "-c", code], cwd=path, env=env, check=True)
    assert tensors_of(path / "model.rt") == tensors_of(path / "expected.rt")
