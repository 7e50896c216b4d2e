"""The comparison on dense rows: its parts, and a run with what needs no further package."""

import json

import numpy as np
import pytest
from benchmark_runs import command_line, report_of
from benchmarks.dense_growth import NestedMixture
from benchmarks.dense_programs import PROGRAMS, best, class_means
from benchmarks.weighting import WEIGHTINGS


def test_class_means_are_those_of_the_rows():
    rows = np.random.default_rng(0).normal(size=(40, 5)).astype(np.float32)
    y = np.arange(40) % 3
    means = class_means(rows, y, 4)
    for label in range(3):
        mean = rows[y == label].mean(axis=0)
        np.testing.assert_allclose(means[label], mean / np.linalg.norm(mean), rtol=1e-5)
    assert not means[3].any()


@pytest.mark.parametrize("n", [1, 3, 9])
def test_the_best_come_in_order(n):
    scores = np.random.default_rng(1).normal(size=(20, 9))
    np.testing.assert_array_equal(best(scores, n), np.argsort(-scores, axis=1)[:, :n])


def test_whitened_rows_have_length_one_and_directions_apart():
    rows = np.random.default_rng(2).normal(size=(4000, 4)) @ np.diag([1, 2, 3, 4])
    rows[:, 3] += rows[:, 2]
    train, test = WEIGHTINGS["whitened"](rows, rows[:7])
    np.testing.assert_allclose(np.linalg.norm(train, axis=1), 1.0, rtol=1e-5)
    np.testing.assert_allclose(test, train[:7], atol=1e-6)
    correlation = np.corrcoef(train, rowvar=False) - np.eye(4)
    assert np.abs(correlation).max() < 0.1


# Softmaxes need more rows than a test has time for.
QUICK = [name for name, make in PROGRAMS.items() if "softmax" not in name and make().is_available()]


@pytest.mark.parametrize("name", QUICK)
def test_a_program_names_the_classes_of_easy_rows(name):
    random = np.random.default_rng(3)
    centres = random.normal(size=(300, 16)).astype(np.float32)
    y = np.repeat(np.arange(300), 8)
    rows = (centres[y] + 0.05 * random.normal(size=(len(y), 16))).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    order = random.permutation(len(y))
    program = PROGRAMS[name]()
    program.learn(rows[order], y[order], 300)
    found = program.answer(rows[:200], 1)[:, 0]
    assert np.mean(found == y[:200]) > 0.8


def test_programs_are_measured_and_reported(tmp_path, capsys):
    options = ("--sets", "generated-dense", "--rows", "600", "--programs")
    results = report_of("dense", tmp_path, *options, "recalltree", "class means, BLAS")["results"]
    assert [(r["program"], r["weighting"]) for r in results] == [
        ("recalltree", "plain"),
        ("class means, BLAS", "plain"),
        ("class means, BLAS", "whitened"),
    ]
    for result in results:
        assert result["error"] < 0.5
        assert result["answers"]["24"]["recall"] >= 1 - result["error"]
        assert all(answers["times"]["cpu"] > 0 for answers in result["answers"].values())
        assert result["learn"]["cpu"] > 0
        assert result["new_class"] > 0
    assert "class means, BLAS" in capsys.readouterr().out


def test_nearer_classes_share_more_of_their_centres():
    centres = NestedMixture(1000, 64, seed=0).centres(np.array([120, 121, 130, 500]))
    distances = np.linalg.norm(centres[1:] - centres[0], axis=1)
    assert distances[0] < distances[1] < distances[2]


def test_growth_is_measured_and_reported(tmp_path):
    output = tmp_path / "growth.json"
    options = ["--classes", "50", "300", "--features", "16", "--test-rows", "200"]
    command_line.main(["dense-growth", *options, "--exact-rows", "20", "--json", str(output)])
    content = json.loads(output.read_text())
    assert "--json FILE" in content["command"]
    few, many = content["results"]
    assert (few["n_classes"], many["n_classes"], many["n_train"]) == (50, 300, 4200)
    for result in (few, many):
        # With so few classes every cell is read.
        assert result["best_kept"] > 0.95
        assert result["predict_vectors"] >= result["n_classes"]
        assert abs(result["compact_error"] - result["error"]) < 0.02
        assert result["compact_bytes"] < result["model_bytes"]
