"""Lists of labels, in whatever form they are given."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_matrix, csr_array, csr_matrix

from recalltree.label_lists import LabelLists, are_label_lists, as_label_lists

LISTS = [["b", "a"], [], ["c"]]
INDICATOR = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "y",
    [
        LISTS,
        tuple(LISTS),
        [["b", "a"], None, ("c",)],
        [["b", "a", "b"], [], ["c", "c"]],
        [np.array(["b", "a"]), np.array([], dtype=str), np.array(["c"])],
        pd.Series(LISTS),
        pd.Series(LISTS, dtype=pd.ArrowDtype(pa.list_(pa.string()))),
        pl.Series(LISTS),
        pa.array(LISTS),
        pa.array([["b", "a"], None, ["c"]], pa.large_list(pa.string())),
        pa.chunked_array([LISTS[:1], LISTS[1:]]),
    ],
    ids=lambda y: type(y).__module__ + "." + type(y).__name__,
)
def test_lists(y):
    assert are_label_lists(y)
    assert as_label_lists(y).tolist() == LISTS


@pytest.mark.parametrize(
    "make",
    [csr_matrix, csr_array, coo_matrix, np.asarray, lambda y: y.astype(bool), lambda y: 1.0 * y],
)
def test_indicators(make):
    y = make(INDICATOR)
    assert are_label_lists(y)
    lists = as_label_lists(y)
    assert lists.tolist() == [[0, 1], [], [2]]
    assert lists.n_columns == 3


def test_entries_of_zero_and_entries_out_of_order():
    y = csr_matrix(([1, 0, 1], [2, 1, 0], [0, 3]), shape=(1, 3))
    assert as_label_lists(y).tolist() == [[0, 2]]
    assert y.nnz == 3  # unchanged


@pytest.mark.parametrize(
    "y", [["a", "b"], np.array([1, 2]), np.array([[1], [2]]), pd.Series(["a"]), pa.array(["a"])]
)
def test_one_label_per_row_is_no_list(y):
    assert not are_label_lists(y)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([["a"], "b"], r"y\[1\] is 'b', where other rows have lists of labels; give \['b'\]"),
        ([["a"], [1]], "y mixes labels of type int and str"),
        ([["a"], ["b", None]], r"y\[1\] contains NaN or None: None at position 1"),
        ([[1], [0.5]], "y mixes labels|continuous"),
        (csr_matrix([[0, 1], [2, 0]]), r"y\[1, 0\] is 2: a matrix with a column for each label"),
    ],
)
def test_bad_lists(y, message):
    with pytest.raises(ValueError, match=message):
        as_label_lists(y)


@given(st.lists(st.lists(st.integers(0, 9), unique=True)), st.data())
def test_choosing_rows(lists, data):
    y = as_label_lists(lists) if lists else LabelLists(np.array([], int), np.zeros(1, np.int64))
    assert len(y) == len(lists)
    start, stop = data.draw(st.integers(0, 20)), data.draw(st.integers(-3, 20))
    assert y[start:stop].tolist() == lists[start:stop]
    assert y[::-1].tolist() == lists[::-1]
    if lists:
        rows = data.draw(st.lists(st.integers(0, len(lists) - 1)))
        assert y[np.array(rows, dtype=int)].tolist() == [lists[i] for i in rows]
        assert y[0].tolist() == lists[0]
        mask = np.array([len(row) > 1 for row in lists])
        assert y[mask].tolist() == [row for row in lists if len(row) > 1]
