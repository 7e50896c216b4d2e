"""What cannot be merged is refused, with a message that names what differs."""

import json

import numpy as np
import pytest
from command_line import run
from forged import Forged
from test_merge import dense_rows, go_on, new, shards_of, sparse_rows

import recalltree
from recalltree import OneAgainstSomeClassifier, RecallTreeClassifier
from recalltree.model_file import ModelFileError


def fitted(**parameters):
    X, y = sparse_rows()
    return new(**parameters).fit(X[:100], y[:100])


def test_every_parameter_that_differs_is_named_with_both_values():
    ours, theirs = fitted(), fitted(learning_rate=0.25, max_labels=64, use_idf=False)
    with pytest.raises(ValueError, match=r"the models cannot be merged: ") as raised:
        recalltree.merge([ours, theirs])
    text = str(raised.value)
    assert "learning_rate is 1.0 in models[0] and 0.25 in models[1]" in text
    assert "max_labels is 512 in models[0] and 64 in models[1]" in text
    assert "use_idf is True in models[0] and False in models[1]" in text


def test_parameters_that_do_not_shape_the_model_may_differ():
    merged = recalltree.merge([fitted(n_jobs=2, n_passes=3), fitted(verbose=0)])
    assert merged.n_jobs == 2


def test_seeds_differ_where_nothing_depends_on_them():
    X, y = sparse_rows()
    models = [OneAgainstSomeClassifier(random_state=i).fit(X, y) for i in range(2)]
    assert recalltree.merge(models).n_examples_ == 2 * len(y)
    X, y = dense_rows()
    models = [OneAgainstSomeClassifier(random_state=i).fit(X, y) for i in range(2)]
    with pytest.raises(ValueError, match=r"seed is \d+ in models\[0\] and \d+ in models\[1\]"):
        recalltree.merge(models)


def test_other_algorithms():
    X, y = sparse_rows()
    with pytest.raises(
        ValueError, match=r"algorithm is 'one-against-some' in .* and 'recall-tree'"
    ):
        recalltree.merge([fitted(), new(RecallTreeClassifier).fit(X, y)])


def test_numbers_of_features():
    X, y = sparse_rows()
    with pytest.raises(ValueError, match=r"n_features is 40 in models\[0\] and 30 in models\[1\]"):
        recalltree.merge([fitted(), new().fit(X[:, :30], y)])


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    X, y = dense_rows()
    frames = [pd.DataFrame(X, columns=[f"{c}{i}" for i in range(12)]) for c in "ab"]
    models = [new().fit(frame, y) for frame in frames]
    with pytest.raises(ValueError, match=r"feature_names_in_\[0\] is 'a0' in .* and 'b0' in"):
        recalltree.merge(models)


def test_kinds_of_labels():
    X, _ = sparse_rows()
    with pytest.raises(ValueError, match="integers"):
        recalltree.merge([fitted(), new().fit(X[:100], np.arange(100))])


def test_compacted_models():
    with pytest.raises(ValueError, match=r"models\[0\] was compacted"):
        recalltree.merge([fitted().compact()])


def test_a_base_from_which_a_model_did_not_go_on():
    base = fitted()
    X, y = sparse_rows()
    with pytest.raises(ValueError, match=r"models\[0\] did not continue from base"):
        recalltree.merge([new().fit(X[:20], y[:20])], base=base)


def test_what_is_no_model(tmp_path):
    with pytest.raises(TypeError, match="models is a str"):
        recalltree.merge("model.rt")
    with pytest.raises(TypeError, match=r"models\[0\] is a int"):
        recalltree.merge([3])
    with pytest.raises(ValueError, match="models is empty"):
        recalltree.merge([])
    with pytest.raises(ValueError, match="rule='median': it must be one of auto, "):
        recalltree.merge([fitted()], rule="median")
    with pytest.raises(FileNotFoundError):
        recalltree.merge([tmp_path / "missing.rt"])


# --- files ---------------------------------------------------------------------------------------


@pytest.fixture
def files(tmp_path):
    X, y = sparse_rows()
    base, models = shards_of(new(), X, y, tmp_path, n_shards=2)
    paths = [tmp_path / f"{i}.rt" for i in range(2)]
    for model, path in zip(models, paths, strict=True):
        model.save(path)
    return base, paths


def test_truncated_and_damaged_files(files):
    base, (first, second) = files
    data = second.read_bytes()
    second.write_bytes(data[:-100])
    with pytest.raises(ModelFileError, match="truncated"):
        recalltree.merge([first, second], base=base)
    damaged = bytearray(data)
    start = 8 + int.from_bytes(data[:8], "little")
    weights = json.loads(data[8:start])["pairs.weights"]["data_offsets"][0]
    damaged[start + weights] ^= 1
    second.write_bytes(damaged)
    with pytest.raises(ModelFileError, match="checksum"):
        recalltree.merge([first, second], base=base)


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("pairs.keys", 2**31, "sorted list of features"),
        ("pairs.weights", np.nan, "pairs.weights"),
        ("pairs.counts", -1.0, "negative"),
        ("keys.labels", 2**31, "keys.labels"),
        ("scale.features", -1.0, "negative"),
    ],
)
def test_hostile_files(files, name, value, why):
    base, (first, second) = files
    forged = Forged(second.read_bytes())
    forged.tensors[name].flat[0] = value
    forged.write(second)
    with pytest.raises(ModelFileError, match=why):
        recalltree.merge([first, second], base=base)


def test_an_error_leaves_the_file_as_it_was(files, tmp_path):
    base, (first, second) = files
    out = tmp_path / "out.rt"
    out.write_bytes(first.read_bytes())
    second.write_bytes(second.read_bytes()[:-100])
    run("merge", first, second, "--base", base, "-m", out, exit_code=1)
    assert out.read_bytes() == first.read_bytes()
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".tmp")]


def test_the_merged_model_may_take_the_place_of_the_base(files):
    base, paths = files
    run("merge", *paths, "--base", base, "-m", base, "--quiet")
    again = go_on(base, *(part[:10] for part in sparse_rows()))
    assert again.n_examples_ == 610
