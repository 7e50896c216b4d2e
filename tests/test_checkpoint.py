"""Checkpoints, and files that are whole whatever happens while they are written."""

import os
import signal
import stat
import time
from pathlib import Path

import numpy as np
import pytest
from classifiers import digits

import recalltree
from recalltree import RecallTreeClassifier
from recalltree.model_file import Checkpointer, atomic

BATCH, EVERY = 20, 40


def batch_at(n):
    """Return the rows from n on of an endless stream."""
    X, y = digits(400)
    places = np.arange(n, n + BATCH) % 400
    return X[places], y[places]


def learned_at_once(n_rows):
    clf = RecallTreeClassifier()
    for n in range(0, n_rows, BATCH):
        clf.partial_fit(*batch_at(n))
    return clf


def learn_for_ever(path, out):
    """Resume from the checkpoint, and say after every batch how many rows are learned."""

    def say(what, n):
        os.write(out, f"{what} {n}\n".encode())

    try:
        clf = recalltree.load(path)
        n = int(clf._core.n_examples)
    except FileNotFoundError:
        clf, n = RecallTreeClassifier(), 0
    checkpointer = Checkpointer(path, every_rows=EVERY)
    say("ready", n)
    while True:
        clf.partial_fit(*batch_at(n))
        n += BATCH
        say("learned", n)
        if checkpointer.learned(clf, BATCH):
            say("saved", n)


def killed_after(seconds, path):
    """Return what a process said that learned for so long before it was killed."""
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            learn_for_ever(path, write_end)
        finally:
            os._exit(1)
    os.close(write_end)
    with open(read_end) as said:  # noqa: PTH123
        first = said.readline()
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
        rest = said.read()
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return [(what, int(n)) for what, n in map(str.split, (first + rest).splitlines())]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_killed_at_random_moments(tmp_path):
    """Twenty times: the file is whole, and lacks at most the rows since the last checkpoint."""
    path = tmp_path / "model.rt"
    rng = np.random.default_rng(0)
    n_saved = 0
    for _ in range(20):
        said = killed_after(rng.uniform(0, 0.4), path)
        assert said[0] == ("ready", n_saved)  # it went on where the last one had left off
        n_learned = max(n for _, n in said)
        n_reported = max([0] + [n for what, n in said if what == "saved"])
        if not path.exists():
            assert n_reported == 0
            continue
        n_saved = int(recalltree.load(path, verify=True)._core.n_examples)
        assert n_saved % EVERY == 0
        assert n_reported <= n_saved
        assert n_learned - n_saved <= EVERY  # killed just before a checkpoint at the worst
        for other in tmp_path.iterdir():  # nothing unreadable is left
            recalltree.load(other, verify=True)
    assert n_saved > 5 * EVERY
    recalltree.load(path).save(tmp_path / "again.rt")
    learned_at_once(n_saved).save(tmp_path / "at_once.rt")
    assert (tmp_path / "again.rt").read_bytes() == (tmp_path / "at_once.rt").read_bytes()


def test_when_a_checkpoint_is_due(tmp_path, monkeypatch):
    clf = RecallTreeClassifier().partial_fit(*batch_at(0))
    path = tmp_path / "model.rt"
    checkpointer = Checkpointer(path, every_rows=25)
    assert [checkpointer.learned(clf, 10) for _ in range(7)] == [0, 0, 1, 0, 0, 1, 0]
    now = [1000.0]
    monkeypatch.setattr("recalltree.model_file.checkpoint.monotonic", lambda: now[0])
    checkpointer = Checkpointer(path, every_minutes=2, every_rows=100)
    found = []
    for seconds, n_rows in ((119, 1), (1, 1), (119, 1), (0, 100), (119, 1), (1, 1)):
        now[0] += seconds
        found.append(checkpointer.learned(clf, n_rows))
    assert found == [False, True, False, True, False, True]
    assert not Checkpointer(path).learned(clf, 10**9)


def test_extra_is_made_when_it_is_due(tmp_path):
    clf = RecallTreeClassifier().partial_fit(*batch_at(0))
    checkpointer = Checkpointer(tmp_path / "model.rt", every_rows=20)
    calls = []
    for n in range(4):
        checkpointer.learned(clf, 10, extra=lambda n=n: calls.append(n) or {"n": n})
    assert calls == [1, 3]
    assert recalltree.load(tmp_path / "model.rt").model_extra_ == {"n": 3}


@pytest.mark.parametrize(
    "wrong", [{"every_rows": 0}, {"every_minutes": -1}, {"every_minutes": float("nan")}]
)
def test_wrong_intervals(tmp_path, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Checkpointer(tmp_path / "model.rt", **wrong)


# --- atomic writing -------------------------------------------------------------------------


@pytest.fixture(params=["unnamed", "named"])
def _way(request, monkeypatch):
    """Both ways of writing a new file, where the system has both."""
    if request.param == "named":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)


@pytest.mark.usefixtures("_way")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("step", ["write", "fsync"])
def test_a_failure_leaves_the_old_file(tmp_path, monkeypatch, error, step):
    path = tmp_path / "model.rt"
    first = RecallTreeClassifier().partial_fit(*batch_at(0))
    first.save(path)
    before = path.read_bytes()

    def fail(*_):
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(type(error)):
            first.partial_fit(*batch_at(20)).save(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    first.save(path)
    assert path.read_bytes() != before


@pytest.mark.usefixtures("_way")
def test_permissions_stay(tmp_path):
    path = tmp_path / "model.rt"
    clf = RecallTreeClassifier().partial_fit(*batch_at(0))
    old = os.umask(0o027)
    try:
        clf.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o640
        path.chmod(0o604)
        clf.save(path)
        assert stat.S_IMODE(path.stat().st_mode) == 0o604
    finally:
        os.umask(old)


@pytest.mark.usefixtures("_way")
def test_the_disk_has_it_before_the_name_does(tmp_path, monkeypatch):
    """The content is synchronised, then the file is renamed, then the folder is synchronised."""
    steps = []
    fsync, replace = os.fsync, Path.replace

    def synchronise(descriptor):
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        steps.append(f"fsync {kind}")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", synchronise)
    monkeypatch.setattr(Path, "replace", lambda *a: steps.append("rename") or replace(*a))
    atomic.write_atomically(tmp_path / "new", [memoryview(b"content")])
    assert steps == ["fsync file", "rename", "fsync folder"]
    assert (tmp_path / "new").read_bytes() == b"content"
