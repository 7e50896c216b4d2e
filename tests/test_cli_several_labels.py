"""The command line with rows that have several labels."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from command_line import run

import recalltree
from recalltree.estimators.loading import CLASSIFIERS
from recalltree.readers import open_rows
from recalltree.training import learn_from

N_CLASSES = 20
TRAIN = ("train", "--algorithm", "one-against-some", "--quiet")


def make_rows(n, seed=0, most=3):
    """Lists of labels and words; every label has words of its own."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        labels = random.choice(N_CLASSES, random.integers(1, most + 1), replace=False).tolist()
        words = [f"w{5 * label + w}" for label in labels for w in random.integers(5, size=3)]
        rows.append((labels, words))
    return rows


FORMATS = {
    "vw": lambda labels, words: f"{','.join(map(str, labels))} | {' '.join(words)}",
    "svmlight": lambda labels, words: (
        f"{','.join(map(str, labels))} {' '.join(f'{w}:1' for w in numbers(words))}"
    ),
    "fasttext": lambda labels, words: " ".join([*(f"__label__{y}" for y in labels), *words]),
    "jsonl": lambda labels, words: json.dumps({"y": labels, "text": " ".join(words)}),
    "csv": lambda labels, words: f"{'; '.join(map(str, labels))},{' '.join(words)}",
}
OPTIONS = {
    "jsonl": ["--label-column", "y", "--text-column", "text"],
    "csv": ["--label-column", "y", "--text-column", "text", "--label-separator", ";"],
}
WRITTEN = {
    "vw": "{},{}",
    "svmlight": "{},{}",
    "fasttext": "__label__{} __label__{}",
    "jsonl": "[{}, {}]",
    "csv": "{};{}",
}


def numbers(words):
    return sorted({int(word[1:]) + 1 for word in words})


def write(path, rows, format):
    lines = [FORMATS[format](*row) for row in rows]
    if format == "csv":
        lines.insert(0, "y,text")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


@pytest.mark.parametrize("format", FORMATS)
def test_train_evaluate_predict_explain(format, tmp_path):
    if format in OPTIONS:
        pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")
    train = write(tmp_path / f"train.{format}", make_rows(1500), format)
    test = write(tmp_path / f"test.{format}", make_rows(200, seed=1), format)
    model = str(tmp_path / "model.rt")
    options = ["--format", format, "--multilabel", "all", *OPTIONS.get(format, [])]
    run(*TRAIN, train, "-m", model, *options)

    found = json.loads(run("evaluate", "-m", model, test, "--json").stdout)
    assert found["n_rows"] == 200
    assert found["labels_per_row"] == pytest.approx(2, abs=0.2)
    assert found["precision@1"] > 0.9
    assert found["recall@5"] > 0.9
    assert found["micro_f1"] > 0.7
    text = run("evaluate", "-m", model, test, "-k", "10").stdout
    for name in ("precision@1", "precision@3", "precision@10", "recall@10", "nDCG@10"):
        assert name in text
    assert "micro F1 at 0.5" in text

    lines = run("predict", "-m", model, test, "-k", "2", "--labels-only").stdout.splitlines()
    answers = run("predict", "-m", model, test, "-k", "2", "--json").stdout.splitlines()
    answers = [json.loads(answer) for answer in answers]
    assert lines == [WRITTEN[format].format(*answer["labels"]) for answer in answers]
    assert all(0 <= p <= 1 for answer in answers for p in answer["probabilities"])

    explanations = run("explain", "-m", model, "-k", "3", test).stdout
    assert explanations.count("candidates, 3 best") == 200


@pytest.mark.parametrize("algorithm", ["recall-tree", "one-against-all"])
def test_other_algorithms_learn_lists(algorithm, tmp_path):
    train = write(tmp_path / "train.vw", make_rows(1500), "vw")
    model = str(tmp_path / "model.rt")
    run("train", "-q", "--algorithm", algorithm, train, "-m", model, "--multilabel", "all")
    found = json.loads(run("evaluate", "-m", model, train, "--json").stdout)
    assert found["precision@1"] > 0.9
    assert found["recall@5"] > 0.6
    assert found["micro_f1"] > 0.6
    lines = run("predict", "-m", model, train, "--threshold", "0.5", "--labels-only").stdout
    clf = recalltree.load(model)
    batches = list(open_rows(train, multilabel="all"))
    expected = np.concatenate([clf.predict(batch.X).sum(axis=1) for batch in batches])
    counts = [len(line.split(",")) if line else 0 for line in lines.splitlines()]
    assert counts == expected.tolist()
    assert 1 < np.mean(counts) < 3
    explanations = run("explain", "-m", model, "-k", "3", train).stdout
    assert explanations.count("candidates, 3 best") == 1500


@pytest.mark.parametrize("algorithm", ["one-against-some", "recall-tree", "one-against-all"])
def test_the_command_learns_what_python_learns(algorithm, tmp_path):
    train = write(tmp_path / "train.vw", make_rows(500), "vw")
    model = str(tmp_path / "model.rt")
    given = ["--algorithm", algorithm, "--multilabel", "all", "--passes", "2", "--seed", "3"]
    run("train", "-q", train, "-m", model, *given)
    clf = CLASSIFIERS[algorithm](n_passes=2, random_state=3)
    for _ in learn_from(clf, open_rows(train, multilabel="all")):
        pass
    (batch,) = open_rows(train, multilabel="all")
    expected, found = clf.predict_topk(batch.X, 3), recalltree.load(model).predict_topk(batch.X, 3)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def test_resume_reads_lists_again(tmp_path):
    model, more = str(tmp_path / "model.rt"), str(tmp_path / "more.rt")
    rows = make_rows(600)
    first = write(tmp_path / "first.vw", rows[:300], "vw")
    second = write(tmp_path / "second.vw", rows[300:], "vw")
    run(*TRAIN, first, "-m", model, "--multilabel", "any")
    run("train", "--quiet", second, "--resume", model, "-m", more)
    whole = write(tmp_path / "whole.vw", rows, "vw")
    run(*TRAIN, whole, "-m", model, "--multilabel", "any")
    (batch,) = open_rows(whole, multilabel="any")
    expected = recalltree.load(model).predict_topk(batch.X, 3)
    found = recalltree.load(more).predict_topk(batch.X, 3)
    np.testing.assert_array_equal(found[1], expected[1])


def test_threshold(tmp_path):
    train = write(tmp_path / "train.vw", make_rows(1500), "vw")
    model = str(tmp_path / "model.rt")
    run(*TRAIN, train, "-m", model, "--multilabel", "all")

    def answers(*options):
        lines = run("predict", "-m", model, train, "--json", *options).stdout.splitlines()
        return [json.loads(line) for line in lines]

    found = answers("--threshold", "0.4")
    assert len({len(answer["labels"]) for answer in found}) > 1
    for answer in found:
        p = answer["probabilities"]
        assert p == sorted(p, reverse=True)
        assert not p or p[-1] >= 0.4
    cut = answers("--threshold", "0.4", "-k", "1")
    assert [a["labels"] for a in cut] == [a["labels"][:1] for a in found]
    clf = recalltree.load(model)
    batches = list(open_rows(train, multilabel="all"))
    marginals = np.vstack([clf.predict_proba(batch.X) for batch in batches])
    expected = [set(clf.classes_[row >= 0.4].tolist()) for row in marginals]
    assert [set(a["labels"]) for a in found] == expected

    lines = run("predict", "-m", model, train, "--threshold", "0.4").stdout.splitlines()
    assert lines[0].split("\t")[::2] == [str(label) for label in found[0]["labels"]]
    lines = run("predict", "-m", model, train, "--threshold", "0.4", "--labels-only").stdout
    assert lines.splitlines() == [",".join(map(str, a["labels"])) for a in found]


def test_rows_without_labels(tmp_path):
    rows = make_rows(100)
    path = tmp_path / "rows.vw"
    path.write_text("".join(FORMATS["vw"](*row) + "\n" for row in rows) + " | w1 w2\n")
    model = str(tmp_path / "model.rt")
    result = run(*TRAIN, path, "-m", model, "--multilabel", "all", exit_code=1)
    assert f"{path}, line 101, column 1: the row has no label" in result.stderr
    run(*TRAIN, path, "-m", model, "--multilabel", "any")
    found = json.loads(run("evaluate", "-m", model, path, "--json").stdout)
    assert (found["n_rows"], found["rows_without_labels"]) == (101, 1)
    assert recalltree.load(model).n_examples_ == 100
    learn = ["--multilabel", "any", "--rows-without-labels", "learn"]
    for algorithm in ("one-against-some", "recall-tree", "one-against-all"):
        run("train", "-q", path, "-m", model, "--algorithm", algorithm, *learn)
        assert recalltree.load(model).n_examples_ == 101
    run("train", "-q", path, "-m", str(tmp_path / "more.rt"), "--resume", model)
    assert recalltree.load(tmp_path / "more.rt").n_examples_ == 202
    assert len(run("predict", "-m", model, path).stdout.splitlines()) == 101


def test_what_has_no_meaning_is_said(tmp_path):
    train = write(tmp_path / "train.vw", make_rows(100), "vw")
    model = str(tmp_path / "model.rt")
    lists = ["--multilabel", "all"]
    result = run("train", train, "-m", model, "--algorithm", "lom-tree", *lists, exit_code=1)
    assert "learns one label" in result.stderr
    run(*TRAIN, train, "-m", model, *lists)
    one = write(tmp_path / "one.vw", make_rows(100, most=1), "vw")
    run(*TRAIN, one, "-m", model)
    result = run("evaluate", "-m", model, one, "--threshold", "0.3", exit_code=2)
    assert "several labels" in result.stderr


@pytest.mark.parametrize("algorithm", ["one-against-some", "recall-tree", "one-against-all"])
def test_the_page_shows_rows_with_several_labels(algorithm, tmp_path):
    train = write(tmp_path / "train.vw", make_rows(400), "vw")
    test = write(tmp_path / "test.vw", make_rows(60, seed=1), "vw")
    model, page = str(tmp_path / "model.rt"), tmp_path / "report.html"
    run("train", "-q", train, "-m", model, "--algorithm", algorithm, "--multilabel", "all")
    result = run("inspect", "-m", model, "--html", str(page), test)
    assert "the page is in" in result.stderr
    packed = re.search(r'id="data">([^<]*)</script>', page.read_text(encoding="utf-8"))[1]
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    evaluate = ("evaluate", "-m", model, test, "--json", "--confused", "500")
    expected = json.loads(run(*evaluate).stdout)
    assert {"precision@1", "precision@3", "precision@5", "recall@5", "nDCG@5"} < expected.keys()
    for name, value in expected.items():
        if name not in ("microseconds_per_row", "n_skipped", "confused"):
            assert data["evaluation"][name] == value
    names = data["classes"]["labels"]
    shown = [(names[p["label"]], names[p["answer"]], p["n_rows"]) for p in data["confused"]]
    pairs = [(str(p["label"]), str(p["answer"]), p["n_rows"]) for p in expected["confused"]]
    assert shown == pairs
    assert sum(bar["n_rows"] for bar in data["lists"]["sizes"]) == 60
    one = run("inspect", "-m", model, "--html", "-", train, "--multilabel", "first")
    assert "<!DOCTYPE html>" in one.stdout
