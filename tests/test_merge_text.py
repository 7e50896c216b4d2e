"""Merging models of text: dictionaries are matched by name, hashed features by index."""

import json

import numpy as np
import pytest
from command_line import run

import recalltree
from recalltree.readers.feature_state import FeatureState

ANIMALS = [
    "__label__cat purr meow whiskers",
    "__label__dog bark wag bone",
    "__label__fish swim fin scale",
]
OTHERS = [
    "__label__bird sing fly feather",
    "__label__fish swim gills scale",
    "__label__cat meow paws",
]


def train(tmp_path, name, lines, *options):
    rows, model = tmp_path / f"{name}.txt", tmp_path / f"{name}.rt"
    rows.write_text("\n".join(lines) + "\n")
    kind = [] if "--resume" in options else ["--algorithm", "one-against-some"]
    run("train", rows, "-m", model, "--quiet", "--format", "fasttext", *kind, *options)
    return model


def documents_by_word(clf):
    """Return in how many examples each word was seen, by name: of the model, and of its reader."""
    state = FeatureState.unpacked(clf.model_extra_["rows"]["state"])
    arrays = clf._core.state()
    examples = dict(zip(arrays["keys.features"].tolist(), arrays["keys.examples"], strict=True))
    counts = np.zeros(len(state.names)) if state.counts is None else state.counts
    return {word: (examples.get(i, 0.0), int(counts[i])) for i, word in enumerate(state.names)}


@pytest.mark.parametrize("weighting", ["tf", "tf-idf"])
def test_words_are_matched_by_name(tmp_path, weighting):
    options = ["--features", "dictionary", "--bits", "6", "--weighting", weighting]
    first = train(tmp_path, "first", ANIMALS * 20, *options)
    second = train(tmp_path, "second", OTHERS * 20, *options)
    both = train(tmp_path, "both", ANIMALS * 20 + OTHERS * 20, *options)
    merged = tmp_path / "merged.rt"
    run("merge", second, first, "-m", merged)
    ours, theirs = recalltree.load(merged, verify=True), recalltree.load(both)
    assert documents_by_word(ours) == documents_by_word(theirs)
    test = tmp_path / "test.txt"
    test.write_text("\n".join([*ANIMALS, *OTHERS]) + "\n")
    answers = run("predict", "-m", merged, test).stdout.split("\n")
    assert [line.split("\t")[0] for line in answers if line] == [
        "cat", "dog", "fish", "bird", "fish", "cat",
    ]  # fmt: skip


def test_a_base_counts_once(tmp_path):
    options = ["--features", "dictionary", "--bits", "6", "--weighting", "tf-idf"]
    base = train(tmp_path, "base", ANIMALS * 5, *options)
    first = train(tmp_path, "first", OTHERS * 3, "--resume", base)
    second = train(tmp_path, "second", ["__label__cow moo bone"] * 4, "--resume", base)
    merged = recalltree.merge([first, second], base=base)
    all_rows = ANIMALS * 5 + OTHERS * 3 + ["__label__cow moo bone"] * 4
    one = recalltree.load(train(tmp_path, "one", all_rows, *options))
    assert documents_by_word(merged) == documents_by_word(one)


def test_hashed_words_need_the_same_width(tmp_path):
    first = train(tmp_path, "first", ANIMALS * 5, "--bits", "8")
    second = train(tmp_path, "second", OTHERS * 5, "--bits", "9")
    result = run("merge", first, second, "-m", tmp_path / "merged.rt", exit_code=1)
    assert f"n_features is 256 in {first} and 512 in {second}" in result.stderr
    assert not (tmp_path / "merged.rt").exists()


def test_a_dictionary_that_would_be_too_long_is_an_error(tmp_path):
    options = ["--features", "dictionary", "--n-features", "10"]
    first = train(tmp_path, "first", ANIMALS * 5, *options)
    second = train(tmp_path, "second", OTHERS * 5, *options)
    with pytest.raises(ValueError, match=r"14 features together.*room for 10"):
        recalltree.merge([first, second])


def test_training_goes_on_from_a_merged_file(tmp_path):
    options = ["--features", "dictionary", "--bits", "6"]
    first = train(tmp_path, "first", ANIMALS * 5, *options)
    second = train(tmp_path, "second", OTHERS * 5, *options)
    merged = tmp_path / "merged.rt"
    found = run("merge", first, second, "-m", merged, "--json")
    assert json.loads(found.stdout)["n_examples"] == 30
    again = train(tmp_path, "again", ["__label__cow moo bone"] * 3, "--resume", merged)
    clf = recalltree.load(again)
    assert clf.n_examples_ == 33
    assert set(documents_by_word(clf)) > {"purr", "sing", "moo"}
