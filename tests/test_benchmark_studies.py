"""Studies of parsing and of mapped files: on a tiny set, end to end."""

from benchmark_runs import report_of


def test_parsing_is_measured_and_reported(tmp_path, capsys):
    options = ("--sets", "generated-sparse", "--rows", "500", "--repeats", "1")
    (result,) = report_of("parsing", tmp_path, *options)["results"]
    assert {"parse", "train memory", "train text", "train gzip"} <= result["times"].keys()
    assert result["ratios"]["text / memory"]["cpu"] > 0
    assert "text / memory" in capsys.readouterr().out


def test_mapped_models_are_compared_with_models_in_memory(tmp_path, capsys):
    options = ("--sets", "generated-sparse", "--rows", "300", "--repeats", "1")
    results = report_of("mapped", tmp_path, *options)["results"]
    assert len({r["algorithm"] for r in results}) == 4
    assert all(r["memory"] > 0 and r["first"] > 0 and r["later"] > 0 for r in results)
    assert "later batches" in capsys.readouterr().out
