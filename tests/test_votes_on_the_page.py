"""The page of one-against-some: what is typed is read as the model reads rows, and votes add up."""

import numpy as np
import pytest
from browser import find_browser
from command_line import run

import recalltree
from recalltree import OneAgainstSomeClassifier
from recalltree.inspection import html_report
from recalltree.inspection import votes as votes_module
from recalltree.inspection.report_data import report_data
from recalltree.readers import open_rows
from recalltree.readers.feature_state import names_in_options

VOWPAL = [
    "cat |a purr meow:2 7 |b purr size:0.5",
    "dog |a bark 7 |b size:2",
    "fish |a swim |b purr",
]
FILES = {
    "rows.vw": ("\n".join(VOWPAL * 30), ("--quadratic", "ab")),
    "rows.ft": ("__label__cat the cat purrs\n__label__dog the dog barks\n" * 30, ("--ngrams", 2)),
    "rows.csv": (
        "label,title,body\n" + "cat,Purr!,The cät is here\ndog,Bark,the dog is not\n" * 30,
        ("--label-column", "label", "--text-column", "title,body"),
    ),
    "one.csv": ("label,body\n" + "cat,The cat's here\ndog,the dog isn't\n" * 30, ()),
    "rows.svm": ("1 1:2 5:3\n2 3:1 5:1\n" * 30, ()),
}
TYPED = {
    "rows.vw": ["|a purr meow:2 7 |b purr size:0.5", "|b size:2 |a bark 7", "|a swim |b:2 purr"],
    "rows.ft": ["the cat purrs", "dog barks"],
    "one.csv": ["The cat's here", "dog isn't"],
    "rows.svm": ["1:2 5:3", "3:1"],
}


@pytest.fixture(scope="module")
def browser():
    path = find_browser()
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def trained(tmp_path):
    def train(name, *more):
        text, options = FILES[name]
        (tmp_path / name).write_text(text, encoding="utf-8")
        model = tmp_path / f"{name}.rt"
        chosen = ("--algorithm", "one-against-some", "--passes", 2)
        run("train", tmp_path / name, "-m", model, "-q", *chosen, *options, *more)
        return recalltree.load(model)

    return train


@pytest.fixture
def open_page(browser, tmp_path):
    complaints, pages = [], []

    def opened(clf, **options):
        path = html_report(clf, tmp_path / "page.html", **options)
        page = browser.new_page()
        pages.append(page)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]", timeout=20_000)
        return page

    yield opened
    for page in pages:
        page.close()
    assert complaints == []


def answers_to(page, text):
    """Return {class: score} that the page shows, the best first."""
    page.fill("#votes-row", text)
    cells = page.locator("#votes-answers tbody tr").all()
    found = [row.locator("td").all_inner_texts()[:2] for row in cells]
    return {label: float(score.replace("−", "-")) for label, score in found}


@pytest.mark.parametrize("features", ["hashed", "dictionary"])
@pytest.mark.parametrize("name", TYPED)
def test_a_typed_row_has_the_scores_of_the_model(open_page, trained, tmp_path, name, features):
    numbered = name == "rows.svm"
    clf = trained(name, *(() if numbered else ("--features", features)))
    reader = clf.model_extra_["rows"]
    page = open_page(clf, feature_names=names_in_options(reader))
    for typed in TYPED[name]:
        file = tmp_path / f"typed.{name.rpartition('.')[2]}"
        head = "body\n" if name == "one.csv" else ""
        label = "1 " if numbered else ""
        line = f'"{typed}"' if name == "one.csv" else label + typed
        file.write_text(f"{head}{line}\n")
        (batch,) = open_rows(str(file), **reader, frozen=True, require_labels=False)
        scores = clf.candidates(batch.X).toarray()[0]
        shown = answers_to(page, typed)
        assert next(iter(shown)) == str(clf.predict(batch.X)[0])
        for label, score in shown.items():
            expected = scores[[str(known) for known in clf.classes_].index(label)]
            assert score == pytest.approx(expected, abs=2e-3)


def test_words_are_looked_up_in_every_column_of_text(open_page, trained):
    page = open_page(trained("rows.csv"))
    assert next(iter(answers_to(page, "purr CÄT"))) == "cat"
    text = page.inner_text("#votes-answers")
    assert "title^purr" in text
    assert "body^cät" in text
    assert "Not on this page: title^cät, body^purr" in text


def test_a_word_shows_whom_it_votes_for(open_page, trained):
    page = open_page(trained("rows.ft"))
    assert list(answers_to(page, "barks")) == ["dog"]
    assert set(answers_to(page, "the")) == {"cat", "dog"}
    assert answers_to(page, "unheard") == {}
    assert "Not on this page: unheard" in page.inner_text("#votes-answers")


def test_names_may_be_given_and_text_stays_text(open_page):
    X = np.array([[1, 0, 1], [0, 1, 1]] * 20)
    from scipy.sparse import csr_matrix

    clf = OneAgainstSomeClassifier().fit(csr_matrix(X), ["<b>cat</b>", "dog"] * 20)
    page = open_page(clf, feature_names=["purr", "bark", "<i>the</i>"])
    assert next(iter(answers_to(page, "purr"))) == "<b>cat</b>"
    assert set(answers_to(page, "<i>the</i>")) == {"<b>cat</b>", "dog"}
    page = open_page(clf)
    assert "type 17:2" in page.inner_text("#votes-note")
    assert next(iter(answers_to(page, "1:1"))) == "dog"


def test_models_without_votes_of_words_have_no_box(open_page):
    page = open_page(OneAgainstSomeClassifier().fit(np.eye(4), list("abcd")))
    assert page.is_hidden("#votes-section")


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_compacted_models_have_the_same_votes(trained, tmp_path, dtype):
    clf = trained("rows.vw")
    clf.compact(dtype).save(tmp_path / "small.rt")
    shown, small = (
        report_data(model, None)["votes"] for model in (clf, recalltree.load(tmp_path / "small.rt"))
    )
    assert small["votes"] == shown["votes"]
    np.testing.assert_allclose(small["weights"], shown["weights"], rtol=1e-2, atol=1e-6)


def test_of_many_votes_the_page_has_the_largest_part(trained, monkeypatch):
    clf = trained("rows.vw")
    monkeypatch.setattr(votes_module, "MAX_FEATURES", 4)
    monkeypatch.setattr(votes_module, "MOST_VOTES", 1)
    data = report_data(clf, None)["votes"]
    assert len(data["columns"]) == 4 < data["n_features"]
    assert max(np.diff(data["offsets"])) == 1
    assert data["left_out"] > 0
