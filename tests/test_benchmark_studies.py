"""The studies of the Recall Tree's choices: on a tiny set, end to end."""

from benchmark_runs import report_of
from benchmarks import choices, datasets

from recalltree import RecallTreeClassifier


def test_the_first_combination_is_that_of_the_defaults():
    every = list(choices.combinations())
    defaults = RecallTreeClassifier().get_params()
    assert every[0] == {name: defaults[name] for name in choices.CHOICES}
    assert len({tuple(choice.values()) for choice in every}) == len(every) == 3 * 2 * 3


def test_choices_are_measured_and_reported(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(choices, "CHOICES", {"path_features": ("leaf", "none")})
    content = report_of("choices", tmp_path, "--sets", "generated-dense", "--rows", "300")
    assert [r["path_features"] for r in content["results"]] == ["leaf", "none"]
    for result in content["results"]:
        assert result["error"] >= 1 - result["candidate_recall"]
        assert result["train"]["cpu"] > 0
    assert "generated-dense" in capsys.readouterr().out


def test_shares_are_measured_and_reported(tmp_path, capsys):
    dataset = datasets.generate("generated-dense").head(1000)
    content = report_of("shares", tmp_path, "--classes", "5", "--rows", "1000")
    rules = [(r["shares"], r["router_weighting"]) for r in content["results"]]
    assert len(set(rules)) == len(rules) == 6
    assert (content["n_train"], content["n_test"]) == tuple(
        int((y < 5).sum()) for y in (dataset.y_train, dataset.y_test)
    )
    for result in content["results"]:
        assert 0 <= result["error"] < 0.5  # 0.8 by chance
        assert result["n_nodes"] >= 3
    assert "figure 2b" in capsys.readouterr().out


def test_parsing_is_measured_and_reported(tmp_path, capsys):
    options = ("--sets", "generated-sparse", "--rows", "500", "--repeats", "1")
    (result,) = report_of("parsing", tmp_path, *options)["results"]
    assert {"parse", "train memory", "train text", "train gzip"} <= result["times"].keys()
    assert result["ratios"]["text / memory"]["cpu"] > 0
    assert "text / memory" in capsys.readouterr().out
