"""Features are called by the words of the row, whatever their columns are."""

import io

import numpy as np
import pytest
from command_line import run
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer

from recalltree import OneAgainstSomeClassifier
from recalltree.inspection import word_names
from recalltree.readers import open_rows

VOWPAL = b"cat |a purr meow:2 7 |b purr size:0.5 |wide:2 ears\ndog | bark 7\n"
FASTTEXT = b"__label__cat the cat purrs at the cat\n__label__dog the dog\n"
CSV = b"label,size,title,body\ncat,1,Purr!,The cat\ndog,2,Bark,the dog\n"
TABLE = {
    "format": "csv",
    "label_column": "label",
    "numeric_columns": ["size"],
    "text_column": ["title", "body"],
}
CASES = {
    "vw": (VOWPAL, {"format": "vw"}),
    "quadratic": (VOWPAL, {"format": "vw", "quadratic": ["ab", "aa"]}),
    "fasttext": (FASTTEXT, {"format": "fasttext", "ngrams": 3}),
    "csv": (CSV, TABLE),
    "one text column": (CSV, {**TABLE, "text_column": "body", "ngrams": 2}),
}


def rows_by_name(text, **options):
    """Return {name: value} of each row."""
    (batch,) = open_rows(io.BytesIO(text), keep_names=True, **options)
    X = batch.X.toarray()
    for row, names in zip(X, batch.feature_names, strict=True):
        assert set(np.flatnonzero(row)) <= set(names)
    return [
        {name: float(row[column]) for column, name in names.items()}
        for row, names in zip(X, batch.feature_names, strict=True)
    ]


@pytest.mark.parametrize("case", CASES)
def test_hashed_features_have_the_names_of_a_dictionary(case):
    text, options = CASES[case]
    by_dictionary = rows_by_name(text, **options, features="dictionary", n_features=256)
    assert rows_by_name(text, **options, bits=24) == by_dictionary


def test_names_are_those_that_the_row_has():
    (cat, dog) = rows_by_name(VOWPAL, format="vw")
    assert cat == {"a^purr": 1, "a^meow": 2, "a^7": 1, "b^purr": 1, "b^size": 0.5, "wide^ears": 2}
    assert dog == {"bark": 1, "7": 1}
    (cat, _) = rows_by_name(FASTTEXT, format="fasttext", ngrams=2)
    assert cat["the cat"] == 2
    assert cat["purrs at"] == 1
    (cat, _) = rows_by_name(CSV, **TABLE)
    assert cat == {"size": 1, "title^purr": 1, "body^the": 1, "body^cat": 1}


def test_words_that_share_a_column_are_all_named():
    (cat, dog) = rows_by_name(b"cat | purr meow purr\ndog | bark\n", format="vw", bits=1)
    (everything,) = rows_by_name(b"x | a b c d e f g h i j\n", format="vw", n_features=1)
    assert everything == {"a or b or c or d or e or f or g or h or i or j": 10}
    assert sum(cat.values()) == 3
    assert {word for name in cat for word in name.split(" or ")} == {"purr", "meow"}
    assert list(dog) == ["bark"]


def test_numbered_features_are_called_as_in_the_file():
    assert rows_by_name(b"1 3:2 8:1\n") == [{"feature 3": 2, "feature 8": 1}]
    assert rows_by_name(b"1 0:2\n", zero_based=True) == [{"feature 0": 2}]
    assert rows_by_name(b"1 9 2\na 4:1\n", format="xc", label_type="str") == [{"feature 4": 1}]


def test_columns_of_an_embedding_have_names():
    table = b"label,text,x,y\ncat,purr,0.5,2\n"
    (cat,) = rows_by_name(
        table, format="csv", label_column="label", text_column="text", embedding_columns=["x", "y"]
    )
    assert cat == {"purr": 1, "x": 0.5, "y": 2}


def test_nobody_pays_for_names_that_are_not_asked_for():
    (batch,) = open_rows(io.BytesIO(VOWPAL), format="vw")
    assert batch.feature_names is None


@pytest.mark.parametrize(
    "vectorizer",
    [
        HashingVectorizer(n_features=2**20, alternate_sign=False, ngram_range=(1, 2)),
        HashingVectorizer(n_features=2**20, analyzer="char", ngram_range=(3, 3)),
        CountVectorizer(stop_words="english"),
        TfidfVectorizer(ngram_range=(1, 2)),
    ],
    ids=["hashed", "characters", "counted", "tf-idf"],
)
def test_word_names_are_those_of_the_vectorizer(vectorizer):
    text = "The cat purrs at the other cat"
    vectorizer.fit([text, "a dog"])
    names = word_names(vectorizer, text)
    assert set(names) == set(vectorizer.transform([text]).indices)
    assert set(names.values()) == set(vectorizer.build_analyzer()(text))
    if hasattr(vectorizer, "vocabulary_"):
        known = vectorizer.get_feature_names_out()
        assert all(known[column] == name for column, name in names.items())
    assert word_names(vectorizer, "") == {}


def test_an_explanation_takes_names_of_some_features():
    words = HashingVectorizer(norm=None, alternate_sign=False)
    texts = ["the cat purrs", "the dog barks"] * 20
    clf = OneAgainstSomeClassifier().fit(words.transform(texts), ["cat", "dog"] * 20)
    row = words.transform(["a cat purrs"])
    shares = clf.explain(row, feature_names=word_names(words, "a cat purrs")).candidates[0].features
    assert {share.name for share in shares} == {"cat", "purrs"}
    some = clf.explain(row, feature_names={}).candidates[0].features
    assert all(share.name.startswith("feature ") for share in some)


def test_the_command_line_names_the_words_of_the_row(tmp_path):
    rows, model = tmp_path / "rows.vw", tmp_path / "model.rt"
    rows.write_bytes(VOWPAL * 20)
    run("train", rows, "-m", model, "-q", "--algorithm", "one-against-some")
    shown = run("explain", "-m", model, "-k", 1, input=VOWPAL.splitlines(keepends=True)[0]).stdout
    assert "a^purr = 1" in shown
    assert "wide^ears = 2" in shown
    assert "feature" not in shown.replace("other features", "")
