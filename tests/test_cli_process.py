"""Commands as processes: signals, pipes, and readers that go away."""

import signal
import subprocess
import sys
import time

import pytest
from command_line import (
    COMMAND,
    environment,
    explicit,
    finish,
    run,
    start,
    tensors_of,
    vw_rows,
    write_rows,
)

import recalltree

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    write_rows(path / "train.vw", 20_000, n_classes=200)
    write_rows(path / "small.vw", 300)
    run("train", path / "small.vw", "-m", path / "small.rt", "-q")
    return path


def wait_for(path, process, after=0, seconds=120):
    """Wait until a process has written a file that is younger than `after`; return its age."""
    until = time.monotonic() + seconds
    while not path.exists() or path.stat().st_mtime_ns <= after:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < until
        time.sleep(0.05)
    return path.stat().st_mtime_ns


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_writes_the_model_and_the_command_that_is_shown_goes_on(
    folder, tmp_path, number
):
    model = tmp_path / "model.rt"
    rows = folder / "train.vw"
    arguments = ("train", rows, "-m", model, "--checkpoint-every", "1000rows")
    process = start(*arguments, "--passes", 1_000_000)
    wait_for(model, process)  # it is learning
    process.send_signal(number)
    code, out, err = finish(process)
    assert code == 128 + number
    assert out == ""
    assert "interrupted in pass" in err
    position = recalltree.load(model).model_extra_["training"]["position"]
    shown = err.split("to continue: recalltree ")[1].strip().split()
    assert shown == ["train", str(rows), "--resume", str(model), "-m", str(model)]
    n_passes = position["pass_number"] + 1
    run(*shown, "--passes", n_passes)
    run("train", rows, "-m", tmp_path / "expected.rt", "--passes", n_passes)
    assert tensors_of(model) == tensors_of(tmp_path / "expected.rt")
    assert "training" not in recalltree.load(model).model_extra_


def test_an_interrupt_ends_the_wait_for_rows(tmp_path):
    model = tmp_path / "model.rt"
    arguments = ("train", "-m", model, "--batch-rows", 10, "--checkpoint-every", "1row")
    process = start(*arguments, stdin=subprocess.PIPE)
    process.stdin.write("".join(vw_rows(500)).encode())
    process.stdin.flush()
    wait_for(model, process)
    time.sleep(2)  # to learn the others, and to wait for more
    process.send_signal(signal.SIGINT)
    assert process.wait(30) == 130
    err = process.stderr.read().decode()
    assert "interrupted in pass 1" in err
    n_rows = int(err.split("--skip-rows ")[1])
    assert recalltree.load(model)._core.n_examples == n_rows > 0


def test_a_second_interrupt_stops_at_once(folder, tmp_path):
    model = tmp_path / "model.rt"
    script = f"""
import sys, time
import recalltree
from recalltree.cli import main, train

def learn_from(*arguments, **options):
    for position in learn(*arguments, **options):
        print("learning", flush=True)
        yield position

def save(self, path, **options):
    print("saving", flush=True)
    time.sleep(60)

learn, train.learn_from = train.learn_from, learn_from
recalltree.RecallTreeClassifier.save = save
sys.exit(main({explicit(["train", folder / "train.vw", "-m", model, "--passes", 100000])!r}))
"""
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    )
    assert process.stdout.readline() == b"learning\n"
    process.send_signal(signal.SIGINT)
    while (line := process.stdout.readline()) == b"learning\n":
        pass
    assert line == b"saving\n"
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process, timeout=30)
    assert code == 130
    assert "Traceback" not in err
    assert not model.exists()


def test_a_killed_process_leaves_its_last_checkpoint(folder, tmp_path):
    model = tmp_path / "model.rt"
    arguments = ("train", folder / "train.vw", "-m", model, "--checkpoint-every", "500rows")
    reached, written = 0, 0
    for i in range(4):
        process = start(*arguments, "--passes", 1_000_000, *(("--resume", model) if i else ()))
        written = wait_for(model, process, after=written)
        time.sleep(0.17 * i)
        process.kill()
        finish(process)
        now = recalltree.load(model, verify=True)._core.n_examples
        assert now > reached
        reached, written = now, model.stat().st_mtime_ns
    position = recalltree.load(model).model_extra_["training"]["position"]
    n_passes = position["pass_number"] + 1
    run(*arguments, "--resume", model, "--passes", n_passes)
    run("train", folder / "train.vw", "-m", tmp_path / "expected.rt", "--passes", n_passes)
    assert tensors_of(model) == tensors_of(tmp_path / "expected.rt")


def test_models_and_rows_go_through_pipes(folder, tmp_path):
    command = " ".join(COMMAND)
    script = f"""
        set -eo pipefail
        cat {folder}/small.vw | {command} train -q -m - --algorithm recall-tree \
            | tee {tmp_path}/model.rt \
            | {command} predict -q -m - --labels-only {folder}/small.vw
    """
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, env=environment()
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    expected = run("predict", "-m", folder / "small.rt", "--labels-only", folder / "small.vw")
    assert done.stdout == expected.stdout
    assert tensors_of(tmp_path / "model.rt") == tensors_of(folder / "small.rt")


def test_an_interrupt_ends_other_commands(folder):
    process = start("predict", "-m", folder / "small.rt", stdin=subprocess.PIPE)
    process.stdin.write(b"| w1 w2 w3\n")
    process.stdin.flush()
    assert process.stdout.readline()
    process.send_signal(signal.SIGINT)
    code, _, err = finish(process)
    assert code == 130
    assert err.strip() == "recalltree: interrupted"


def test_a_row_is_answered_while_the_next_is_not_yet_there(folder):
    arguments = ("predict", "-m", folder / "small.rt", "--labels-only")
    process = start(*arguments, stdin=subprocess.PIPE)
    for label in ("class3", "class5"):
        words = " ".join(f"w{5 * int(label[5:]) + i}" for i in range(5))
        process.stdin.write(f"| {words}\n".encode())
        process.stdin.flush()
        assert process.stdout.readline().decode() == f"{label}\n"
    assert finish(process)[0] == 0


def test_whoever_reads_the_output_may_go(folder):
    command = " ".join(COMMAND)
    rows = f"{folder}/train.vw " * 50  # more answers than a pipe holds
    script = f"{command} predict -q -m {folder}/small.rt {rows} | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=120, env=environment()
    )
    assert done.stderr == ""
    answer, code = done.stdout.splitlines()
    assert answer.startswith("class")
    assert code == "141"


def test_progress_goes_to_standard_error_as_lines_in_a_log(folder, tmp_path):
    script = f"""
import sys
from recalltree import live_line
from recalltree.cli import main
live_line.LOG_SECONDS = 0.0
sys.exit(main(["train", {str(folder / "train.vw")!r}, "-m", {str(tmp_path / "m.rt")!r}]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0
    assert done.stdout == ""
    *lines, last = done.stderr.splitlines()
    assert lines
    for words in ("rows/s", "since last", "overall", "classes", "left"):
        assert words in lines[-1]
    assert "20,000 rows learned" in last


def test_a_terminal_sees_a_line_that_changes(folder, tmp_path):
    pty = pytest.importorskip("pty")
    import os

    script = f"""
import sys
from recalltree import live_line
from recalltree.cli import main
live_line.TERMINAL_SECONDS = 0.0
sys.exit(main(["train", {str(folder / "train.vw")!r}, "-m", {str(tmp_path / "m.rt")!r}]))
"""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**environment(), "TERM": "xterm", "COLUMNS": "160"},
    )
    os.close(theirs)
    seen = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # its other end is closed
            break
        if not part:
            break
        seen += part
    assert process.wait(60) == 0
    text = seen.decode(errors="replace")
    assert "%" in text
    assert "rows/s" in text
    assert "20,000 rows learned" in text


def test_the_installed_command_is_there():
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == f"recalltree, version {recalltree.__version__}"
