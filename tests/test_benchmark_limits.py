"""The studies of what limits one-against-some: memory, and threads that share a model."""

import json

import pytest
from benchmark_runs import command_line, report_of
from benchmarks import compiled, datasets, memory_speed, threads
from benchmarks.memory import Touched
from benchmarks.memory_speed import MemorySpeed


@pytest.fixture
def compiler():
    try:
        compiled.compiler()
    except FileNotFoundError as error:
        pytest.skip(str(error))


def test_memory_is_measured(compiler):
    small, large = (MemorySpeed.measure(size, repeats=2) for size in (2**14, 2**27))
    assert (small.array_bytes, large.array_bytes) == (2**14, 2**27)
    # Whatever the machine: the nearest cache is quicker than memory, and memory that is asked for
    # many lines at a time quicker than one that is asked one by one.
    assert 1 < large.gb_per_second < small.gb_per_second
    assert small.latency < large.latency
    assert large.line < large.latency


def test_without_a_compiler_the_error_says_what_to_do(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    memory_speed._library.cache_clear()
    with pytest.raises(SystemExit, match=r"no C compiler \(cc, gcc, clang\).*variable CC"):
        command_line.main(["memory", "--sets", "generated-dense"])
    monkeypatch.setenv("CC", "no-such-compiler -m64")
    with pytest.raises(FileNotFoundError, match=r"no C compiler \(no-such-compiler\)"):
        MemorySpeed.measure(2**14)


def test_what_an_example_touches_follows_from_the_counts():
    work = {
        "histogram_touches": 100.0,
        "router_evaluations": 6.0,
        "predictor_evaluations": 10.0,
        "pair_lookups": 40.0,
        "pairs_found": 30.0,
        "pairs_changed": 5.0,
    }
    by_features = Touched.by_features(work, n_keys=8)
    assert by_features == Touched(8 * 8 + 1200, 2 * 8 + 3 * 10 + 30)
    by_trees = Touched.by_trees(work, n_features=32, n_nodes=4)
    assert by_trees == Touched(17 * 128 + 800, 2 * 16 + 6 + 2 * 4)
    speed = MemorySpeed(array_bytes=1, gb_per_second=10, latency=100, line=20)
    limits = Touched(10_000, 50).limits(speed, microseconds=6)
    assert limits == pytest.approx({"sequence": 1, "random": 1, "one_by_one": 5, "ratio": 3})


def test_the_limits_of_memory_are_reported(compiler, tmp_path, capsys):
    options = ("--rows", "500", "--repeats", "1", "--large-megabytes", "16")
    content = report_of("memory", tmp_path, *options)
    lines = {(r["set"], r["phase"]): r for r in content["results"]}
    assert lines.keys() == {
        (name, phase) for name in datasets.GENERATED_SETS for phase in ("train", "predict")
    }
    for (name, phase), line in lines.items():
        assert line["work"]["examples_learned" if phase == "train" else "examples_predicted"] == 1
        assert (line["work"]["pair_lookups"] > 0) == (name == "generated-sparse")
        assert line["work"]["pairs_found"] <= line["work"]["pair_lookups"]
        for memory in line["memory"].values():
            limit = memory["sequence"] + memory["random"]
            assert memory["ratio"] == pytest.approx(line["time"] / limit)
        assert line["memory"]["large"]["array_bytes"] == 2**24
    sparse = lines["generated-sparse", "predict"]
    assert sparse["lines_at_random"] > sparse["work"]["pairs_found"]
    assert "generated-sparse" in capsys.readouterr().out


def test_threads_are_compared_and_reported(tmp_path, capsys):
    table = tmp_path / "threads.md"
    options = (
        "--sets",
        "generated-dense",
        "--rows",
        "3000",
        "--repeats",
        "2",
        "--threads",
        "1,2,3",
    )
    chosen = ("--algorithms", "one-against-some", "lom-tree", "--markdown", str(table))
    results = report_of("threads", tmp_path, *options, *chosen)["results"]
    assert [r["algorithm"] for r in results] == ["one-against-some", "lom-tree"]
    for result in results:
        one, two, three = (result["threads"][n] for n in "123")
        for phase in ("train", "predict"):
            assert two["ratios"][phase] == pytest.approx(one[phase] / two[phase])
        assert one["error_points"] == 0.0
        assert abs(two["error_points"]) < 5  # of 3,000 rows
        assert two["error"] == three["error"] < 0.8
        assert not two["errors_differ"]
    assert "generated-dense | lom-tree | 1 |" in table.read_text()
    assert "generated-dense" in capsys.readouterr().out


def test_one_against_all_is_left_out_where_it_takes_too_long(tmp_path):
    options = ("--sets", "generated-dense", "--rows", "200", "--repeats", "1", "--threads", "1,2")
    few = ("--algorithms", "one-against-all", "lom-tree", "--one-against-all-limit", "100")
    results = report_of("threads", tmp_path, *options, *few)["results"]
    assert [r["algorithm"] for r in results] == ["lom-tree"]


def test_threads_read_arrays_that_were_made_elsewhere(tmp_path):
    folder, output = tmp_path / "arrays", tmp_path / "report.json"
    made = ["--sets", "generated-sparse", "--rows", "300", "--save-npz", str(folder)]
    command_line.main(["threads", *made, "--cache-dir", str(tmp_path)])
    options = [
        "--npz",
        str(folder),
        "--sets",
        "generated-sparse",
        "--repeats",
        "1",
        "--rows",
        "200",
    ]
    places = ["--json", str(output), "--cache-dir", str(tmp_path)]
    threads.main([*options, "--threads", "1,2", "--algorithms", "one-against-some", *places])
    (result,) = json.loads(output.read_text())["results"]
    assert result["n_train"] == result["n_predict"] == 200


@pytest.mark.parametrize("given", ["1", "2,4", "two"])
def test_one_thread_is_compared_with_others(given, tmp_path, capsys):
    with pytest.raises(SystemExit):
        command_line.main(["threads", "--threads", given, "--cache-dir", str(tmp_path)])
    assert "--threads" in capsys.readouterr().err
