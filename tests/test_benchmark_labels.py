"""The comparison on rows with several labels: its rows, a run, and one that is resumed."""

import argparse
import sys

import numpy as np
import pytest
import zstandard
from benchmark_runs import command_line, report_of
from benchmarks import label_sets, labels, measure, program_runs

QUICK = ("--programs", "recalltree", "--rows", "300", "--test-rows", "50")


@pytest.fixture
def titles(tmp_path):
    folder = tmp_path / "data" / "subjects"
    folder.mkdir(parents=True)
    (folder / "labels.txt").write_text("a\tAnts\nb\tBees\n")
    rows = {"train": "b,a\tbees and ants and bees\na\tants\nb\tbees and\n", "test": "b\tants new\n"}
    for name, text in rows.items():
        packed = zstandard.ZstdCompressor().compress(text.encode())
        (folder / f"{name}.txt.zst").write_bytes(packed)
    return tmp_path / "data"


def test_rows_are_counts_and_words_in_their_order(titles, tmp_path):
    dataset = label_sets.load("subjects", titles, tmp_path)
    ants, bees, both = 1, 2, 0  # in the order of the alphabet: and, ants, bees
    np.testing.assert_array_equal(dataset.X_train[:1].toarray(), [[2, 1, 2]])
    assert dataset.words_train[:1].indices.tolist() == [bees, both, ants, both, bees]
    np.testing.assert_array_equal(dataset.Y_train.toarray(), [[1, 1], [1, 0], [0, 1]])
    assert dataset.words_test.indices.tolist() == [ants]  # the other one is new


def test_every_tenth_row_is_held_out():
    dataset = label_sets.generate(n_train=100, n_test=10)
    part = dataset.hold_out()
    np.testing.assert_array_equal(part.Y_test.toarray(), dataset.Y_train[::10].toarray())
    np.testing.assert_array_equal(part.words_test.toarray(), dataset.X_train[::10].toarray())
    assert part.n_train == part.Y_train.shape[0] == 90


def test_a_run_that_is_resumed_measures_only_what_is_new(tmp_path):
    first = report_of("labels", tmp_path, *QUICK, "--settings", "two passes")
    assert [result["setting"] for result in first["results"]] == ["defaults", "two passes"]
    again = report_of("labels", tmp_path, *QUICK, "--settings", "three passes", "--resume")
    assert again["results"][:2] == first["results"]
    assert [result["setting"] for result in again["results"][2:]] == ["three passes"]
    assert again["earlier_commands"] == [first["command"]]
    assert again["complete"]
    for result in again["results"]:
        assert 0.3 < result["metrics"]["P@1"] <= 1
        assert result["train"]["cpu"] > 0


def test_other_parameters_are_another_result():
    line, sizes = ("set", "recalltree", "plain", "defaults"), (10, 5)
    result = dict(zip(program_runs.LINE, line, strict=True)) | {"n_train": 10, "n_test": 5}
    result["parameters"] = {"l2": 0.1}
    assert labels._is_of(result, line, sizes, {"l2": 0.1})
    assert not labels._is_of(result, line, sizes, {})
    assert not labels._is_of(result, line, (9, 5), {"l2": 0.1})


def test_to_resume_needs_a_report(tmp_path):
    with pytest.raises(SystemExit, match="--resume needs --json FILE"):
        command_line.main(["labels", "--resume", "--cache-dir", str(tmp_path), *QUICK])


def test_a_program_that_takes_too_long_is_ended_and_says_so(monkeypatch, tmp_path, capsys):
    def ended(*_: object) -> None:
        raise measure.OverLimitError("more than 1 s")

    monkeypatch.setattr(labels, "measure", ended)
    options = ("--settings", "two passes", "--cpu-limit", "1")
    content = report_of("labels", tmp_path, *QUICK, *options)
    assert [result["note"] for result in content["results"]] == ["ended after 1 s"] * 2
    assert "ended after" in capsys.readouterr().out


def test_a_command_has_so_much_processor_time():
    busy = [sys.executable, "-c", "while True: pass"]
    with pytest.raises(measure.OverLimitError, match="more than 1 s of CPU time"):
        measure.run(busy, 1)
    assert measure.run([sys.executable, "-c", "print(7)"], 60).output == "7\n"


def test_programs_that_compare_all_labels_get_few_rows_and_ours_beside_them():
    options = argparse.Namespace(
        programs=["recalltree", "napkinxc-br", "fasttext"], weightings=["tfidf"], settings=["ova"]
    )
    assert labels.turns(options) == [
        ("recalltree", "plain", "defaults", False),
        ("napkinxc-br", "tfidf", "defaults", True),
        ("fasttext", "plain", "defaults", False),
        ("fasttext", "plain", "ova", True),
        ("recalltree", "plain", "defaults", True),
    ]
