"""One-against-some with several labels per row, of the core against the reference."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from side_by_side import assert_lists_of_one_are_labels
from streams import configs, make_stream, parity_settings, streams, with_several_labels
from test_parity_one_against_some import CHOICES, KEYS, run

from recalltree import _core


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("keys", KEYS)
@parity_settings(max_examples=2)
@given(data=st.data())
def test_every_step_agrees(sparse, keys, data):
    salt = sparse, KEYS.index(keys), 2
    stream = data.draw(streams(*salt, sparse=sparse, max_classes=25))
    config = data.draw(configs(*salt, choices=CHOICES)) | {"keys": keys}
    if stream.n_passes > 1:
        config["max_candidates"] = 40  # see test_parity_one_against_some
    run(with_several_labels(stream, seed=1), config)


@pytest.mark.parametrize("n_passes", [1, 3])
def test_defaults_agree_while_classes_keep_arriving(n_passes):
    stream = make_stream(
        seed=7, n_classes=70, n_features=30, sparse=True, weighted=True, n_passes=n_passes
    )
    reference = run(with_several_labels(stream, seed=2), {"keys": "features"})
    assert reference.progressive.errors < 0.8 * reference.progressive.weight


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_lists_of_one_label_are_learned_to_the_bit_like_labels(sparse):
    stream = make_stream(seed=3, n_classes=20, n_features=12, sparse=sparse, n_passes=2)
    assert_lists_of_one_are_labels(_core.OneAgainstSome, stream, {"keys": "both", "seed": 4})
