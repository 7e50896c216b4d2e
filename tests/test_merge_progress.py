"""Merging tells how far it has come, and can be interrupted."""

import io
import signal
import subprocess
import sys

import pytest
from command_line import environment
from rich.console import Console
from test_merge import dense_rows, new, shards_of, sparse_rows

import recalltree
from recalltree import RecallTreeClassifier, live_line
from recalltree.cli.progress import Display, ShareMeter


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize(
    ("make", "rows"), [(new, sparse_rows), (new, dense_rows), (RecallTreeClassifier, dense_rows)]
)
def test_shares_grow_to_one(make, rows, n_jobs, tmp_path):
    X, y = rows()
    base, models = shards_of(make(), X, y, tmp_path, n_shards=2)
    paths = [tmp_path / f"{i}.rt" for i in range(len(models))]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    for given in (models, paths):
        shares = []
        merged = recalltree.merge(given, base=base, progress=shares.append, n_jobs=n_jobs)
        assert len(shares) >= 4
        assert shares == sorted(shares)
        assert 0.0 < shares[0] < 1.0
        assert shares[-1] == 1.0
    silent = recalltree.merge(paths, base=base)
    assert merged.n_examples_ == silent.n_examples_


@pytest.mark.parametrize("is_terminal", [True, False])
def test_what_is_shown(monkeypatch, is_terminal):
    out = io.StringIO()
    console = Console(file=out, force_terminal=is_terminal, width=100, highlight=False)
    monkeypatch.setattr("rich.console.Console", lambda **_: console)
    monkeypatch.setattr(live_line, "LOG_SECONDS", 0.0)
    monkeypatch.setattr(live_line, "TERMINAL_SECONDS", 0.0)
    meter = ShareMeter()
    meter._began -= 30.0
    with Display(meter, quiet=False) as display:
        display.update(0.25)
    text = out.getvalue()
    assert "25%  1:30 left" in text
    assert ("\x1b[" in text) == is_terminal
    assert str(meter.measure(1.0)) == "100%, writing the file"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_leaves_the_old_file(tmp_path):
    X, y = sparse_rows()
    base, models = shards_of(new(), X, y, tmp_path, n_shards=2)
    for i, model in enumerate(models):
        model.save(tmp_path / f"{i}.rt")
    out = tmp_path / "merged.rt"
    out.write_bytes(b"what was there")
    script = f"""
import sys, time
import recalltree.merging.lists as lists
from recalltree.cli import main

def merge_lists(*arguments):
    print("merging", flush=True)
    time.sleep(60)

lists._core.merge_lists = merge_lists
sys.exit(main(["merge", "{tmp_path}/0.rt", "{tmp_path}/1.rt", "--base", "{base}", "-m", "{out}"]))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout.readline() == b"merging\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"interrupted" in err
    assert b"Traceback" not in err
    assert out.read_bytes() == b"what was there"
    assert sorted(path.name for path in tmp_path.glob("*.rt")) == [
        *("0.rt", "1.rt"),
        base.name,
        "merged.rt",
    ]
