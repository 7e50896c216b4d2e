"""Commands, in this process: what they write, what they refuse."""

import gzip
import json
import os
import threading
from itertools import pairwise

import numpy as np
import pytest
from command_line import run, tensors_of, vw_rows, write_rows

import recalltree
from recalltree import OneAgainstAllClassifier, OneAgainstSomeClassifier, RecallTreeClassifier
from recalltree.cli import predict
from recalltree.inspection import Evaluation, find_class, summary
from recalltree.readers import open_rows
from recalltree.readers.batches import joined_to_predict


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    write_rows(path / "train.vw", 2000)
    write_rows(path / "more.vw", 1000, seed=1)
    write_rows(path / "test.vw", 500, seed=2)
    run("train", path / "train.vw", "-m", path / "model.rt", "--max-candidates", 8)
    return path


def all_rows(*paths, **options):
    batches = list(open_rows([str(p) for p in paths], batch_rows=10**6, **options))
    assert len(batches) == 1
    return batches[0].X, batches[0].y


# --- train ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("algorithm", "options", "kind", "parameters"),
    [
        (
            "one-against-some",
            ["--keys", "both", "--n-trees", 2, "--max-labels", 9, "--no-use-idf", "--seed", 7],
            OneAgainstSomeClassifier,
            {
                "keys": "both",
                "n_trees": 2,
                "max_labels": 9,
                "use_idf": False,
                "random_state": 7,
            },
        ),
        ("recall-tree", ["--max-candidates", 8], RecallTreeClassifier, {"max_candidates": 8}),
        (
            "recall-tree",
            ["--path-features", "leaf", "--path-interactions", "--loss", "hinge"],
            RecallTreeClassifier,
            {"path_features": "leaf", "path_interactions": True, "loss": "hinge"},
        ),
        (
            "one-against-all",
            ["--negative-samples", 3, "--seed", 7],
            OneAgainstAllClassifier,
            {"negative_samples": 3, "random_state": 7},
        ),
        ("lom-tree", ["--max-nodes", 9], recalltree.LOMTreeClassifier, {"max_nodes": 9}),
    ],
)
def test_the_model_is_the_estimators(folder, tmp_path, algorithm, options, kind, parameters):
    model = tmp_path / "model.rt"
    rows = folder / "train.vw"
    run("train", rows, "-m", model, "--algorithm", algorithm, "--batch-rows", 77, *options)
    expected = kind(**parameters).partial_fit(*all_rows(rows))
    found = recalltree.load(model)
    assert type(found) is kind
    assert found.get_params() == expected.get_params()
    expected.save(tmp_path / "expected.rt")
    assert tensors_of(model) == tensors_of(tmp_path / "expected.rt")
    assert found.classes_.tolist() == expected.classes_.tolist()


def test_several_passes_are_those_of_fit(tmp_path):
    lines = sorted(vw_rows(600), key=lambda line: line.split()[0])
    (tmp_path / "rows.vw").write_text("".join(lines))
    run("train", tmp_path / "rows.vw", "-m", tmp_path / "m.rt", "--passes", 3)
    expected = RecallTreeClassifier(n_passes=3, shuffle=False).fit(*all_rows(tmp_path / "rows.vw"))
    expected.save(tmp_path / "expected.rt")
    assert tensors_of(tmp_path / "m.rt") == tensors_of(tmp_path / "expected.rt")
    found = recalltree.load(tmp_path / "m.rt")
    assert found.progressive_error_ == expected.progressive_error_


def test_resume_goes_on_exactly(folder, tmp_path):
    run("train", folder / "train.vw", folder / "more.vw", "-m", tmp_path / "both.rt")
    run("train", folder / "train.vw", "-m", tmp_path / "first.rt")
    run(
        "train", folder / "more.vw", "--resume", tmp_path / "first.rt", "-m", tmp_path / "second.rt"
    )
    both, second = (recalltree.load(tmp_path / f"{name}.rt") for name in ("both", "second"))
    assert tensors_of(tmp_path / "second.rt") == tensors_of(tmp_path / "both.rt")
    np.testing.assert_array_equal(second.progressive_curve_, both.progressive_curve_)


@pytest.mark.parametrize("features", ["hashed", "dictionary"])
def test_resume_goes_on_counting_words(tmp_path, features):
    for name, seed in (("a", 0), ("b", 1)):
        lines = [
            line.replace("class", "__label__").replace(" |", "") for line in vw_rows(400, seed)
        ]
        (tmp_path / f"{name}.ft").write_text("".join(lines))
    a, b, both, second = (tmp_path / name for name in ("a.ft", "b.ft", "both.rt", "second.rt"))
    options = ("--features", features, "--weighting", "tf-idf", "--ngrams", 2)
    run("train", a, b, "-m", both, *options)
    run("train", a, "-m", tmp_path / "first.rt", *options)
    run("train", b, "--resume", tmp_path / "first.rt", "-m", second)
    assert tensors_of(second) == tensors_of(both)
    rows = [recalltree.load(path).model_extra_["rows"] for path in (second, both)]
    assert rows[0] == rows[1]


def test_tables(tmp_path):
    lines = ["kind,size,about\n"]
    for i in range(60):
        lines += [f"ant,{i % 3}.5,six legs\n", f"cow,{90 + i % 7},four legs and milk\n"]
    (tmp_path / "rows.csv").write_text("".join(lines))
    columns = ("--label-column", "kind", "--numeric-columns", "size", "--text-column", "about")
    options = ("--features", "dictionary", "--n-features", 50)
    model = tmp_path / "m.rt"
    run("train", tmp_path / "rows.csv", "-m", model, *columns, *options)
    found = json.loads(run("evaluate", "-m", model, tmp_path / "rows.csv", "--json").stdout)
    assert found["error@1"] == 0.0
    text = run("explain", "-m", model, tmp_path / "rows.csv", "-k", 1).stdout
    assert "size = 0.5" in text
    assert "milk = 1" in text
    columns = ("--label-column", "kind", "--numeric-columns", "size,about")
    result = run("train", tmp_path / "rows.csv", "-m", tmp_path / "x.rt", *columns, exit_code=1)
    assert "six legs" in result.stderr  # the second of the two columns is no number


def test_columns_of_a_table_are_found(tmp_path):
    lines = ["id\tcategory\ttitle\n"]
    lines += [f"{i}\t{'ant' if i % 2 else 'cow'}\tlegs {i % 2}\n" for i in range(40)]
    rows, model = tmp_path / "rows.tsv", tmp_path / "m.rt"
    rows.write_text("".join(lines))
    told = "columns: --label-column category, --text-column title"
    assert told in run("train", rows, "-m", model).stderr
    assert json.loads(run("evaluate", "-m", model, rows, "--json").stdout)["error@1"] == 0.0
    assert "columns:" not in run("train", rows, "--resume", model, "-m", model).stderr
    rows.write_text("".join(lines).replace("category", "kind"))
    result = run("train", rows, "-m", model, exit_code=1)
    assert "--label-column" in result.stderr
    assert "'id' (numbers), 'kind' (text), 'title' (words)" in result.stderr


def test_resume_passes_over_new_rows_as_often_as_is_said(folder, tmp_path):
    model, other = tmp_path / "m.rt", tmp_path / "other.rt"
    run("train", folder / "train.vw", "-m", model, "--passes", 2)
    for options, n_examples in (((), 5000), (("--passes", 3), 7000)):
        run("train", folder / "more.vw", "--resume", model, "-m", other, *options)
        assert recalltree.load(other)._core.n_examples == n_examples


def test_resume_keeps_the_parameters_and_says_which_cannot_change(folder, tmp_path):
    model = folder / "model.rt"
    run("train", folder / "more.vw", "--resume", model, "-m", tmp_path / "m.rt", "--n-jobs", 2)
    assert recalltree.load(tmp_path / "m.rt").get_params()["max_candidates"] == 8
    arguments = ("train", folder / "more.vw", "--resume", model, "-m", tmp_path / "x.rt")
    result = run(*arguments, "--max-candidates", 9, exit_code=1)
    assert "max_candidates changed since learning began" in result.stderr
    result = run(*arguments, "--algorithm", "lom-tree", exit_code=2)
    assert "the model of --resume is a recall-tree" in result.stderr
    assert not (tmp_path / "x.rt").exists()


@pytest.mark.parametrize("options", [(), ("--features", "dictionary")])
def test_rows_may_be_compressed_and_come_from_patterns_and_pipes(folder, tmp_path, options):
    text = (folder / "train.vw").read_bytes()
    middle = text.index(b"\n", len(text) // 2) + 1
    for i, half in enumerate((text[:middle], text[middle:])):
        (tmp_path / f"part{i}.vw.gz").write_bytes(gzip.compress(half))
    run("train", tmp_path / "part*.vw.gz", "-m", tmp_path / "pattern.rt", *options)
    run("train", "-m", tmp_path / "pipe.rt", *options, input=text)
    run("train", folder / "train.vw", "-m", tmp_path / "file.rt", *options)
    expected = tensors_of(tmp_path / "file.rt")
    for name in ("pipe", "pattern"):
        assert tensors_of(tmp_path / f"{name}.rt") == expected


def test_a_pipe_cannot_be_read_twice(tmp_path):
    result = run("train", "-", "-m", tmp_path / "m.rt", "--passes", 2, input="a | x\n", exit_code=2)
    assert "can be read only once" in result.stderr
    assert not (tmp_path / "m.rt").exists()


def test_skip_rows(folder, tmp_path):
    lines = (folder / "train.vw").read_text().splitlines(keepends=True)
    (tmp_path / "rest.vw").write_text("".join(lines[700:]))
    run("train", folder / "train.vw", "-m", tmp_path / "skipped.rt", "--skip-rows", 700)
    run("train", tmp_path / "rest.vw", "-m", tmp_path / "rest.rt")
    assert tensors_of(tmp_path / "skipped.rt") == tensors_of(tmp_path / "rest.rt")


def test_bad_rows(tmp_path):
    lines = vw_rows(50)
    good = "".join(lines)
    bad = "".join([*lines[:10], "cat | a:not_a_number\n", *lines[10:]])
    (tmp_path / "good.vw").write_text(good)
    (tmp_path / "bad.vw").write_text(bad)
    arguments = ("train", tmp_path / "bad.vw", "-m", tmp_path / "m.rt")
    result = run(*arguments, exit_code=1)
    assert "bad.vw, line 11, column" in result.stderr
    assert "not_a_number" in result.stderr
    assert not (tmp_path / "m.rt").exists()
    for mode in ("skip", "warn"):
        result = run(*arguments, "--on-error", mode)
        assert "1 bad row skipped" in result.stderr
        assert ("line 11" in result.stderr) == (mode == "warn")
    run("train", tmp_path / "good.vw", "-m", tmp_path / "good.rt")
    assert tensors_of(tmp_path / "m.rt") == tensors_of(tmp_path / "good.rt")


def test_summary_and_json(folder, tmp_path):
    result = run("train", folder / "train.vw", "-m", tmp_path / "m.rt", "--json")
    found = json.loads(result.stdout)
    clf = recalltree.load(tmp_path / "m.rt")
    assert found["finished"]
    assert found["n_rows"] == found["n_examples"] == 2000
    assert found["n_classes"] == 20
    assert found["progressive_error"] == clf.progressive_error_
    assert "2,000 rows learned" in result.stderr
    quiet = run("train", folder / "train.vw", "-m", tmp_path / "m.rt", "--quiet")
    assert quiet.stdout == quiet.stderr == ""


def test_a_model_that_could_not_be_written_is_refused_before_any_work(folder, tmp_path):
    # The rows or models are missing, too, but nobody has looked for them yet.
    missing = tmp_path / "nowhere" / "m.rt"
    for arguments in (["train", "no.vw", "-m", missing], ["merge", "no.rt", "-m", missing]):
        assert (
            f"{missing}: cannot be written, as there is no folder"
            in run(*arguments, exit_code=1).stderr
        )
    page = ["inspect", "-m", folder / "model.rt", "--html", tmp_path / "nowhere" / "page.html"]
    assert "cannot be written, as there is no folder" in run(*page, "no.vw", exit_code=1).stderr
    taken = run("train", folder / "train.vw", "-m", tmp_path, exit_code=1)
    assert "is not a regular file" in taken.stderr
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        OneAgainstAllClassifier().fit([[0.0], [1.0]], [0, 1]).save(missing)


def test_no_rows_make_no_model(tmp_path):
    (tmp_path / "empty.vw").write_text("")
    result = run("train", tmp_path / "empty.vw", "-m", tmp_path / "m.rt", exit_code=1)
    assert "no rows" in result.stderr
    assert not (tmp_path / "m.rt").exists()


def test_checkpoints_are_models_that_go_on(folder, tmp_path, monkeypatch):
    saved = []
    save = recalltree.RecallTreeClassifier.save

    def remember(self, path, **options):
        save(self, path, **options)
        saved.append(self._core.n_examples)
        save(self, tmp_path / f"checkpoint{len(saved)}.rt", **options)

    monkeypatch.setattr(recalltree.RecallTreeClassifier, "save", remember)
    arguments = ("train", folder / "train.vw", "--passes", 2, "--batch-rows", 100)
    run(*arguments, "-m", tmp_path / "m.rt", "--checkpoint-every", "500rows")
    monkeypatch.undo()
    assert len(saved) >= 4
    assert all(later - earlier >= 500 for earlier, later in pairwise(saved[:-1]))
    expected = tensors_of(tmp_path / "m.rt")
    for number in (1, len(saved) - 1):  # in the first pass, and in the second
        checkpoint = tmp_path / f"checkpoint{number}.rt"
        result = run(*arguments, "--resume", checkpoint, "-m", tmp_path / "again.rt")
        assert "continuing in pass" in result.stderr
        assert tensors_of(tmp_path / "again.rt") == expected


@pytest.mark.parametrize("options", [("--features", "dictionary")])
def test_a_checkpoint_with_a_dictionary_goes_on_exactly(folder, tmp_path, monkeypatch, options):
    copies = []
    save = recalltree.RecallTreeClassifier.save

    def remember(self, path, **extra):
        save(self, path, **extra)
        copies.append(tmp_path / f"{len(copies)}.rt")
        save(self, copies[-1], **extra)

    monkeypatch.setattr(recalltree.RecallTreeClassifier, "save", remember)
    arguments = ("train", folder / "train.vw", "--batch-rows", 100, *options)
    run(*arguments, "-m", tmp_path / "m.rt", "--checkpoint-every", "300rows")
    monkeypatch.undo()
    run(*arguments, "--resume", copies[0], "-m", tmp_path / "again.rt")
    assert tensors_of(tmp_path / "m.rt") == tensors_of(tmp_path / "again.rt")
    m, again = (recalltree.load(tmp_path / name) for name in ("m.rt", "again.rt"))
    assert m.model_extra_["rows"] == again.model_extra_["rows"]


# --- evaluate, predict ---------------------------------------------------------------------------


def test_evaluate_says_what_evaluation_says(folder):
    clf = recalltree.load(folder / "model.rt")
    X, y = all_rows(folder / "test.vw")
    expected = Evaluation(clf).update(X, y)
    found = json.loads(
        run("evaluate", "-m", folder / "model.rt", folder / "test.vw", "--json").stdout
    )
    for name, value in expected.as_dict().items():
        if name != "microseconds_per_row":
            assert found[name] == pytest.approx(value)
    assert found["microseconds_per_row"] > 0
    text = run("evaluate", "-m", folder / "model.rt", folder / "test.vw", "--confused", 2).stdout
    assert f"error@1           {found['error@1']:.4f}" in text
    most = expected.most_confused(2)
    assert text.splitlines()[-2:] == [f"{p['n_rows']}\t{p['label']}\t{p['answer']}" for p in most]


def test_predict_writes_labels_and_probabilities(folder):
    clf = recalltree.load(folder / "model.rt")
    X, _ = all_rows(folder / "test.vw")
    labels, probabilities = clf.predict_topk(X, 3)
    rows = (folder / "test.vw").read_text()
    lines = run("predict", "-m", folder / "model.rt", "-k", 3, input=rows).stdout.splitlines()
    assert len(lines) == 500
    for line, names, values in zip(lines, labels, probabilities, strict=True):
        fields = line.split("\t")
        assert fields[::2] == names.tolist()
        np.testing.assert_allclose(np.array(fields[1::2], dtype=float), values, rtol=1e-5)
    for option in ("--mmap", "--no-mmap"):
        arguments = ("predict", "-m", folder / "model.rt", "--labels-only", option)
        only = run(*arguments, folder / "test.vw").stdout
        assert only.splitlines() == labels[:, 0].tolist()
    for line, names, values in zip(
        run(
            "predict", "-m", folder / "model.rt", "-k", 3, "--json", input=rows
        ).stdout.splitlines(),
        labels,
        probabilities,
        strict=True,
    ):
        answer = json.loads(line)
        assert answer["labels"] == names.tolist()
        np.testing.assert_allclose(answer["probabilities"], values)


def test_rows_to_predict_need_no_labels_and_may_have_tags(folder):
    rows = "| w0 w1 w2\n'second | w5 w6 w7\n"
    out = run("predict", "-m", folder / "model.rt", "--json", input=rows).stdout
    first, second = map(json.loads, out.splitlines())
    assert first["labels"] == ["class0"]
    assert second["tag"] == "second"


@pytest.mark.parametrize("dense", [[], ["--dense"]])
def test_batches_that_come_quickly_are_answered_together(folder, tmp_path, monkeypatch, dense):
    bits = ["--bits", 8, *dense]
    run("train", folder / "train.vw", "-m", tmp_path / "model.rt", *bits)
    rows = (folder / "test.vw").read_text().replace("|", "1 tag|", 1)
    command = ["predict", "-m", tmp_path / "model.rt", "-k", 3, "--json", *bits]
    whole = run(*command, input=rows).stdout
    sizes = []

    def counted(batches):
        sizes.append([len(batch) for batch in batches])
        return joined_to_predict(batches)

    monkeypatch.setattr("recalltree.readers.batches.joined_to_predict", counted)
    monkeypatch.setattr(predict, "_PATIENCE", 100.0)
    assert run(*command, "--batch-rows", 7, input=rows).stdout == whole
    assert sizes == [[7] * 71 + [3]]
    sizes.clear()
    monkeypatch.setattr(predict, "_PATIENCE", -1.0)  # every batch took too long to come
    assert run(*command, "--batch-rows", 7, input=rows).stdout == whole
    assert sizes == [[7]] * 71 + [[3]]


@pytest.mark.parametrize("after", ["", "1 |a:x\n"], ids=["nothing", "a bad row"])
def test_rows_are_answered_though_none_follow(after, monkeypatch):
    source, sink = os.pipe()
    monkeypatch.setattr(predict, "_PATIENCE", 0.5)
    with os.fdopen(source, "rb") as file, os.fdopen(sink, "wb", buffering=0) as rows:
        rows.write(b"1 | a b\n" + after.encode())
        reader = open_rows(file, "vw", on_error="skip")
        late = threading.Timer(30, rows.write, [b"1 | c\n"])  # lets a reader that waits go on
        late.start()
        answered = next(predict._without_waiting(reader, n_rows=1000))
        assert late.is_alive()
        late.cancel()
        assert len(answered) == 1


def test_rows_before_a_bad_one_are_answered(folder):
    rows = (folder / "test.vw").read_text().splitlines(keepends=True)[:20]
    command = ["predict", "-m", folder / "model.rt", "--batch-rows", 3]
    answers = run(*command, input="".join(rows)).stdout
    found = run(*command, input="".join([*rows, "1 |a:x\n", *rows]), exit_code=1)
    assert found.stdout == answers


def test_labels_stay_in_their_column(tmp_path):
    rows = '{"y": "a\\tb\\nc", "x": 1.0}\n{"y": "d", "x": -1.0}\n' * 20
    (tmp_path / "rows.jsonl").write_text(rows)
    options = ("--label-column", "y", "--numeric-columns", "x", "--dense")
    run("train", tmp_path / "rows.jsonl", "-m", tmp_path / "m.rt", *options)
    out = run("predict", "-m", tmp_path / "m.rt", "--labels-only", tmp_path / "rows.jsonl").stdout
    assert set(out.splitlines()) == {r"a\tb\nc", "d"}


def test_rows_are_read_as_the_models_were(tmp_path):
    rows = "".join(f"{i % 2} {i % 2}:1 7:{i % 3}\n" for i in range(60))
    (tmp_path / "train.svm").write_text(rows)
    (tmp_path / "rows").write_text(rows)  # no name that would tell the format
    options = ("--zero-based", "--n-features", 8, "--dense", "--label-type", "str")
    run("train", tmp_path / "train.svm", "-m", tmp_path / "m.rt", *options)
    clf = recalltree.load(tmp_path / "m.rt")
    assert clf.n_features_in_ == 8
    assert clf.classes_.tolist() == ["0", "1"]
    found = json.loads(run("evaluate", "-m", tmp_path / "m.rt", tmp_path / "rows", "--json").stdout)
    assert found["error@1"] == 0.0
    # Options given now count: a one-based reader sees the index 0 as a bad row.
    arguments = ("evaluate", "-m", tmp_path / "m.rt", tmp_path / "rows", "--no-zero-based")
    assert "line 1" in run(*arguments, exit_code=1).stderr


def test_another_format_may_be_said(folder, tmp_path):
    clf = recalltree.load(folder / "model.rt")
    X, y = all_rows(folder / "test.vw")
    lines = []
    for i in range(20):
        row = X[i].tocoo()
        pairs = " ".join(f"{c + 1}:{v:g}" for c, v in zip(row.col, row.data, strict=True))
        lines.append(f"{y[i]} {pairs}\n")
    out = run(
        *("predict", "-m", folder / "model.rt", "--labels-only", "--format", "svmlight"),
        input="".join(lines),
    ).stdout
    assert out.splitlines() == clf.predict(X[:20]).tolist()


# --- inspect, explain ----------------------------------------------------------------------------


def test_inspect(folder, tmp_path):
    model = folder / "model.rt"
    clf = recalltree.load(model)
    found = json.loads(run("inspect", "-m", model, "--json").stdout)
    file, rows = found.pop("file"), found.pop("rows")
    assert found == json.loads(json.dumps(summary(clf)))
    assert file["bytes"] == model.stat().st_size
    assert rows["format"] == "vw"
    text = run("inspect", "-m", model).stdout
    assert "examples learned       2,000" in text
    assert run("inspect", "-m", model, "--tree", "--depth", 1).stdout.startswith("node 0: 2,000")
    of_class = json.loads(run("inspect", "-m", model, "--class", "class3", "--json").stdout)
    assert of_class == json.loads(json.dumps(find_class(clf, "class3")))
    assert "class3: class" in run("inspect", "-m", model, "--class", "class3").stdout
    result = run("inspect", "-m", model, "--class", "nobody", exit_code=1)
    assert "label='nobody' is not one of the 20 classes" in result.stderr
    page = tmp_path / "report.html"
    result = run("inspect", "-m", model, "--html", page, folder / "test.vw")
    assert result.stdout == ""
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert run("inspect", "-m", model, "--html", "-").stdout.startswith("<!DOCTYPE html>")
    result = run("inspect", "-m", model, folder / "test.vw", exit_code=2)
    assert "--html" in result.stderr


def test_explain(folder, tmp_path):
    row = "class3 | w15 w16 w17 w18\n"
    model = folder / "model.rt"
    text = run("explain", "-m", model, input=row).stdout
    assert text.startswith("Recall Tree answers class3")
    assert "stopped at node" in text
    found = json.loads(run("explain", "-m", model, "--json", "-k", 2, input=row).stdout)
    assert found["label"] == "class3"
    assert len(found["candidates"]) == 2
    run(*("train", folder / "train.vw", "-m", tmp_path / "named.rt", "--features", "dictionary"))
    text = run("explain", "-m", tmp_path / "named.rt", input=row + row).stdout
    assert text.count("Recall Tree answers") == 2
    assert "w16 = 1" in text


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "exit_code", "message"),
    [
        (["train", "rows.vw"], 2, "'-m' / '--model'"),
        (["train", "nothing.vw", "-m", "m.rt"], 1, "nothing.vw"),
        (["predict", "-m", "nothing.rt", "rows.vw"], 1, "nothing.rt"),
        (["predict", "-m", "rows.vw", "rows.vw"], 1, "rows.vw"),
        (["predict", "-m", "-", "-"], 2, "cannot both come from standard input"),
        (["train", "rows.vw", "-m", "m.rt", "--nonsense"], 2, "--nonsense"),
        (["train", "rows.vw", "-m", "m.rt", "--zero-based"], 1, "zero_based"),
        (["train", "rows.vw", "-m", "no/such/folder/m.rt"], 1, "no/such/folder"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, monkeypatch, arguments, exit_code, message):
    monkeypatch.chdir(tmp_path)
    write_rows(tmp_path / "rows.vw", 10)
    result = run(*arguments, exit_code=exit_code)
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_k_is_no_more_than_the_classes(folder):
    result = run("predict", "-m", folder / "model.rt", "-k", 21, folder / "test.vw", exit_code=2)
    assert "the model has 20 classes" in result.stderr
    result = run(
        *("predict", "-m", folder / "model.rt", "--json", "--labels-only", folder / "test.vw"),
        exit_code=2,
    )
    assert "exclude each other" in result.stderr


def test_debug_shows_where_an_error_comes_from(tmp_path):
    from click.testing import CliRunner

    from recalltree.cli import cli

    result = CliRunner().invoke(cli, ["--debug", "train", "nothing.vw", "-m", "m.rt"])
    assert isinstance(result.exception, FileNotFoundError)
