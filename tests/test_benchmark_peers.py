"""The comparison with batch programs: what it gives them, and, where they are installed, a run."""

import os
import time

import numpy as np
import pytest
import scipy.sparse as sp
from benchmark_runs import command_line, report_of
from benchmarks import datasets, peers
from benchmarks.measure import now
from benchmarks.peer_programs import (
    PEERS,
    _ranked,
    _Watch,
    _words,
    _write_repository_format,
    indicator,
)
from benchmarks.weighting import OF_COUNTS, WEIGHTINGS

from recalltree.reference.feature_weighting import FeatureCentring, FeatureWeighting

DENSE = [program for program, peer in PEERS.items() if peer.takes_values]
COUNTS = sp.csr_array(np.array([[2, 1, 0], [1, 0, 0], [1, 0, 3]], dtype=np.float32))


@pytest.mark.parametrize("weighting", OF_COUNTS)
def test_weighted_rows_have_length_one_and_keep_their_features(weighting):
    train, test = WEIGHTINGS[weighting](COUNTS, COUNTS[:1])
    assert train.dtype == test.dtype == np.float32
    np.testing.assert_array_equal(train.indices, COUNTS.indices)
    lengths = np.sqrt((train.toarray() ** 2).sum(axis=1))
    # A feature of every row has an idf of zero in one of the two.
    np.testing.assert_allclose(lengths[lengths > 0], 1.0, rtol=1e-6)
    np.testing.assert_allclose(test.toarray(), train.toarray()[:1])


def test_damped_is_log_count_times_idf_to_a_power():
    train, _ = WEIGHTINGS["damped"](COUNTS, COUNTS)
    idf = np.log(4 / np.array([4, 2, 2])) ** 0.85
    expected = np.log1p(COUNTS.toarray()) * idf
    norms = np.linalg.norm(expected, axis=1, keepdims=True)
    expected = expected / np.where(norms > 0, norms, 1)
    np.testing.assert_allclose(train.toarray(), expected, rtol=1e-5)


def test_root_idf_is_the_weighting_of_the_estimator():
    train, _ = WEIGHTINGS["root-idf"](COUNTS, COUNTS)
    weighting = FeatureWeighting(sublinear_tf=True, use_idf=True, normalize=True)
    had = np.bincount(COUNTS.indices, minlength=3)
    for row, expected in zip(train.toarray(), COUNTS.toarray(), strict=True):
        np.testing.assert_allclose(row, weighting(expected, had, 3)[1], rtol=1e-5)


def test_a_row_without_features_is_its_label_alone(tmp_path):
    X = sp.csr_array(np.array([[0, 1, 0], [0, 0, 0]], dtype=np.float32))
    Y = indicator(np.array([4, 7]), 9) + indicator(np.array([6, 7]), 9)
    _write_repository_format(tmp_path / "rows", X, Y)
    rows = (tmp_path / "rows").read_text().splitlines()
    assert rows == ["2 3 9", "4,6 1:1", "7"]


def test_standardised_is_the_centring_of_the_estimator():
    rows = np.random.default_rng(0).exponential(size=(50, 4)).astype(np.float32)
    rows[:, 3] = 7.0  # does not vary
    train, test = WEIGHTINGS["standardised"](rows, rows[:5])
    centring = FeatureCentring(4, center=True)
    for row in rows:
        centring.observe(row, centring.normalize(row), 1.0)
    expected = np.array([centring.normalize(row)[:-1] for row in rows])
    np.testing.assert_allclose(train, expected, atol=1e-5)
    np.testing.assert_array_equal(test, train[:5])


def test_words_are_repeated_as_often_as_they_count():
    assert list(_words(COUNTS)) == ["0 0 1", "0", "0 2 2 2"]


def test_rows_without_an_answer_are_minus_one():
    scores = sp.csr_array((np.array([0.1, 0.2, 0.3]), np.array([7, 8, 9]), np.array([0, 2, 2, 3])))
    np.testing.assert_array_equal(_ranked(scores, 2), [[8, 7], [-1, -1], [9, -1]])


def test_turns_leave_out_what_a_program_cannot_be_given():
    sparse, dense = datasets.generate("generated-sparse"), datasets.generate("generated-dense")
    programs = ["recalltree", "pecos", "fasttext"]
    weightings = ["plain", "standardised", "tfidf", "root-idf"]
    assert peers.turns(programs, weightings, sparse) == [
        ("recalltree", "plain"),
        ("pecos", "tfidf"),
        ("pecos", "root-idf"),
        ("fasttext", "plain"),
    ]
    assert peers.turns(programs, weightings, dense) == [
        ("recalltree", "plain"),
        ("pecos", "plain"),
        ("pecos", "standardised"),
    ]


def test_settings_are_those_asked_for_or_the_defaults_and_the_best_held_out():
    (other,) = PEERS["pecos"].settings
    assert peers.settings("pecos", None, {"defaults": 0.5, other: 0.4}) == ["defaults", other]
    assert peers.settings("pecos", None, {"defaults": 0.4, other: 0.4}) == ["defaults"]
    assert peers.settings("pecos", [other], {}) == [other]
    assert peers.settings("fasttext", [other], {}) == []
    assert peers.settings("recalltree", [other], {}) == ["defaults"]


def test_every_tenth_training_row_is_held_out():
    dataset = datasets.generate("generated-sparse", n_train=100, n_test=10)
    part = peers.hold_out(dataset)
    np.testing.assert_array_equal(part.y_test, dataset.y_train[::10])
    np.testing.assert_array_equal(part.X_test.toarray(), dataset.X_train[::10].toarray())
    assert part.X_train.shape[0] == len(part.y_train) == 90


def test_a_watch_knows_when_words_came(capfd):
    with _Watch("begins") as watch:
        os.write(1, b"reading\n")
        before = now()
        os.write(1, b"10%\rtraining begins\n")
        while watch.time is None:
            time.sleep(0.001)
        after = now()
        os.write(1, b"nowhere\n")
    assert before.wall <= watch.time.wall <= after.wall
    os.write(1, b"as before\n")
    assert capfd.readouterr().out == "as before\n"


def test_words_that_never_come_have_no_time(capfd):
    with _Watch("begins") as watch:
        os.write(1, b"something else\n")
    assert watch.time is None


@pytest.mark.parametrize(
    ("program", "name", "weighting"),
    [
        *((program, "generated-sparse", "tfidf") for program in ("recalltree", *PEERS)),
        *((program, "generated-dense", "standardised") for program in ("recalltree", *DENSE)),
    ],
)
def test_a_run_reports_error_and_times(program, name, weighting, tmp_path):
    if program in PEERS and not PEERS[program].is_available():
        pytest.skip(f"{PEERS[program].module} is not installed (extra: peers)")
    chosen = ["--programs", program, "--weightings", weighting, "--sets", name]
    content = report_of("peers", tmp_path, *chosen, "--rows", "500", "--test-rows", "100")
    assert content["complete"]
    result = content["results"][0]
    assert (result["program"], result["setting"]) == (program, "defaults")
    assert set(result["held_out_errors"]) == (
        {"defaults", *PEERS[program].settings} if program in PEERS else set()
    )
    assert (result["n_train"], result["n_test"]) == (500, 100)
    assert 0 <= result["error"] <= 1
    assert result["train"]["wall"] > 0
    assert result["predict"]["wall"] > 0


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(PEERS["pecos"], "is_available", classmethod(lambda cls: False))
    with pytest.raises(SystemExit, match=r"pecos not installed: pip install 'recalltree\[peers\]'"):
        command_line.main(["peers", "--programs", "pecos", "--cache-dir", str(tmp_path)])
