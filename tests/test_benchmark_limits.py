"""The studies of what limits one-against-some: memory, and threads that share a model."""

import pytest
from benchmark_runs import command_line, report_of
from benchmarks import compiled, datasets, memory_speed
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
    options = ("--sets", "generated-dense", "--rows", "3000", "--repeats", "2")
    (result,) = report_of("threads", tmp_path, *options)["results"]
    one, two = result["threads"]["1"], result["threads"]["2"]
    for phase in ("train", "predict"):
        assert result["ratios"][phase] == pytest.approx(one[phase] / two[phase])
    assert one["error"]["least"] == one["error"]["largest"]  # reproducible
    assert two["error"]["least"] <= two["error"]["mean"] <= two["error"]["largest"] < 0.5
    assert abs(result["error_points"]) < 5  # of 3,000 rows
    assert "generated-dense" in capsys.readouterr().out


def test_one_thread_is_not_compared_with_itself(tmp_path):
    with pytest.raises(SystemExit, match="--threads 1"):
        command_line.main(["threads", "--threads", "1", "--cache-dir", str(tmp_path)])
