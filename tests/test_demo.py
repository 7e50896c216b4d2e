"""The demonstration: its corpus, its features, and the whole of it on a few tokens."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

from recalltree import LOMTreeClassifier, RecallTreeClassifier
from recalltree.demo.__main__ import INTERRUPTED, main
from recalltree.demo.completions import BEGINNINGS, MAX_TOKENS, Completer
from recalltree.demo.contest import Task, compete, most_frequent
from recalltree.demo.features import N_COLUMNS, ORDER, UNKNOWN, feature_rows, histories
from recalltree.demo.tokens import (
    LONG_TEXT,
    NEWLINE,
    START,
    Corpus,
    read_corpus,
    read_tokens,
    source_files,
    tokens_before_end,
)

FEW = ["--tokens", "3000"]


# corpus


def test_files_are_sources_without_tests_in_an_order_of_the_seed(tmp_path):
    for name in ("a.py", "b.py", "pkg/c.py", "test/d.py", "site-packages/e.py", "data.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    orders = [[p.name for p in source_files(seed, tmp_path)] for seed in range(8)]
    assert all(sorted(order) == ["a.py", "b.py", "c.py"] for order in orders)
    assert orders[0] == [p.name for p in source_files(0, tmp_path)]
    assert len({tuple(order) for order in orders}) > 1


def test_long_text_is_one_class_and_short_text_is_kept(tmp_path):
    path = tmp_path / "text.py"
    path.write_text('''x = "short"\ny = """A text of more than\ntwenty characters."""\n''')
    assert read_tokens(path) == ["x", "=", '"short"', NEWLINE, "y", "=", LONG_TEXT, NEWLINE]


@pytest.mark.parametrize(
    "content", [b"x = (1", b"if x:\n  a\n b\n", b"# coding: nonsense\n", b"\xff"]
)
def test_a_file_that_cannot_be_read_has_no_tokens(tmp_path, content):
    path = tmp_path / "broken.py"
    path.write_bytes(content)
    assert read_tokens(path) == []


def test_code_may_break_off_anywhere():
    assert tokens_before_end("for i in range(") == ["for", "i", "in", "range", "("]
    code = "def f(x):\n    return"
    line = ["def", "f", "(", "x", ")", ":", NEWLINE, "<indent>", "return"]
    assert tokens_before_end(code) == line


def test_a_corpus_is_whole_files_and_its_last_tenth_is_for_the_test():
    corpus = read_corpus(30_000, seed=3)
    again = read_corpus(30_000, seed=3)
    assert corpus.n_tokens >= 30_000
    assert sum(map(len, (corpus.train + corpus.test)[:-1])) < 30_000
    assert len(corpus.test) == max(1, (len(corpus.train) + len(corpus.test)) // 10)
    assert corpus.names == again.names
    assert len(set(corpus.names)) == len(corpus.names)
    expected = [read_tokens(path) for path in source_files(seed=3)[:12]]
    expected = [tokens for tokens in expected if tokens]
    for ids, tokens in zip(corpus.train, expected, strict=False):
        assert [corpus.names[i] for i in ids] == tokens


def test_a_python_without_sources_is_a_clear_error(monkeypatch):
    monkeypatch.setattr("recalltree.demo.tokens.source_files", lambda seed: [])
    result = CliRunner().invoke(main, FEW)
    assert result.exit_code == 1
    assert "no source files of its standard library" in result.output


# features


def test_histories_do_not_cross_files():
    first, second = np.arange(1, 10), np.arange(11, 14)
    history, token = histories([first, second])
    assert token.tolist() == [*first, *second]
    assert history[8].tolist() == [8, 7, 6, 5, 4, 3]
    assert history[9].tolist() == [START] * ORDER
    assert history[11].tolist() == [12, 11, START, START, START, START]


def test_features_are_positions_a_bigram_and_a_trigram():
    base = np.array([[1, 2, 3, 4, 5, 6]])

    def columns(history) -> set[int]:
        row = feature_rows(np.asarray(history))
        assert row.shape == (1, N_COLUMNS)
        assert (row.data == 1).all()
        return set(row.indices.tolist())

    assert len(columns(base)) == ORDER + 2
    # Features left when one token is another: five positions, and the n-grams without it.
    for position, kept in enumerate((5, 5, 6, 7, 7, 7)):
        changed = base.copy()
        changed[0, position] = 9
        assert len(columns(base) & columns(changed)) == kept
    assert not columns(base) & columns(base[:, ::-1] + 10)
    # Unknown tokens have no features, nor have n-grams with them.
    assert columns([[1, 2, 3, *[UNKNOWN] * 3]]) < columns(base)
    assert [len(columns([[1, 2, 3][:n] + [UNKNOWN] * (ORDER - n)])) for n in range(4)] == [
        0,
        1,
        3,
        5,
    ]


def test_rows_of_a_block_are_those_of_single_histories():
    history = np.random.default_rng(0).integers(UNKNOWN, 50, size=(40, ORDER))
    together = feature_rows(history)
    for i in range(len(history)):
        alone = feature_rows(history[i : i + 1])
        own = together.indices[together.indptr[i] : together.indptr[i + 1]]
        assert own.tolist() == alone.indices.tolist()


def test_columns_rarely_collide():
    history = np.arange(1, 60_001).reshape(-1, ORDER)
    X = feature_rows(history)  # all different: 80,000 features
    expected = N_COLUMNS * -np.expm1(-X.nnz / N_COLUMNS)  # as many as of random columns
    assert abs(len(np.unique(X.indices)) - expected) < 0.01 * expected


# contest


def test_the_measured_errors_are_those_of_the_model():
    task = Task.of(read_corpus(5_000, seed=1))
    model = RecallTreeClassifier(loss="hinge")
    result = compete("tree", model, task)
    assert result.test_error == np.mean(model.predict(task.X_test) != task.y_test)
    assert result.online_error == model.progressive_error_
    assert result.memory == model.memory_bytes_
    assert result.learning_time > 0
    assert result.prediction_time > 0
    assert result.is_finished
    token, count = np.unique(task.y, return_counts=True)
    share = np.mean(task.y_test == token[count.argmax()])
    assert most_frequent(task).test_error == pytest.approx(1 - share)
    assert result.test_error < most_frequent(task).test_error


def test_a_sample_is_of_the_test_rows():
    task = Task.of(Corpus([], [np.arange(1, 50)], [np.arange(1, 30)]))
    sample = task.sample(7, seed=0)
    assert sample.X_test.shape[0] == len(sample.y_test) == len(set(sample.y_test)) == 7
    assert (sample.X_test != task.X_test[sample.y_test - 1]).nnz == 0  # row i is of token i + 1
    assert task.sample(1_000, seed=0) is task


def test_a_model_completes_what_it_has_learned():
    line = tokens_before_end("for i in range(len(x)):\n    pass\nend")
    names = ["<start>", *dict.fromkeys(line)]
    ids = np.array([names.index(token) for token in line] * 40)
    history, token = histories([ids])
    model = RecallTreeClassifier().partial_fit(feature_rows(history), token)
    completer = Completer(model, names)
    completion = completer.complete("for i in")
    assert completion.rest == "range ( len ( x ) ) :"
    assert completion.best[0] == "range"
    assert len(set(completion.best)) == 3
    assert completer.complete("for").rest.split() == [*line[1 : MAX_TOKENS + 1], "..."]
    assert completer.complete("for i in range(len(x)):").rest == NEWLINE


# the whole


def test_it_prints_a_table_and_completions_where_there_is_no_terminal():
    command = [sys.executable, "-m", "recalltree.demo", *FEW]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for name in ("Recall Tree,", "One-against-all,", "LOMTree", "Most frequent token"):
        assert sum(f"│ {name}" in line for line in lines) == 1
    assert done.stdout.count("»") == len(BEGINNINGS) + 1
    assert "progressive error" in done.stderr
    assert "Traceback" not in done.stderr


def test_quiet_leaves_the_table_and_the_seed_decides():
    first, again, other = (
        CliRunner().invoke(main, [*FEW, "--quiet", "--seed", seed]) for seed in "112"
    )
    assert first.exit_code == again.exit_code == other.exit_code == 0
    assert first.stderr == ""
    assert first.stdout.splitlines()[0].startswith("Who predicts")
    assert "»" not in first.stdout

    def errors(result) -> list[str]:
        return [word for word in result.stdout.split() if word.endswith("%")]

    assert len(errors(first)) == 9
    assert errors(first) == errors(again) != errors(other)


def test_an_interrupt_shows_what_there_is(monkeypatch):
    def interrupt(self, X, y):
        RecallTreeClassifier.partial_fit(self, X[:100], y[:100])
        raise KeyboardInterrupt

    monkeypatch.setattr(LOMTreeClassifier, "partial_fit", interrupt)
    result = CliRunner().invoke(main, FEW)
    assert result.exit_code == INTERRUPTED
    assert "│ LOMTree (interrupted)" in result.stdout
    assert "│ Recall Tree" in result.stdout
    assert "»" in result.stdout
    assert "Interrupted while learning: LOMTree" in result.stderr


def test_an_interrupt_before_anything_was_learned_ends_at_once(monkeypatch):
    def interrupt(self, X, y):
        raise KeyboardInterrupt

    monkeypatch.setattr(RecallTreeClassifier, "partial_fit", interrupt)
    result = CliRunner().invoke(main, FEW)
    assert result.exit_code == 1
    assert "Aborted!" in result.stderr
    assert "Traceback" not in result.output
