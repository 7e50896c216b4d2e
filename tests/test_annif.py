"""The backend for Annif, through Annif's own commands and server (`make test-annif`)."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

if util.find_spec("annif") is None:
    if os.environ.get("RECALLTREE_ANNIF") == "required":
        pytest.fail("annif is not installed (extra: annif)", pytrace=False)
    pytest.skip(
        "annif is not installed (extra: annif); run make test-annif", allow_module_level=True
    )

URI = "http://example.org/topic/{}"
N_SUBJECTS, WORDS_EACH = 30, 6
PROJECTS = """
[words]
name=Words as they are
language=en
backend=recalltree
vocab=topics
allow_learn=true

[pairs]
name=Pairs of words, two passes
language=en
backend=recalltree
vocab=topics
ngram=2
n_passes=2
learning_rate=0.5
memory_budget=50000000
limit=3

[analysed]
name=Words of an analyzer, some sentences at a time
language=en
backend=recalltree
analyzer=simple
vocab=topics
chunksize=1

[closed]
name=Learning is not allowed
language=en
backend=recalltree
vocab=topics
"""


def word(subject: int, j: int) -> str:
    return f"term{chr(97 + subject % 26)}{chr(97 + subject // 26)}{chr(97 + j)}"


def documents(
    n: int, seed: int, subjects: range = range(N_SUBJECTS)
) -> list[tuple[str, list[int]]]:
    """Return texts with words of their one to three subjects, and words that all share."""
    random = np.random.default_rng(seed)
    found = []
    for _ in range(n):
        own = random.choice(np.array(subjects), size=random.integers(1, 4), replace=False).tolist()
        words = [word(s, j) for s in own for j in random.choice(WORDS_EACH, 3, replace=False)]
        words += [f"common{chr(97 + j)}" for j in random.integers(0, 8, 4)]
        found.append((" ".join(random.permutation(words)).capitalize() + ".", own))
    return found


def write_corpus(path: Path, rows: list[tuple[str, list[int]]]) -> Path:
    lines = [f"{text}\t{' '.join(f'<{URI.format(s)}>' for s in own)}\n" for text, own in rows]
    path.write_text("".join(lines))
    return path


def write_vocabulary(path: Path, subjects: list[int]) -> Path:
    path.write_text("".join(f"<{URI.format(s)}>\ttopic {s}\n" for s in subjects))
    return path


def sentence_model(folder: Path) -> None:
    """Write what NLTK finds sentences with, learned from a text: Annif would download it."""
    from nltk.tokenize.punkt import PunktTrainer, save_punkt_params

    text = " ".join(text for text, _ in documents(200, seed=9))
    language = folder / "tokenizers" / "punkt_tab" / "english"
    language.parent.mkdir(parents=True)
    save_punkt_params(PunktTrainer(text).get_params(), str(language))


class Annif:
    """Annif's commands in a folder of their own, which is the current one."""

    def __init__(self, folder: Path) -> None:
        import nltk

        self.folder = folder
        (folder / "projects.cfg").write_text(PROJECTS)
        sentence_model(folder / "nltk")
        nltk.data.path.insert(0, str(folder / "nltk"))
        self.environment = {
            "ANNIF_CONFIG": "recalltree.annif.Config",
            "NLTK_DATA": str(folder / "nltk"),
        }
        self.load_vocabulary(list(range(N_SUBJECTS)))

    def start(self, *arguments) -> subprocess.Popen:
        """Start the program that users start."""
        return subprocess.Popen(
            [Path(sys.executable).parent / "annif", *map(str, arguments)],
            env={**os.environ, **self.environment},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def __call__(self, *arguments, text: str = "", fails: bool = False) -> str:
        """Run a command in this process, which has imported everything once."""
        from annif.cli import cli

        found = CliRunner().invoke(cli, list(map(str, arguments)), input=text, env=self.environment)
        if found.exception is not None and not isinstance(found.exception, SystemExit):
            raise found.exception
        assert (found.exit_code != 0) == fails, found.output
        return found.output

    def load_vocabulary(self, subjects: list[int]) -> None:
        path = write_vocabulary(self.folder / "topics.tsv", subjects)
        self("load-vocab", "-L", "en", "topics", path)

    def suggest(self, project: str, text: str, *options) -> dict[int, float]:
        lines = self("suggest", project, *options, text=text).splitlines()
        found = [line.split("\t") for line in lines if line.startswith("<")]
        return {int(uri.rsplit("/", 1)[1][:-1]): float(score) for uri, _, score in found}

    def scores(self, project: str, corpus: Path, *options) -> dict[str, float]:
        path = self.folder / "metrics.json"
        self("eval", project, corpus, "-l", "3", "-M", path, *options)
        return json.loads(path.read_text())

    def model(self, project: str) -> Path:
        return self.folder / "data" / "projects" / project / "recalltree-model.rt"


@pytest.fixture(scope="module")
def annif(tmp_path_factory):
    folder = tmp_path_factory.mktemp("annif")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [name for name in os.environ if name.startswith("ANNIF_")]:
            patch.delenv(name)
        yield Annif(folder)


@pytest.fixture(scope="module")
def train(annif):
    return write_corpus(annif.folder / "train.tsv", documents(600, seed=1))


@pytest.fixture(scope="module")
def test(annif):
    return write_corpus(annif.folder / "test.tsv", documents(60, seed=2))


@pytest.fixture(scope="module")
def trained(annif, train):
    annif("train", "words", train)
    return annif


def text_of(*subjects: int) -> str:
    return " ".join(word(s, j) for s in subjects for j in range(WORDS_EACH))


def test_a_trained_project_suggests_subjects(trained, test):
    found = trained.suggest("words", text_of(3, 7))
    assert set(list(found)[:2]) == {3, 7}
    assert all(0 <= score <= 1 for score in found.values())
    assert found[3] > 0.3 > list(found.values())[5]
    scores = trained.scores("words", test)
    assert scores["NDCG"] > 0.9
    # Two processes add up in another order.
    assert trained.scores("words", test, "-j", "2") == pytest.approx(scores)


def test_the_program_finds_the_backend_by_its_configuration(trained):
    process = trained.start("suggest", "words")
    output, _ = process.communicate(text_of(3), timeout=120)
    assert (process.returncode, URI.format(3) in output.splitlines()[0]) == (0, True), output


def test_scores_are_the_marginal_probabilities_of_the_estimator(trained):
    import recalltree
    from recalltree.readers import open_rows

    model = recalltree.load(trained.model("words"))
    text = text_of(3, 7)
    rows = trained.folder / "row.txt"
    rows.write_text(text + "\n")
    (batch,) = open_rows(rows, **model.model_extra_["rows"], require_labels=False, frozen=True)
    labels, probabilities = model.predict_topk(batch.X, k=10)
    expected = {
        int(uri.rsplit("/", 1)[1]): p for uri, p in zip(*labels, *probabilities, strict=True)
    }
    found = trained.suggest("words", text)
    for subject, score in found.items():
        assert score == pytest.approx(expected[subject], abs=1e-4)


def test_texts_without_known_words_get_little_and_empty_ones_nothing(trained):
    assert trained.suggest("words", "") == {}
    assert trained.suggest("words", "?!") == {}


def test_projects_have_their_own_parameters(annif, train, test):
    annif("train", "pairs", train)
    import recalltree

    model = recalltree.load(annif.model("pairs"))
    assert model.model_extra_["rows"]["ngrams"] == 2
    found = {name: getattr(model, name) for name in ("n_passes", "learning_rate", "memory_budget")}
    assert found == {"n_passes": 2, "learning_rate": 0.5, "memory_budget": 50_000_000}
    assert len(annif.suggest("pairs", text_of(1, 2, 3, 4, 5))) == 3
    assert annif.scores("pairs", test)["NDCG"] > 0.9
    before = annif.model("pairs").read_bytes()
    annif("train", "pairs", "--cached")
    assert annif.model("pairs").read_bytes() == before
    annif("train", "pairs", "--cached", "-b", "recalltree.n_passes=1")
    assert recalltree.load(annif.model("pairs")).n_passes == 1


def test_analyzers_make_the_words_and_the_sentences(annif, train):
    annif("train", "analysed", train)
    found = annif.suggest("analysed", f"{text_of(4).upper()}. {text_of(9)}.")
    assert set(list(found)[:2]) == {4, 9}
    assert all(score <= 0.6 for score in found.values())  # the mean of two sentences
    settings = ("-b", "recalltree.chunksize=0")
    assert annif.suggest("analysed", text_of(4), *settings)[4] > 0.5


def test_chunks_need_an_analyzer(trained):
    output = trained("suggest", "words", "-b", "recalltree.chunksize=2", text="a cat", fails=True)
    assert "Misconfigured project 'words': chunksize=2" in output
    assert "analyzer" in output


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("limit=0", "limit=0: it must be an integer of at least 1"),
        ("ngram=9", "ngram=9: it must be an integer of at least 1 and of at most 8"),
        ("n_passes=two", "n_passes=two: it must be an integer"),
        ("learning_rate=0", "learning_rate=0: it must be a number above 0"),
        ("memory_budget=-1", "memory_budget=-1: it must be an integer of at least 1"),
        ("feature_dropout=1", "feature_dropout=1: it must be a number of at least 0 and below 1"),
    ],
)
def test_wrong_parameters_are_named(trained, train, setting, reason):
    before = trained.model("words").read_bytes()
    output = trained("train", "words", "-b", f"recalltree.{setting}", train, fails=True)
    assert f"Misconfigured project 'words': {reason}" in output
    assert trained.model("words").read_bytes() == before


def test_projects_that_are_not_trained_or_damaged_say_so(annif, train, tmp_path):
    assert "not trained" in annif("suggest", "closed", text="a cat", fails=True)
    annif("train", "closed", train)
    model = annif.model("closed")
    model.write_bytes(model.read_bytes()[:1000])
    output = annif("suggest", "closed", text="a cat", fails=True)
    assert "Operation failed" in output
    assert "Learning not enabled" in annif("learn", "closed", train, fails=True)
    nothing = tmp_path / "nothing.tsv"
    nothing.write_text("some words\t<http://example.org/unknown>\n")
    assert "no document has both" in annif("train", "closed", nothing, fails=True)


def test_learning_is_online_and_the_vocabulary_may_grow_and_move(annif, train, tmp_path):
    annif("train", "words", train)
    before = annif.model("words").read_bytes()
    first = annif.suggest("words", text_of(3, 7), "-l", "2")
    new = range(N_SUBJECTS, N_SUBJECTS + 4)
    # The old subjects come last now and one is gone: all have other numbers.
    subjects = [*new, *(s for s in range(N_SUBJECTS) if s != 5)][::-1]
    path = write_vocabulary(annif.folder / "topics.tsv", subjects)
    annif("load-vocab", "--force", "-L", "en", "topics", path)
    try:
        assert annif.suggest("words", text_of(3, 7), "-l", "2") == first
        assert 5 not in annif.suggest("words", text_of(5))
        assert len(annif.suggest("words", text_of(5), "-b", "recalltree.limit=3")) == 3
        annif("learn", "words", write_corpus(tmp_path / "new.tsv", documents(80, 3, new)))
        assert next(iter(annif.suggest("words", text_of(new[1])))) == new[1]
        assert set(annif.suggest("words", text_of(3, 7), "-l", "2")) == {3, 7}
        assert annif.model("words").read_bytes() != before
        import recalltree

        model = recalltree.load(annif.model("words"))
        assert model.n_examples_ == 680
        left = sorted(path.name for path in annif.model("words").parent.iterdir())
        assert left == ["recalltree-model.rt", "recalltree-train.txt"]
    finally:
        path = write_vocabulary(annif.folder / "topics.tsv", list(range(N_SUBJECTS)))
        annif("load-vocab", "--force", "-L", "en", "topics", path)
        annif("train", "words", train)


def test_learning_that_fails_leaves_the_model(trained, tmp_path):
    before = trained.model("words").read_bytes()
    nothing = write_corpus(tmp_path / "nothing.tsv", [])
    trained("learn", "words", nothing)
    assert trained.model("words").read_bytes() == before
    trained("learn", "words", tmp_path / "missing.tsv", fails=True)
    assert trained.model("words").read_bytes() == before


def request(port: int, path: str, body: object = None, form: dict | None = None):
    data = json.dumps(body).encode() if body is not None else None
    headers = {"Content-Type": "application/json"}
    if form is not None:
        data, headers = urllib.parse.urlencode(form).encode(), {}
    url = f"http://127.0.0.1:{port}/v1{path}"
    with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
        content = answer.read()
    return json.loads(content) if content.strip() not in (b"", b"null") else None


@pytest.fixture
def server(trained):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = trained.start("run", "--port", port)
    try:
        for _ in range(600):
            try:
                request(port, "/projects")
                break
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, process.communicate()[0]
                time.sleep(0.1)
        else:
            pytest.fail("the server does not answer")
        yield port
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


def test_the_server_suggests_and_learns(trained, server):
    def suggested(text: str) -> list[str]:
        found = request(server, "/projects/words/suggest", form={"text": text, "limit": 2})
        return [result["uri"] for result in found["results"]]

    assert {p["project_id"] for p in request(server, "/projects")["projects"]} >= {"words"}
    assert set(suggested(text_of(3, 7))) == {URI.format(3), URI.format(7)}
    # A word that nobody knew: learned by the server, then by another process.
    subject = {"uri": URI.format(11), "label": "topic 11"}
    new = [{"text": "zyzzyva", "subjects": [subject]}] * 10
    request(server, "/projects/words/learn", body=new)
    assert suggested("zyzzyva")[0] == URI.format(11)
    more = write_corpus(trained.folder / "more.tsv", [("quagga", [12])] * 10)
    trained("learn", "words", more)
    assert suggested("quagga")[0] == URI.format(12)
    assert suggested("zyzzyva")[0] == URI.format(11)
    texts = [{"text": text_of(s)} for s in range(5)]
    batch = request(server, "/projects/words/suggest-batch", body={"documents": texts})
    assert [found["results"][0]["uri"] for found in batch] == [URI.format(s) for s in range(5)]
    with pytest.raises(urllib.error.HTTPError) as refused:
        request(server, "/projects/pairs/learn", body=new)
    assert refused.value.code == 403


def test_an_annif_that_keeps_backends_elsewhere_is_refused(monkeypatch):
    import annif.backend

    from recalltree import annif as ours

    monkeypatch.delattr(annif.backend, "_backend_fns")
    with pytest.raises(ImportError, match="does not know where Annif"):
        ours._register()
