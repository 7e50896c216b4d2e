"""The experiments, end to end on tiny data: runs that can be resumed, and the page of results."""

import doctest
import importlib
import json
import pkgutil
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiment_runs import ROOT, SHORT_RUNS, run
from experiments import __main__ as command_line
from experiments import sampled_negatives
from experiments.comparison import Comparison
from experiments.data.catalogue import SETS, Part, Places, load
from experiments.data.generated import generate_gaussians
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.questions import EXPERIMENTS, cells_ablation, choices
from experiments.questions.bernstein import ALWAYS_DESCEND
from experiments.report import page
from experiments.report.figures import write_figure
from experiments.report.section import FAILS, HOLDS, IN_PART, Finding, Section
from experiments.store import RESULTS, Store, canonical

from recalltree import RecallTreeClassifier


@pytest.fixture(scope="module")
def done(tmp_path_factory) -> Path:
    """A folder with the results of a short run of every experiment."""
    folder = tmp_path_factory.mktemp("experiments")
    for name in SHORT_RUNS:
        run(name, folder)
    return folder


def records(folder: Path, name: str) -> list[dict]:
    return list(Store(name, folder / "results"))


def test_every_experiment_has_a_short_run_here():
    assert set(SHORT_RUNS) | {"vowpal"} == set(EXPERIMENTS)


@pytest.mark.parametrize("name", SHORT_RUNS)
def test_results_say_where_they_come_from(done, name):
    found = records(done, name)
    assert found
    for record in found:
        assert record["command"].startswith(f"python -m experiments run {name} --sets ")
        assert str(done) not in json.dumps(record)
        assert "seed" in record["unit"] or "probe" in record["unit"]
        assert record["versions"]["recalltree"]
        assert record["machine"]["cores"] >= 1
        if "error" in record["result"]:
            assert 0 <= record["result"]["error"] <= 1


def test_a_second_run_does_nothing_and_again_does_it_again(done, monkeypatch, capsys):
    before = {path: path.read_bytes() for path in (done / "results").rglob("*.json")}

    def fail(*_):
        raise AssertionError("this was already done")

    with monkeypatch.context() as patched:
        patched.setitem(EXPERIMENTS, "bernstein", replace(EXPERIMENTS["bernstein"], run=fail))
        run("bernstein", done)
        with pytest.raises(AssertionError):
            run("bernstein", done, "--again")
    assert "10 already done" in capsys.readouterr().err
    assert {path: path.read_bytes() for path in (done / "results").rglob("*.json")} == before


def test_an_interrupted_run_keeps_what_it_finished(tmp_path, monkeypatch, capsys):
    experiment, calls = EXPERIMENTS["bernstein"], []

    def interrupted(unit, bench):
        calls.append(unit)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return experiment.run(unit, bench)

    monkeypatch.setitem(EXPERIMENTS, "bernstein", replace(experiment, run=interrupted))
    with pytest.raises(SystemExit) as ended:
        run("bernstein", tmp_path)
    assert ended.value.code == 130
    assert "continues" in capsys.readouterr().err
    assert len(records(tmp_path, "bernstein")) == 3
    run("bernstein", tmp_path)
    assert len(records(tmp_path, "bernstein")) == 10
    assert len(calls) == 4 + 7  # the unit in progress was done once more, the others were not
    assert not list((tmp_path / "results").rglob("*.partial"))


TIMES = ("seconds", "microseconds")


def without_times(value):
    """Return a result without what differs from run to run."""
    if not isinstance(value, dict):
        return value
    return {k: without_times(v) for k, v in value.items() if not any(t in k for t in TIMES)}


def test_several_processes_find_the_same(done, tmp_path, capsys):
    run("table2", tmp_path, "--jobs", "2")
    assert "32 units done" in capsys.readouterr().err
    one, several = (
        [(r["unit"], without_times(r["result"])) for r in records(folder, "table2")]
        for folder in (done, tmp_path)
    )
    assert several == one
    assert {r["command"] for r in records(tmp_path, "table2")} == {
        r["command"] for r in records(done, "table2")
    }


def test_what_a_unit_needs_comes_before_it():
    for name, experiment in EXPERIMENTS.items():
        parser = command_line.build_parser()
        options = parser.parse_args(["run", name, *SHORT_RUNS.get(name, "").split()])
        earlier = set()
        for unit in experiment.units(command_line.budget_of(options, experiment)):
            assert {canonical(needed) for needed in experiment.needs(unit)} <= earlier
            earlier.add(canonical(unit))


def test_another_budget_is_other_work(done):
    n_before = len(records(done, "bernstein"))
    run("bernstein", done, "--rows", "400")
    try:
        assert len(records(done, "bernstein")) == 2 * n_before
    finally:
        for record in records(done, "bernstein"):
            if record["unit"]["rows"] == 400:
                Store("bernstein", done / "results").path(record["unit"]).unlink()


def test_examples_in_the_docstrings_run():
    names = [
        module.name for module in pkgutil.walk_packages([str(ROOT / "experiments")], "experiments.")
    ]
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    tried = 0
    for name in names:
        result = doctest.testmod(importlib.import_module(name), optionflags=flags)
        assert result.failed == 0, name
        tried += result.attempted
    assert tried > 20


# what the results are


def test_the_best_probe_is_what_is_tuned(done):
    found = records(done, "table2")
    tuned = [r for r in found if r["unit"]["kind"] == "tuned"]
    assert len(tuned) == 2 * 4
    for record in tuned:
        same = [
            r["result"]
            for r in found
            if r["unit"]["kind"] == "probe"
            and all(r["unit"][k] == record["unit"][k] for k in ("set", "algorithm"))
        ]
        best = min(same, key=lambda result: result["validation_error"])
        assert len(same) == 2
        assert record["result"]["parameters"] == best["parameters"]
        assert record["result"]["tuning"]["validation_error"] == best["validation_error"]


def test_one_against_all_samples_negatives_where_it_is_too_slow(done):
    for record in records(done, "table2"):
        result, unit = record["result"], record["unit"]
        if unit["algorithm"] == "one-against-all" and unit["kind"] != "probe":
            assert result["negative_samples"] == 64
            assert result["full_seconds_estimate"] > 0
        elif unit["kind"] != "probe":
            assert "negative_samples" not in result


class Constant:
    """Answers with the class seen last."""

    def partial_fit(self, X, y):
        self.last = y[-1]

    def predict(self, X):
        return np.full(len(X), self.last)


def test_progressive_validation_of_one_against_all_asks_before_it_learns():
    y = np.repeat([0, 0, 1, 1, 1], sampled_negatives.VALIDATION_BLOCK)
    dataset = replace(generate_gaussians(2, len(y), 10), y_train=y)
    error, seconds = sampled_negatives.learn_validated(Constant(), ArrayTask(dataset))
    assert error == 2 / 5  # the first block, and the first of the other class
    assert seconds >= 0


def test_curves_end_with_the_progressive_error(done):
    for record in records(done, "online"):
        result = record["result"]
        assert result["curve"]["examples"][-1] == result["progressive_n"] == 1500
        assert result["curve"]["error"][-1] == pytest.approx(result["progressive_error"], abs=1e-5)
        wrong = result["progressive_wrong"] / result["progressive_n"]
        assert wrong == pytest.approx(result["progressive_error"], abs=1e-3)


def test_recall_bounds_error_and_tests_the_bound(done):
    for record in records(done, "bernstein"):
        result = record["result"]
        assert result["error"] >= 1 - result["candidate_recall"]
        assert 0 <= result["mean_depth"] <= result["depth"]
        if record["unit"]["bound_lambda"] == ALWAYS_DESCEND:
            deepest = result["mean_depth"]
            assert result["mean_bound"] == 0
    assert all(r["result"]["mean_depth"] <= deepest for r in records(done, "bernstein"))


def test_costs_are_counted_for_the_classes_chosen(done):
    for record in records(done, "cost"):
        unit, result = record["unit"], record["result"]
        if "left_out" in result:
            assert unit["algorithm"] == "one-against-all"
        elif unit["algorithm"] == "one-against-all":
            assert result["predict_evaluations"] == result["n_classes_seen"] <= unit["n_classes"]
            assert result["train_evaluations"] <= 2 * unit["n_classes"]
        else:
            assert result["predict_evaluations"] <= result["max_candidates"] + result["depth"]


def test_the_first_combination_is_that_of_the_defaults():
    every = list(choices.combinations())
    defaults = RecallTreeClassifier().get_params()
    assert every[0] == {name: defaults[name] for name in choices.CHOICES}
    assert len({tuple(choice.values()) for choice in every}) == len(every) == 3 * 2 * 3


def test_combinations_and_shares_are_measured(done):
    data = load("generated-dense", Places(None, done / "cache"), Part(rows=1000)).dataset
    found = {"combination": [], "shares": []}
    for record in records(done, "choices"):
        found[record["unit"]["kind"]].append(record)
    assert len(found["combination"]) == 18
    for record in found["combination"]:
        assert record["result"]["error"] >= 1 - record["result"]["candidate_recall"]
        assert record["result"]["train_microseconds"] > 0
    rules = [(r["unit"]["rule"], r["unit"]["router_weighting"]) for r in found["shares"]]
    assert len(set(rules)) == len(rules) == 6
    for record in found["shares"]:
        result = record["result"]
        assert (result["n_train"], result["n_test"]) == tuple(
            int((y < 5).sum()) for y in (data.y_train, data.y_test)
        )
        assert 0 <= result["error"] < 0.5  # 0.8 by chance
        assert result["n_nodes"] >= 3


def test_a_stream_changes_half_way(done):
    found = records(done, "drift")
    by_stream = {
        (r["unit"]["algorithm"], r["unit"]["stream"], r["unit"]["half_life"]): r["result"]
        for r in found
    }
    for algorithm in ("one-against-some", "recall-tree", "one-against-all"):
        calm, changed, again = (
            by_stream[algorithm, stream, None] for stream in ("undisturbed", "changed", "restarted")
        )
        assert calm["window_error"][:50] == changed["window_error"][:50]
        assert calm["window_error"][50:] != changed["window_error"][50:]
        assert len(again["window_error"]) == 50
        assert again["ends"] == changed["ends"][50:]
    fading = by_stream["one-against-some", "changed", 0.03]
    assert fading["window_error"] != by_stream["one-against-some", "changed", None]["window_error"]


def test_late_classes_have_the_same_examples(done):
    for record in records(done, "late-classes"):
        result = record["result"]
        assert result["n_late_rows"] == pytest.approx(0.05 * result["n_train"], abs=10)
        assert result["late_n_test"] + result["others_n_test"] == 500
        assert result["late_error"] == result["late_wrong"] / result["late_n_test"]


def test_no_example_takes_more_than_the_most(done):
    for record in records(done, "scaling"):
        result = record["result"]
        for step in ("train", "predict"):
            for counted in ("evaluations", "entries"):
                most = result[f"{step}_most_{counted}"]
                assert most == int(most) >= 0
                if step == "predict":  # the same rows
                    assert most >= result[f"{step}_{counted}"]


def test_texts_are_learned_in_order_by_all_methods(done):
    found = [r for r in records(done, "one-against-some") if r["unit"]["kind"] == "progressive"]
    assert {r["unit"]["algorithm"] for r in found} == {
        "one-against-some",
        "recall-tree",
        "lom-tree",
        "averaged-embeddings",
    }
    for record in found:
        curve, result = record["result"]["curve"], record["result"]
        assert curve["examples"] == sorted(curve["examples"])
        assert curve["error"][-1] == pytest.approx(result["progressive_error"], abs=1e-5)
        assert result["n_judged"] == 400


def test_variants_of_cells_are_compared_with_the_defaults_row_by_row(done):
    found = records(done, "cells-ablation")
    usual = {r["unit"]["kind"]: r["result"] for r in found if r["unit"]["what"] == "defaults"}
    assert set(usual) == {"estimator", "reference"}
    differ = dict.fromkeys(usual, 0)
    for record in found:
        kind, result = record["unit"]["kind"], record["result"]
        if record["unit"]["what"] != "defaults":
            assert result["wrong"] == usual[kind]["wrong"] + result["lost"] - result["won"]
            differ[kind] += result["lost"] + result["won"]
    assert all(differ.values())


def test_a_change_of_cells_is_called_better_only_if_it_is_beyond_the_noise():
    def of(lost, won):
        return cells_ablation.difference([{"result": {"lost": lost, "won": won, "n_test": 1000}}])

    assert of(lost=10, won=40) == ("-3.00 ± 0.70", "better")
    assert of(lost=40, won=10) == ("+3.00 ± 0.70", "worse")
    assert of(lost=25, won=30) == ("-0.50 ± 0.74", "within noise")
    assert of(lost=0, won=0) == ("0.00", "the same")


# the page


def test_the_page_is_made_from_the_results_alone_and_the_same_every_time(done, tmp_path, capsys):
    docs = tmp_path
    command_line.main(["--results", str(done / "results"), "report", "--docs", str(docs)])
    text = (docs / "results.md").read_text()
    again, sections = page.build(EXPERIMENTS.values(), done / "results")
    assert again == text
    for section in sections[1:6:4]:  # a line and a map
        name, draw = list(section.figures.items())[-1]
        write_figure(docs / "again.svg", draw)
        assert (docs / "again.svg").read_bytes() == (docs / "results" / f"{name}.svg").read_bytes()
    assert "No results yet" not in text
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}" in text
    figures = list((docs / "results").glob("*.svg"))
    assert len(figures) >= 10
    for figure in figures:
        assert f"results/{figure.name}" in text
        assert ElementTree.parse(figure).getroot().tag.endswith("svg")


def test_the_summary_has_every_claim_once_and_links_to_sections():
    text, sections = page.build(EXPERIMENTS.values(), RESULTS)
    summary = text.split("## Summary")[1].split("\n## ")[0]
    anchors = {page.anchor(experiment.title) for experiment in EXPERIMENTS.values()}
    linked = re.findall(r"\]\(#([\w-]+)\)", text)
    assert linked
    assert set(linked) <= anchors
    for section in sections:
        for finding in section.findings:
            assert summary.count(f"| {finding.claim} |") == 1
            assert finding.measured in summary


def test_findings_on_several_sets_are_one_line_of_the_summary():
    findings = [Finding("it helps", HOLDS, "a: 1"), Finding("it helps", FAILS, "b: 2")]
    (row,) = page.summary_rows(EXPERIMENTS["online"], findings)
    assert row[:3] == ["it helps", f"**{IN_PART}**", "a: 1; b: 2"]


def test_results_of_superseded_budgets_are_not_kept():
    assert Comparison(list(Store("table2", RESULTS))).superseded() == []


def test_figures_of_the_page_before_are_removed_and_other_pictures_stay(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    for name in ("old", "other"):
        (folder / f"{name}.svg").write_text("<svg/>")
    section = Section()
    section.figure("old", "Errors", lambda figure: figure.add_subplot())
    (tmp_path / "results.md").write_text("\n".join(section.blocks))
    page.write([], tmp_path / "none", tmp_path)
    assert [path.name for path in folder.iterdir()] == ["other.svg"]


def test_without_results_the_page_names_the_command():
    text, _ = page.build(EXPERIMENTS.values(), Path("nowhere"))
    for name in EXPERIMENTS:
        assert f"`python -m experiments run {name} --data-dir DIR`" in text


def test_the_committed_page_is_that_of_the_committed_results():
    text, sections = page.build(EXPERIMENTS.values(), RESULTS)
    assert (ROOT / "docs" / "results.md").read_text() == text, "run: python -m experiments report"
    for section in sections:
        for figure in section.figures:
            assert (ROOT / "docs" / "results" / f"{figure}.svg").exists()


# the command line


def test_list_names_everything(capsys):
    command_line.main(["list"])
    shown = capsys.readouterr().out
    for name in [*EXPERIMENTS, *SETS]:
        assert name in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--sets", "glyphs"], "give --data-dir"),
        (["--sets", "glyphs", "--data-dir", "nowhere"], "no file nowhere"),
        (["--sets", "wikitext", "--data-dir", "nowhere"], r"vocab\.txt"),
        (["--sets", "tomatoes"], "no set 'tomatoes'; there are aloi,"),
        (["--seeds", "0"], "--seeds 0: it must be 1 or more"),
        (["--jobs", "0"], "--jobs 0: it must be 1 or more"),
        (["--rows", "-3"], "--rows -3: it must be 1 or more"),
        (["--sets", "generated-dense", "--start", "7"], "is no text"),
    ],
)
def test_errors_say_what_would_work(options, message, tmp_path):
    arguments = ["--results", str(tmp_path), "run", "bernstein", *options]
    with pytest.raises(SystemExit, match=f"error: .*{message}"):
        command_line.main([*arguments, "--cache-dir", str(tmp_path)])


def test_defaults_of_an_experiment_give_way_to_what_is_given():
    parser = command_line.build_parser()
    for given, expected in (([], 20), (["--passes", "3"], 3)):
        options = parser.parse_args(["run", "table2", *given])
        experiment: Experiment = EXPERIMENTS["table2"]
        assert command_line.budget_of(options, experiment).passes == expected
    options = parser.parse_args(["run", "table2", "--test-rows", "0"])
    assert command_line.budget_of(options, experiment).test_rows is None
