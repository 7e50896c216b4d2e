"""The study of parsing: on a tiny set, end to end."""

from benchmark_runs import report_of


def test_parsing_is_measured_and_reported(tmp_path, capsys):
    options = ("--sets", "generated-sparse", "--rows", "500", "--repeats", "1")
    (result,) = report_of("parsing", tmp_path, *options)["results"]
    assert {"parse", "train memory", "train text", "train gzip"} <= result["times"].keys()
    assert result["ratios"]["text / memory"]["cpu"] > 0
    assert "text / memory" in capsys.readouterr().out
