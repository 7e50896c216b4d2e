"""Training by Ray's tasks, on a real cluster of several nodes: what is lost is done again."""

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from engines import engine
from sklearn.datasets import load_digits

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
ray = engine("ray")
pytest.importorskip("pyarrow.parquet")

import recalltree  # noqa: E402
import recalltree.ray  # noqa: E402
from recalltree.model_file import read_header  # noqa: E402
from recalltree.ray import TrainingError, training  # noqa: E402
from recalltree.readers import BadRowError, BadRowWarning, write_rows  # noqa: E402

X, Y = load_digits(return_X_y=True)
N_ROUNDS = 3
SECONDS = 120
NODE = {"object_store_memory": 120 * 2**20}


@pytest.fixture(scope="module")
def cluster():
    """A head without room for tasks, and two nodes with room for one each."""
    from ray.cluster_utils import Cluster

    cluster = Cluster(
        initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **NODE}
    )
    for _ in range(2):
        cluster.add_node(num_cpus=1, **NODE)
    ray.init(address=cluster.address, log_to_driver=False)
    cluster.wait_for_nodes()
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Two files of text, of different sizes, learned in three rounds."""
    folder = tmp_path_factory.mktemp("rows")
    for name, times in (("a.svm", 4), ("b.svm", 2)):
        with (folder / name).open("wb") as file:
            write_rows(file, np.tile(X, (times, 1)), np.tile(Y, times), format="svmlight")
    return folder


def train(rows, checkpoint, **changed):
    given = {
        "num_workers": 2,
        "sync_every": 2 * len(Y),
        "first_rows": 0,
        "checkpoint": checkpoint,
        "n_features": 64,
        "quiet": True,
    }
    clf = changed.pop("clf", None) or recalltree.OneAgainstSomeClassifier(random_state=0)
    return recalltree.ray.fit(clf, f"{rows}/*.svm", **{**given, **changed})


@pytest.fixture(scope="module")
def undisturbed(cluster, rows, tmp_path_factory):
    path = tmp_path_factory.mktemp("undisturbed") / "model.rt"
    clf = train(rows, path)
    assert clf.n_examples_ == 6 * len(Y)
    assert clf.score(X, Y) > 0.8
    return path


def finished(path):
    """Return how many rounds a checkpoint has seen."""
    with contextlib.suppress(FileNotFoundError):
        return read_header(path)["extra"]["ray"]["finished"]
    return 0


def is_ours(pid):
    """Return whether a process descends from this one."""
    while pid > 1:
        if pid == os.getpid():
            return True
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return False


def workers():
    """Return the processes that learn a shard just now."""
    found = []
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            is_worker = (
                folder.name.isdigit()
                and b"ray::learn_shard" in Path(folder, "cmdline").read_bytes()
            )
            if is_worker and is_ours(int(folder.name)):
                found.append(int(folder.name))
    return found


class Disturbance(threading.Thread):
    """Does something once in every round, while it is being learned."""

    def __init__(self, checkpoint, act):
        super().__init__(daemon=True)
        self.checkpoint, self.act = checkpoint, act
        self.rounds = []
        self.ended = threading.Event()

    def run(self):
        while not self.ended.wait(0.005):
            number = finished(self.checkpoint)
            if number not in self.rounds and (found := workers()):
                self.act(found)
                self.rounds.append(number)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


def test_a_worker_killed_in_every_round_changes_no_byte(rows, undisturbed, tmp_path):
    def kill(pids):
        os.kill(pids[0], signal.SIGKILL)

    with Disturbance(tmp_path / "model.rt", kill) as killer:
        train(rows, tmp_path / "model.rt")
    assert killer.rounds == list(range(N_ROUNDS))
    assert (tmp_path / "model.rt").read_bytes() == undisturbed.read_bytes()


def test_a_training_that_was_killed_goes_on_from_its_checkpoint(rows, undisturbed, tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        textwrap.dedent(f"""
            import ray, recalltree, recalltree.ray
            ray.init(
                "local", num_cpus=2, include_dashboard=False, object_store_memory=120 * 2**20,
            )
            recalltree.ray.fit(
                recalltree.OneAgainstSomeClassifier(random_state=0), {f"{rows}/*.svm"!r},
                num_workers=2, sync_every={2 * len(Y)}, first_rows=0,
                checkpoint="model.rt", n_features=64,
            )
        """)
    )
    path = tmp_path / "model.rt"
    with subprocess.Popen(
        [sys.executable, program], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + SECONDS
        while finished(path) < 1 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.005)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=SECONDS)
    assert process.returncode != 0
    assert "KeyboardInterrupt: interrupted; round" in told
    n_finished = finished(path)
    assert f"model.rt holds the model after round {n_finished}" in told
    assert 1 <= n_finished < N_ROUNDS
    train(rows, path)  # the same call
    assert path.read_bytes() == undisturbed.read_bytes()
    before = path.stat().st_mtime_ns
    assert train(rows, path).n_examples_ == 6 * len(Y)  # nothing is left to do
    assert path.stat().st_mtime_ns == before


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"sync_every": 100}, "sync_every was 3594, is 100"),
        ({"num_workers": 1}, "num_workers was 2, is 1"),
        ({"clf": recalltree.OneAgainstSomeClassifier(learning_rate=0.1)}, "parameters differ"),
        ({"n_features": 65}, "options differ"),
    ],
)
def test_another_training_does_not_go_on_from_it(rows, undisturbed, changed, message):
    before = undisturbed.read_bytes()
    with pytest.raises(ValueError, match=message):
        train(rows, undisturbed, **changed)
    assert undisturbed.read_bytes() == before


def test_a_file_of_another_kind_is_not_written_over(cluster, rows, tmp_path):
    recalltree.RecallTreeClassifier().fit(X, Y).save(tmp_path / "mine.rt")
    with pytest.raises(ValueError, match="was not written by this function"):
        train(rows, tmp_path / "mine.rt")
    with pytest.raises(FileNotFoundError, match="no folder"):
        train(rows, tmp_path / "nowhere" / "model.rt")


def with_bad_row(rows, folder):
    """Copy the rows; one line of the second file is bad. Return its number."""
    (folder / "rows").mkdir()
    (folder / "rows" / "a.svm").write_bytes((rows / "a.svm").read_bytes())
    lines = (rows / "b.svm").read_bytes().splitlines(keepends=True)
    lines[3000] = b"3 7:nonsense\n"
    (folder / "rows" / "b.svm").write_bytes(b"".join(lines))
    return 3001


def test_a_bad_row_is_named_with_file_and_line(cluster, rows, tmp_path):
    line = with_bad_row(rows, tmp_path)
    path = tmp_path / "model.rt"
    with pytest.raises(TrainingError, match=rf"b\.svm, line {line}, column 5: .*'nonsense'") as e:
        train(tmp_path / "rows", path)
    assert isinstance(e.value.__cause__, BadRowError)
    assert e.value.__cause__.line == line
    assert finished(path) == N_ROUNDS - 1
    assert f"{path} holds the model after round 2 ({4 * len(Y):,} rows)" in str(e.value)
    with pytest.warns(BadRowWarning, match=rf"b\.svm, line {line}"):
        clf = train(tmp_path / "rows", tmp_path / "other.rt", on_error="warn")
    assert clf.n_examples_ == 6 * len(Y) - 1


def test_a_full_disk_leaves_the_last_round(cluster, rows, undisturbed, tmp_path):
    resource = pytest.importorskip("resource")
    path = tmp_path / "model.rt"
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def fill(_):
        if finished(path):  # from now on, nothing as large as a model can be written
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size // 2, limit[1]))

    try:
        with Disturbance(path, fill), pytest.raises(TrainingError, match="too large") as error:
            train(rows, path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert f"{path} holds the model after round {finished(path)}" in str(error.value)
    assert 1 <= finished(path) < N_ROUNDS
    assert sorted(p.name for p in tmp_path.iterdir()) == ["model.rt"]
    train(rows, path)
    assert path.read_bytes() == undisturbed.read_bytes()


def test_a_row_is_learned_once_whatever_the_shards(cluster, rows, tmp_path):
    for num_workers, sync_every in ((1, 10**6), (3, 1000)):
        path = tmp_path / f"{num_workers}.rt"
        clf = train(rows, path, num_workers=num_workers, sync_every=sync_every)
        assert clf.n_examples_ == 6 * len(Y)
    one = recalltree.load(tmp_path / "1.rt")  # one worker and one round: no merge
    expected = recalltree.OneAgainstSomeClassifier(random_state=0)
    with recalltree.readers.open_rows(f"{rows}/*.svm", n_features=64) as reader:
        for batch in reader:
            expected.partial_fit(batch.X, batch.y)
    np.testing.assert_array_equal(one.predict_proba(X), expected.predict_proba(X))


def test_tables_and_text_are_learned_with_their_dictionary(cluster, tmp_path):
    words = ["purr meow", "bark wag", "chirp fly"]
    n = 600
    ids = np.arange(n)
    table = pa.table({"kind": [f"k{i % 3}" for i in ids], "text": [words[i % 3] for i in ids]})
    pa.parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=250)
    clf = recalltree.ray.fit(
        recalltree.OneAgainstSomeClassifier(n_passes=2),
        f"file://{tmp_path}/*.parquet",
        num_workers=2,
        sync_every=300,
        checkpoint=tmp_path / "model.rt",
        label_column="kind",
        text_column="text",
        features="dictionary",
        weighting="tf-idf",
        n_features=16,
        quiet=True,
    )
    assert clf.n_examples_ == 2 * n
    state = recalltree.readers.feature_state.FeatureState.unpacked(
        clf.model_extra_["rows"]["state"]
    )
    assert state.n_documents == n
    assert sorted(state.names) == sorted(" ".join(words).split())
    answer = recalltree.arrow.Predictor(tmp_path / "model.rt")
    found = answer(pa.record_batch({"text": words})).column("labels").to_pylist()
    assert found == [["k0"], ["k1"], ["k2"]]


@pytest.mark.parametrize("keys", ["cells", "trees"])
def test_workers_go_on_from_the_first_rows(cluster, tmp_path, keys):
    table = pa.table({"label": np.tile(Y, 4), "x": np.tile(X, (4, 1)).tolist()})
    pa.parquet.write_table(table, tmp_path / "rows.parquet")
    clf = recalltree.ray.fit(
        recalltree.OneAgainstSomeClassifier(keys=keys, random_state=0),
        tmp_path / "rows.parquet",
        num_workers=2,
        sync_every=2500,
        first_rows=2200,  # from these the whitening of cells is learned
        checkpoint=tmp_path / "model.rt",
        label_column="label",
        embedding_columns=["x"],
        quiet=True,
    )
    assert clf.n_examples_ == 4 * len(Y)
    assert clf.score(X, Y) > 0.9
    rounds = read_header(tmp_path / "model.rt")["extra"]["ray"]["n_rounds"]
    assert rounds == 3  # the first rows, and two


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"num_workers": 0}, "num_workers"),
        ({"sync_every": True}, "sync_every"),
        ({"max_retries": -1}, "max_retries"),
        ({"first_rows": -1}, "first_rows"),
        ({"frozen": True}, "frozen is no option"),
        ({"clf": recalltree.LOMTreeClassifier()}, "cannot be merged"),
    ],
)
def test_bad_arguments_are_refused(cluster, rows, tmp_path, changed, message):
    with pytest.raises(ValueError, match=message):
        train(rows, tmp_path / "model.rt", **changed)


# The last one: it takes the nodes away.
def test_a_lost_node_costs_nothing_and_the_last_one_stops(
    cluster, rows, undisturbed, tmp_path, monkeypatch
):
    nodes = list(cluster.worker_nodes)
    path = tmp_path / "model.rt"

    def lose_one(_):
        if finished(path) == 1:
            cluster.remove_node(nodes[0], allow_graceful=False)

    with Disturbance(path, lose_one) as disturbance:
        train(rows, path)
    assert 1 in disturbance.rounds
    assert path.read_bytes() == undisturbed.read_bytes()
    monkeypatch.setattr(training, "_PATIENCE", 1.0)
    other = tmp_path / "other.rt"

    def lose_last(_):
        if finished(other) == 1:
            cluster.remove_node(nodes[1], allow_graceful=False)

    with Disturbance(other, lose_last), pytest.raises(TrainingError) as error:
        train(rows, other)
    assert f"{other} holds the model after round 1" in str(error.value)
    cluster.add_node(num_cpus=1, **NODE)
    cluster.wait_for_nodes()
    train(rows, other)
    assert other.read_bytes() == undisturbed.read_bytes()
