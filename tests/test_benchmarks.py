"""The benchmark harness: its formats and arithmetic, and each program end to end on a tiny set."""

import dataclasses
import json
import sys
import time
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from benchmark_runs import command_line, report_of
from benchmarks import comparison, datasets, measure, report, study, vowpal
from benchmarks.measure import Stopwatch, Times

needs_vowpal = pytest.mark.skipif(
    not vowpal.is_available(), reason="the vowpalwabbit wheel is not installed (extra: bench)"
)


def write_svmlight(path: Path, text: str) -> None:
    zstandard = pytest.importorskip("zstandard", reason="zstandard not installed (extra: bench)")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor().compress(text.encode()))


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    for name in ("glyphs", "webdirectory"):
        write_svmlight(tmp_path / name / "train.svm.zst", "2 1:0.5 3:0.25\n0 2:1\n0\n")
        write_svmlight(tmp_path / name / "test.svm.zst", "1 4:2\n")
    return tmp_path


# datasets


def test_files_become_dense_or_sparse_rows_of_one_width(data_dir, tmp_path):
    expected = [[0.5, 0, 0.25, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    dense = datasets.load("glyphs", data_dir, tmp_path / "cache")
    sparse = datasets.load("webdirectory", data_dir, tmp_path / "cache")
    assert isinstance(dense.X_train, np.ndarray)
    assert sp.issparse(sparse.X_train)
    assert dense.X_train.dtype == sparse.X_train.dtype == np.float32
    np.testing.assert_array_equal(dense.X_train, expected)
    np.testing.assert_array_equal(sparse.X_train.toarray(), expected)
    np.testing.assert_array_equal(dense.X_test, [[0, 0, 0, 2]])
    for dataset in (dense, sparse):
        assert dataset.y_train.tolist() == [2, 0, 0]
        assert dataset.y_test.tolist() == [1]
        assert (dataset.n_classes, dataset.n_features) == (3, 4)


def test_cached_arrays_are_used_until_the_files_change(data_dir, tmp_path, monkeypatch):
    cache = tmp_path / "cache"
    first = datasets.load("glyphs", data_dir, cache)
    with monkeypatch.context() as patched:
        patched.setattr(datasets, "read_svmlight", None)
        assert datasets.load("glyphs", data_dir, cache).key == first.key
    write_svmlight(data_dir / "glyphs" / "test.svm.zst", "1 4:2\n1 4:3\n")
    changed = datasets.load("glyphs", data_dir, cache)
    assert changed.key != first.key
    assert len(changed.y_test) == 2


@pytest.mark.parametrize("name", datasets.GENERATED_SETS)
def test_generated_sets_are_the_same_every_time_and_survive_the_cache(name, tmp_path):
    first, again = datasets.generate(name, 200, 50), datasets.generate(name, 200, 50)
    path = datasets.arrays_path(first, tmp_path)
    for dataset in (again, datasets.load_arrays(path)):
        assert (dataset.name, dataset.key) == (first.name, first.key)
        assert dataset.n_classes == first.n_classes
        for part in ("X_train", "X_test", "y_train", "y_test"):
            expected, found = getattr(first, part), getattr(dataset, part)
            assert found.dtype == expected.dtype
            if sp.issparse(expected):
                assert (found != expected).nnz == 0
            else:
                np.testing.assert_array_equal(found, expected)
    assert first.X_train.dtype == np.float32
    assert first.y_train.max() < first.n_classes


def test_head_has_a_key_of_its_own():
    dataset = datasets.generate("generated-dense", 50, 20)
    head = dataset.head(30)
    assert (len(head.y_train), head.X_train.shape[0]) == (30, 30)
    assert len(head.y_test) == 20
    assert head.key != dataset.key


def test_missing_data_is_explained(tmp_path):
    with pytest.raises(ValueError, match="give --data-dir"):
        datasets.load("glyphs", None, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"train\.svm\.zst"):
        datasets.load("glyphs", tmp_path, tmp_path)
    with pytest.raises(SystemExit, match="error: set 'glyphs'"):
        command_line.main(
            ["vowpal", "--sets", "glyphs", "--programs", "recalltree", "--cache-dir", str(tmp_path)]
        )


# Vowpal Wabbit's formats


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("chunk", [1, 2, 4096])
def test_rows_as_vowpal_text(layout, chunk):
    X = layout(np.array([[0.1, 0, 3], [0, 0, 0], [0, -2.5e-7, 0]], dtype=np.float32))
    lines = list(vowpal.format_rows(X, np.array([0, 6, 2], dtype=np.int32), chunk))
    assert lines == ["1 | 1:0.1 3:3.0\n", "7 | \n", "3 | 2:-2.5e-07\n"]


def test_values_of_vowpal_text_are_exact():
    values = np.random.default_rng(0).normal(size=(1, 200)).astype(np.float32)
    (line,) = vowpal.format_rows(values, np.array([0]))
    found = [np.float32(pair.split(":")[1]) for pair in line.split()[2:]]
    np.testing.assert_array_equal(found, values[0])


def test_predictions_of_vowpal():
    assert vowpal.parse_predictions("3\n1 a-tag\n0\n").tolist() == [2, 0, -1]
    assert vowpal.parse_predictions("").tolist() == []


def test_table_bits_leave_room_for_every_weight():
    dense = datasets.generate("generated-dense", 10, 10)
    assert 2 ** vowpal.table_bits(dense) >= 3 * dense.n_classes * dense.n_features
    assert vowpal.table_bits(dataclasses.replace(dense, name="wikipassage")) == 28


def test_net_time_is_raw_less_start_and_reading():
    slow = vowpal.Phase(Times(9, 8, 1), start=Times(1, 1, 0), reading=Times(2, 1, 0.5))
    fast = vowpal.Phase(Times(8, 7, 0), start=Times(2, 2, 0), reading=Times(3, 2, 0.5))
    assert slow.net == Times(6, 6, 0.5)
    assert vowpal.Phase.best([slow, fast]).net == Times(5, 5, -0.5)


# measuring


def test_times_per_example():
    times = Times(wall=3.0, user=1.5, system=0.5)
    assert times.per_example(1000) == {"wall": 3000, "user": 1500, "cpu": 2000}
    assert measure.best([times, Times(9, 1, 0.5), Times(1, 3, 0)]) == Times(9, 1, 0.5)


def test_stopwatch_counts_work_and_not_waiting():
    with Stopwatch() as work:
        sum(range(1_000_000))
    with Stopwatch() as wait:
        time.sleep(0.05)
    assert 0 < work.times.cpu <= work.times.wall * 1.5
    assert wait.times.wall >= 0.05 > wait.times.cpu


def test_peak_memory_is_the_commands_own():
    ballast = np.ones(40_000_000)  # 320 MB in this process, which no child may inherit
    idle = measure.run([sys.executable, "-c", "pass"])
    busy = measure.run([sys.executable, "-c", "print(len(bytearray(100_000_000)))"])
    assert ballast.size == 40_000_000
    assert idle.peak_rss < 60e6
    assert busy.peak_rss > idle.peak_rss + 90e6
    assert busy.output == "100000000\n"
    assert busy.times.wall > 0


def test_a_failing_command_is_shown_with_its_output():
    with pytest.raises(RuntimeError, match=r"(?s)exit code 3 .*alas"):
        measure.run([sys.executable, "-c", "print('alas'); raise SystemExit(3)"])


# reports


def example_result() -> dict:
    def times(cpu: float) -> dict:
        return {"wall": 2 * cpu, "user": cpu / 2, "cpu": cpu}

    parts = ("raw", "start", "reading", "net")
    theirs = {
        "error": 0.449,
        "train": dict(zip(parts, map(times, (130.0, 1.0, 4.0, 125.0)), strict=True)),
        "predict": dict(zip(parts, map(times, (30.0, 25.0, 6.0, -1.0)), strict=True)),
        "peak_rss": 200_000_000,
    }
    mine = {
        "error": 0.44,
        "train": times(12.5),
        "predict": times(2.0),
        "peak_rss": 100_000_000,
        "memory_bytes": 2_500_000,
        "candidate_recall": 0.75,
    }
    return {
        "set": "glyphs",
        "algorithm": "recall-tree",
        "vowpal": theirs,
        "recalltree": mine,
        "ratios": comparison.ratios(theirs, mine),
    }


def test_ratios_are_of_net_times():
    ratios = example_result()["ratios"]
    assert ratios["train"] == {"wall": 10, "user": 10, "cpu": 10}
    assert ratios["predict"]["cpu"] is None  # net time within the noise
    assert ratios["peak_rss"] == 2
    assert ratios["error_points"] == pytest.approx(-0.9)
    assert comparison.ratios(None, example_result()["recalltree"]) is None


def test_table_lines():
    result = example_result()
    theirs = ["glyphs", "recall-tree", "vowpal", "44.9", "125", "130", "", "-1", "30", "", "200"]
    mine = ["glyphs", "recall-tree", "recalltree", "44.0", "12.5", "", "10x", "2", "", "?x", "100"]
    assert report.cells(result, "vowpal") == [*theirs, "", ""]
    assert report.cells(result, "recalltree") == [*mine, "2.5", "75.0"]
    assert report.table([result]).row_count == 2


def test_json_report(tmp_path):
    path = tmp_path / "results" / "report.json"
    options = Namespace(command="vowpal", json=path)
    study.publish(options, [example_result()], skipped=["a note"])
    content = json.loads(path.read_text())
    assert content["command"] == "python -m benchmarks vowpal --json FILE"
    assert content["skipped"] == ["a note"]
    assert content["results"] == [example_result()]
    assert content["versions"]["numpy"] == np.__version__
    assert content["machine"]["cores"] > 0
    assert [file.name for file in path.parent.iterdir()] == ["report.json"]


def test_processor_name(tmp_path):
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text("processor\t: 0\nmodel name\t: A Chip 9000\n")
    assert report.processor(cpuinfo) == "A Chip 9000"
    assert report.processor(tmp_path / "none")


def test_command_of_a_report_names_no_place():
    words = ["vowpal", "--data-dir", "/secret", "--json", "/secret/x", "--sets", "glyphs"]
    options = command_line.build_parser().parse_args([*words, "--parameters", '{"loss": "hinge"}'])
    command = study.canonical_command(options)
    assert "secret" not in command
    assert "--data-dir DIR --sets glyphs" in command
    assert """--parameters '{"loss": "hinge"}'""" in command


# end to end


def run_harness(tmp_path: Path, *arguments: str) -> dict:
    """Compare on a few rows and return the report."""
    return report_of("vowpal", tmp_path, "--rows", "400", "--repeats", "1", *arguments)


@pytest.mark.parametrize(
    ("name", "algorithms"),
    [("generated-dense", comparison.ALGORITHMS), ("generated-sparse", ("recall-tree",))],
)
def test_our_side_end_to_end(name, algorithms, tmp_path, capsys):
    arguments = ("--programs", "recalltree", "--sets", name, "--algorithms", *algorithms)
    content = run_harness(tmp_path, *arguments)
    assert [r["algorithm"] for r in content["results"]] == list(algorithms)
    for result in content["results"]:
        mine = result["recalltree"]
        assert result["vowpal"] is None
        assert (result["n_train"], result["n_test"]) == (400, 400)
        assert 0 <= mine["error"] <= 1
        assert mine["train"]["cpu"] > 0
        assert mine["predict"]["cpu"] > 0
        assert mine["peak_rss"] >= mine["memory_bytes"] > 0
        assert mine["parameters"]["shuffle"] is False
        recall = mine["candidate_recall"]
        if result["algorithm"] in ("one-against-some", "recall-tree"):
            assert 1 - mine["error"] <= recall <= 1
        else:
            assert recall is None
    assert "recall-tree" in capsys.readouterr().out


@needs_vowpal
def test_vowpal_side_end_to_end(tmp_path, capsys):
    arguments = ("--programs", "vowpal", "--sets", "generated-dense")
    content = run_harness(tmp_path, *arguments)
    assert content["versions"]["vowpalwabbit"] == vowpal.version()
    for result in content["results"]:
        theirs = result["vowpal"]
        assert theirs["train"]["raw"]["cpu"] > theirs["train"]["net"]["cpu"]
        assert theirs["commands"]["train"].startswith("vw -d train.txt --cache_file train.cache")
    errors = {r["algorithm"]: r["vowpal"]["error"] for r in content["results"]}
    assert errors["one-against-all"] < 0.5  # 0.995 is chance
    assert "lom-tree" in capsys.readouterr().out


@needs_vowpal
def test_both_sides_give_ratios(tmp_path):
    arguments = ("--sets", "generated-sparse", "--algorithms", "recall-tree")
    (result,) = run_harness(tmp_path, *arguments)["results"]
    assert result["ratios"]["train"]["cpu"] is None or result["ratios"]["train"]["cpu"] > 0
    assert result["ratios"]["peak_rss"] > 0


def test_one_against_all_is_left_out_where_it_would_not_end(tmp_path, capsys):
    arguments = ("--programs", "recalltree", "--sets", "generated-dense", "--algorithms")
    limit = ("one-against-all", "lom-tree", "--one-against-all-limit", "1e4")
    content = run_harness(tmp_path, *arguments, *limit)
    assert [r["algorithm"] for r in content["results"]] == ["lom-tree"]
    assert "one-against-all on generated-dense" in content["skipped"][0]
    assert "left out: one-against-all" in capsys.readouterr().out
