"""The tables and the picture of README and docs/comparison.md are those of the stored results."""

import json

import pytest
from benchmarks import picture, stored, tables


@pytest.mark.parametrize("page", [tables.README, tables.COMPARISON], ids=lambda page: page.name)
def test_a_page_has_the_tables_of_the_stored_results(page):
    text = page.read_text(encoding="utf-8")
    assert text.count("<!-- table: ") == text.count("<!-- end of table -->") > 0
    assert tables.with_tables(text) == text, "run: python -m benchmarks tables"


def test_every_set_is_compared_and_ours_is_there_once():
    text = tables.COMPARISON.read_text(encoding="utf-8")
    for name, stored_set in tables.SETS.items():
        assert f"<!-- table: {name} -->" in text
        names = [method.name for method in stored_set.methods()]
        assert len(names) == len(set(names)) > 4
        assert names.count(stored.OURS) == 1


def test_readme_repeats_lines_of_the_comparison():
    comparison = tables.COMPARISON.read_text(encoding="utf-8")
    for line in tables.for_readme()[2:]:
        cells = line.strip("| ").split(" | ")[-4:]
        assert " | ".join(cells) in comparison


def test_the_picture_is_that_of_the_stored_results():
    drawn = picture.draw([picture.text_panel(), picture.embeddings_panel()])
    assert picture.PICTURE.read_text() == drawn, "run: python -m benchmarks picture"


def test_every_point_lies_within_its_axes():
    for panel in (picture.text_panel(), picture.embeddings_panel()):
        assert len(panel.points) > 4
        for point in panel.points:
            assert panel.times[0] <= point.time <= panel.times[1]
            assert panel.errors[0] <= point.error <= panel.errors[1]


def result(program, cpu, **more):
    times = {"cpu": cpu}
    rows = {"set": "rows", "n_train": 10, "n_test": 5, "peak_rss": 1e6}
    return {**rows, "program": program, "error": 0.5, "train": times, "predict": times, **more}


def written(folder, name, results):
    (folder / f"{name}.json").write_text(json.dumps({"results": results}))


def beside_vowpal(algorithm, cpu, vowpal=None):
    times = {"cpu": cpu}
    ours = {"error": 0.4, "train": times, "predict": times, "peak_rss": 1e6}
    if vowpal is not None:
        net = {"net": {"cpu": vowpal}}
        vowpal = {"error": 0.6, "train": net, "predict": net, "peak_rss": 1e6}
    rows = {"set": "rows", "n_train": 10, "n_test": 5}
    return {**rows, "algorithm": algorithm, "recalltree": ours, "vowpal": vowpal}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "RESULTS", tmp_path)
    return tmp_path


def found(first="one", pattern=("*",)):
    methods = stored.methods("rows", first=first, pattern=pattern, n_train=10)
    return {method.name: method for method in methods}


def test_times_are_multiples_of_ours_in_the_same_run(folder):
    written(folder, "one", [result("recalltree", 10.0), result("pecos", 30.0)])
    written(folder, "two", [result("recalltree", 20.0), result("omikuji", 30.0)])
    methods = found()
    assert methods[stored.OURS].predict == 10.0
    assert methods["PECOS"].times_predict == 3.0
    assert methods["omikuji"].times_predict == 1.5
    assert not methods["omikuji"].apart


def test_a_run_without_one_against_some_is_joined_by_another_algorithm(folder):
    linked = [beside_vowpal("one-against-some", 10.0), beside_vowpal("recall-tree", 20.0)]
    written(folder, "one", linked)
    written(folder, "two", [beside_vowpal("recall-tree", 40.0, vowpal=80.0)])
    theirs = found()["Vowpal Wabbit, `--recall_tree`"]
    assert theirs.times_learn == 4.0
    assert not theirs.apart


def test_a_run_with_nothing_of_ours_is_marked(folder):
    written(folder, "one", [result("recalltree", 10.0)])
    written(folder, "two", [result("pecos", 40.0)])
    theirs = found()["PECOS"]
    assert theirs.apart
    assert tables.times(theirs) == ["4.0x†", "4.0x†"]


def test_settings_of_ours_and_unknown_programs_have_lines_of_their_own(folder):
    several = result("recalltree, 3 passes", 30.0, error=0.4)
    other = result("recalltree", 20.0, setting="two passes", error=0.45)
    written(folder, "one", [result("recalltree", 10.0), several, other, result("new", 5.0)])
    names = [stored.OURS, f"{stored.OURS}, 3 passes", f"{stored.OURS}, two passes", "new"]
    assert sorted(found()) == sorted(names)
    assert found()[names[1]].times_learn == 3.0


def test_the_best_weighting_of_a_program_counts_and_samples_do_not(folder):
    better = result("pecos", 40.0, weighting="damped", error=0.3)
    sample = result("pecos", 1.0, n_train=5, error=0.1)
    written(folder, "one", [result("recalltree", 10.0), result("pecos", 20.0), better, sample])
    assert found()["PECOS"].error == 30.0


def test_pairs_of_words_are_a_method_of_their_own_and_an_ended_program_is_none(folder):
    pairs = result("recalltree", 20.0, set="rows-bigrams", error=0.4)
    ended = {"set": "rows", "program": "pecos", "note": "ended after 9 s", "n_train": 10}
    written(folder, "one", [result("recalltree", 10.0), pairs, ended])
    assert set(found()) == {stored.OURS, f"{stored.OURS}, pairs of words"}
    assert found()[f"{stored.OURS}, pairs of words"].times_predict == 2.0
