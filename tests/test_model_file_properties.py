"""Random models, labels, parameters and tensors survive being saved and loaded."""

import json
import string

import numpy as np
import pytest
from classifiers import VARIANTS, snapshot
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_array_equal
from safetensors.numpy import load as load_safetensors
from scipy.sparse import csr_array
from sklearn.base import clone
from streams import SEEDS, parity_settings, random_stream

import recalltree
from recalltree.model_file.class_labels import StoredText, decode_labels, encode_labels, encode_text
from recalltree.model_file.container import lay_out, read_bytes
from recalltree.model_file.parameters import decode_parameters, encode_parameters

TYPES = ["<f8", "<f4", "<f2", "<i8", "<u8", "<u4", "u1"]
NAMES = st.text(string.ascii_letters + "._ é", min_size=1, max_size=8)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("is_sparse", [False, True], ids=["dense", "sparse"])
def test_models(tmp_path_factory, variant, is_sparse):
    path = tmp_path_factory.mktemp("models") / "model.rt"

    @parity_settings(max_examples=4)
    @given(seed=SEEDS)
    def check(seed):
        stream = random_stream(seed, is_sparse, max_classes=30)
        X = csr_array(stream.X) if is_sparse else stream.X
        rng = np.random.default_rng(seed)
        cut = int(rng.integers(1, min(600, len(stream.labels))))
        rest = slice(cut, cut + 300)
        clf = clone(variant)
        clf.partial_fit(X[:cut], stream.labels[:cut], sample_weight=stream.weights[:cut])
        clf.save(path)
        again = recalltree.load(path)
        found, expected = again.candidates(X), clf.candidates(X)
        assert_array_equal(found.indptr, expected.indptr)
        assert_array_equal(found.indices, expected.indices)
        assert found.data.tobytes() == expected.data.tobytes()
        for model in (clf, again):
            model.partial_fit(X[rest], stream.labels[rest], sample_weight=stream.weights[rest])
        assert snapshot(again) == snapshot(clf)

    check()


@settings(deadline=None, max_examples=100)
@given(st.lists(st.text(), unique=True, max_size=30), st.booleans())
def test_strings(strings, fixed_width):
    text, offsets = encode_text(strings)
    assert StoredText(text, offsets, "text").decode() == strings
    if fixed_width:
        strings = list(dict.fromkeys(s.rstrip("\0") for s in strings))
    if strings:
        labels = np.array(strings, dtype=None if fixed_width else object)
        tensors, name = encode_labels(labels)
        found = decode_labels(dict(tensors), name).decode()
        assert found.tolist() == strings
        if 4 * found.itemsize * len(found) < 2**20:
            assert found.dtype == labels.dtype


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_numbers_as_labels(data):
    kinds = ["bool", "float32", "float64"] + [
        f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)
    ]
    dtype = np.dtype(data.draw(st.sampled_from(kinds)))
    elements = hnp.from_dtype(dtype, allow_nan=False, allow_infinity=False)
    values = data.draw(st.lists(elements, unique_by=lambda v: v.item(), max_size=20))
    labels = np.array(values, dtype=dtype)
    tensors, name = encode_labels(labels)
    found = decode_labels(dict(tensors), name).decode()
    assert found.dtype == dtype
    assert found.tolist() == labels.tolist()


SCALARS = st.none() | st.booleans() | st.text() | st.integers(-(2**70), 2**70)
SCALARS |= st.floats(allow_nan=False, allow_infinity=False)


@settings(deadline=None)
@given(st.dictionaries(NAMES, SCALARS))
def test_parameters(parameters):
    text = encode_parameters(parameters)
    found = decode_parameters(text)
    assert found == parameters
    assert json.dumps(found) == json.dumps(parameters)  # 0.0 is not -0.0, 1 is not 1.0


@settings(deadline=None, max_examples=100)
@given(st.data())
def test_containers(data):
    """Arrays that were laid out are read back, by this reader and by that of safetensors."""
    shapes = hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=20)
    arrays = hnp.arrays(st.sampled_from(TYPES), shapes)
    tensors = data.draw(st.dictionaries(NAMES, arrays, max_size=6))
    metadata = data.draw(st.dictionaries(NAMES, st.text(max_size=20), max_size=3))
    layout = lay_out(tensors, metadata, frozenset())
    content = b"".join(layout.write())
    assert len(content) == layout.n_bytes
    container = read_bytes(memoryview(content), "memory")
    container.check_sum()
    others = load_safetensors(content)
    assert container.tensors.keys() == others.keys() == tensors.keys()
    for name, array in tensors.items():
        for found in (container.tensors[name], others[name]):
            assert found.dtype == array.dtype
            assert found.shape == array.shape
            assert found.tobytes() == array.tobytes()
    assert {k: v for k, v in container.metadata.items() if k != "sha256"} == metadata
    damaged = bytearray(content)
    damaged[data.draw(st.integers(8, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    with pytest.raises(recalltree.model_file.ModelFileError):
        read_bytes(memoryview(bytes(damaged)), "memory").check_sum()
