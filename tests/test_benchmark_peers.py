"""The comparison with batch programs: what it gives them, and, where they are installed, a run."""

import json

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks import __main__ as command_line
from benchmarks import datasets, peers
from benchmarks.peer_programs import PEERS, _first, _words
from benchmarks.weighting import WEIGHTINGS

COUNTS = sp.csr_array(np.array([[2, 1, 0], [1, 0, 0], [1, 0, 3]], dtype=np.float32))


@pytest.mark.parametrize("weighting", ["tfidf", "damped"])
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


def test_words_are_repeated_as_often_as_they_count():
    assert list(_words(COUNTS)) == ["0 0 1", "0", "0 2 2 2"]


def test_rows_without_an_answer_are_minus_one():
    np.testing.assert_array_equal(_first(np.array([0, 2, 2, 3]), np.array([7, 8, 9])), [7, -1, 9])


def test_turns_leave_out_what_a_program_cannot_be_given():
    sparse, dense = datasets.generate("generated-sparse"), datasets.generate("generated-dense")
    programs = ["recalltree", "pecos", "fasttext"]
    assert peers.turns(programs, ["tfidf", "damped"], sparse) == [
        ("recalltree", "plain"),
        ("pecos", "tfidf"),
        ("pecos", "damped"),
        ("fasttext", "plain"),
    ]
    assert peers.turns(programs, ["tfidf"], dense) == [("recalltree", "plain"), ("pecos", "plain")]


@pytest.mark.parametrize("program", ["recalltree", *PEERS])
def test_a_run_reports_error_and_times(program, tmp_path):
    if program in PEERS and not PEERS[program].is_available():
        pytest.skip(f"{PEERS[program].module} is not installed (extra: peers)")
    report = tmp_path / "report.json"
    chosen = ["--programs", program, "--weightings", "tfidf", "--rows", "500"]
    places = ["--cache-dir", str(tmp_path), "--json", str(report)]
    command_line.main(["peers", *chosen, *places])
    (result,) = json.loads(report.read_text())["results"]
    assert result["program"] == program
    assert 0 <= result["error"] <= 1
    assert result["train"]["wall"] > 0
    assert result["predict"]["wall"] > 0


def test_a_missing_program_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(PEERS["pecos"], "is_available", classmethod(lambda cls: False))
    with pytest.raises(SystemExit, match=r"pecos not installed: pip install 'recalltree\[peers\]'"):
        command_line.main(["peers", "--programs", "pecos", "--cache-dir", str(tmp_path)])
