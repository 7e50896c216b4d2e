"""Instructions per row: what is made of callgrind's files, with a program in valgrind's place."""

import os
import sys

import pytest
from benchmark_runs import report_of
from benchmarks.instructions import interpreter_of, read_counts

VALGRIND = f"""#!{sys.executable}
import sys
from pathlib import Path

out = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--callgrind-out-file="))
scale = 2 if "other" in " ".join(sys.argv) else 1
n_rows = int(sys.argv[-1])
works = ("learn", "predict", "predict, mapped")
for part, (name, times) in enumerate((n, t) for n in works for t in (1, 3)):
    total = 5000 + scale * 100 * len(name) * times * n_rows
    desc = f"desc: Trigger: Client Request: {{name}} {{times}}"
    Path(f"{{out}}.{{part}}").write_text(f"part: {{part}}\\n{{desc}}\\ntotals: {{total}}\\n")
"""


@pytest.fixture
def valgrind(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "valgrind"
    program.parent.mkdir()
    program.write_text(VALGRIND)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")


def test_what_a_call_costs_by_itself_is_taken_off(valgrind, tmp_path, capsys):
    interpreter = tmp_path / "other" / ".venv" / "bin" / "python"
    interpreter.parent.mkdir(parents=True)
    interpreter.touch()
    options = ("--algorithms", "lom-tree", "--sets", "generated-dense", "--rows", "10")
    content = report_of("instructions", tmp_path, *options, "--against", str(tmp_path / "other"))
    assert [(r["work"], r["instructions"], r["against"]) for r in content["results"]] == [
        ("learn", 500, 1000),
        ("predict", 700, 1400),
        ("predict, mapped", 1500, 3000),
    ]
    assert "0.500" in capsys.readouterr().out


def test_files_without_a_name_are_not_counted():
    named = "part: 2\ndesc: Trigger: Client Request: learn 1\nsummary: 7\ntotals: 120\n"
    assert read_counts([named, "part: 1\ntotals: 9\n"]) == {"learn 1": 120}


def test_a_folder_without_an_interpreter_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"--against .*make build"):
        interpreter_of(tmp_path)


def test_without_valgrind_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SystemExit, match="valgrind is not installed"):
        report_of("instructions", tmp_path)
