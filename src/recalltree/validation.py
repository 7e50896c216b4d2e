"""Arrays, sparse matrices and data frames -> rows of the core.

Nothing is copied that need not be: float32 and float64 arrays of any order and stride, read-only
memory maps, and canonical CSR matrices are read where they lie.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from numbers import Integral, Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from recalltree._core import Rows
from recalltree.parameters import MAX_FEATURES

_DTYPES = [np.float32, np.float64]


@dataclass(frozen=True)
class Matrix:
    """A checked X.

    Attributes
    ----------
    values : ndarray or CSR matrix
        Two-dimensional, float32 or float64.
    rows : Rows
        The same for the core, which reads the values where they lie.
    """

    values: Any
    rows: Rows

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of features."""
        return self.values.shape


def is_sparse(X: Any) -> bool:
    """Return whether `X` is a sparse matrix or a sparse array of SciPy."""
    return bool(issparse(X))


def check_matrix(X: Any, *, estimator: Any, is_first: bool) -> Matrix:
    """Return `X` as an array or CSR matrix of finite float32 or float64 values.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, n_features)
    estimator : estimator
        Named in error messages. It is not changed.
    is_first : bool
        If false, the number and the names of the features must be those of the estimator.

    Returns
    -------
    Matrix
        Its values are `X` itself, or a view of it, whenever they can be read as they lie. A CSR
        matrix with duplicate or unsorted entries is put in order on a copy, so that the same
        matrix gives the same model however it is stored.

    Raises
    ------
    ValueError
        If `X` is not a matrix of finite real numbers with at least one row and one column, or
        has other features than the estimator knows.
    """
    if is_sparse(X) and not _is_ready_csr(X):
        _check_structure(X)  # before any compiled code follows its indices
    values = X if _is_ready(X) else _convert(X, estimator)
    if is_sparse(values):
        rows = _check_csr(values)
        if not values.has_canonical_format:
            values = values.copy()
            values.sum_duplicates()
            rows = make_rows(values)
    else:
        values = values if values.flags.aligned else values.copy()
        rows = make_rows(values)
    if values.shape[1] > MAX_FEATURES:
        raise ValueError(
            f"X has {values.shape[1]} features, and {MAX_FEATURES} is the most a model can have; "
            "make fewer of them, for example with sklearn.feature_extraction.FeatureHasher."
        )
    if not is_first:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, reset=False, skip_check_array=True)
    _check_finite(values, rows, _column_names(X))
    return Matrix(values, rows)


def check_matrix_of_reader(X: Any, n_features: int, estimator: str) -> Matrix:
    """Return rows that a reader has made, which have nothing else to be checked, as a matrix.

    Parameters
    ----------
    X : ndarray or csr_matrix
        ``X`` of a batch.
    n_features : int
        How many features the model has.
    estimator : str
        Named in error messages.

    Raises
    ------
    ValueError
        If `X` has other features.
    """
    if X.shape[1] != n_features:
        raise ValueError(
            f"X has {X.shape[1]} features, but {estimator} is expecting {n_features} features as "
            "input."
        )
    return Matrix(X, make_rows(X))


def keep_features(estimator: Any, X: Any) -> None:
    """Give the estimator ``n_features_in_`` and ``feature_names_in_``, as `X` has them.

    Parameters
    ----------
    estimator : estimator
    X : array-like, sparse matrix or data frame
        As the user gave it, accepted by ``check_matrix``.
    """
    from sklearn.utils.validation import validate_data

    validate_data(estimator, X, reset=True, skip_check_array=True)


def check_weights(sample_weight: Any, n_rows: int) -> NDArray[np.float32] | None:
    """Return `sample_weight` as float32 weights, one per row, or None for None.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), number or None
    n_rows : int

    Returns
    -------
    ndarray of shape (n_rows,), float32, or None

    Examples
    --------
    >>> from recalltree.validation import check_weights
    >>> check_weights([1, 0.5], n_rows=2)
    array([1. , 0.5], dtype=float32)
    >>> check_weights([1, -1], n_rows=2)
    Traceback (most recent call last):
        ...
    ValueError: Negative values in sample_weight: -1.0 at position 1; weights are 0 or more.
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Number):
        sample_weight = np.full(n_rows, sample_weight)
    from sklearn.utils import check_array

    given = check_array(
        sample_weight,
        ensure_2d=False,
        dtype=[np.float64, np.float32],
        input_name="sample_weight",
    )
    if given.shape != (n_rows,):
        raise ValueError(
            f"sample_weight has shape {given.shape}; X has {n_rows} rows, so its shape must be "
            f"({n_rows},)."
        )
    if (given < 0).any():
        position = int(np.argmax(given < 0))
        raise ValueError(
            f"Negative values in sample_weight: {given[position]} at position {position}; "
            "weights are 0 or more."
        )
    with np.errstate(over="ignore"):
        weights = np.ascontiguousarray(given, dtype=np.float32)
    if not np.isfinite(weights).all():
        position = int(np.argmin(np.isfinite(weights)))
        raise ValueError(
            f"sample_weight holds {given[position]} at position {position}, which is too large "
            f"for float32; weights may go up to {np.finfo(np.float32).max:.2g}."
        )
    return weights


def make_rows(values: Any) -> Rows:
    """Return an array or CSR matrix as rows of the core, which reads them where they lie."""
    if is_sparse(values):
        return Rows.csr(values.indptr, values.indices, values.data, values.shape[1])
    return Rows.dense(values)


def slice_rows(matrix: Matrix, start: int, stop: int) -> Rows:
    """Return rows `start` to `stop` of a checked matrix, without copying values."""
    values = matrix.values
    if (start, stop) == (0, matrix.shape[0]):
        return matrix.rows
    if not is_sparse(values):
        return Rows.dense(values[start:stop])
    begin, end = values.indptr[start], values.indptr[stop]
    return Rows.csr(
        values.indptr[start : stop + 1] - begin,
        values.indices[begin:end],
        values.data[begin:end],
        matrix.shape[1],
    )


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for.

    Parameters
    ----------
    n_jobs : int or None
        None is 1; a negative number counts back from all the cores this process may use, so -1
        is all of them.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> from recalltree.validation import count_threads
    >>> count_threads(None), count_threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs={n_jobs!r}: n_jobs must be None or an integer other than 0.")
    if n_jobs > 0:
        return int(n_jobs)
    try:
        n_cores = len(os.sched_getaffinity(0))
    except AttributeError:  # not every system can say which cores a process may use
        n_cores = os.cpu_count() or 1
    return max(1, n_cores + 1 + int(n_jobs))


def _is_ready(X: Any) -> bool:
    """Return whether X is an array that needs no conversion: the quick way of a single row."""
    return type(X) is np.ndarray and X.ndim == 2 and X.size > 0 and X.dtype in _DTYPES


def _is_ready_csr(X: Any) -> bool:
    """Return whether X is a sparse matrix whose indices nobody follows before the core checks."""
    return X.format == "csr" and X.ndim == 2 and X.dtype in _DTYPES


def _convert(X: Any, estimator: Any) -> Any:
    from sklearn.utils import check_array

    return check_array(
        X,
        accept_sparse="csr",
        dtype=_DTYPES,
        ensure_all_finite=False,  # the core looks, once, and says where
        estimator=estimator,
        input_name="X",
    )


def _check_csr(values: Any) -> Rows:
    """Return the rows of a CSR matrix, whose indices the core checks when it makes them."""
    if len(values.indptr) != values.shape[0] + 1 or values.indptr[0] != 0:
        _check_structure(values)
    try:
        return make_rows(values)
    except ValueError:
        _check_structure(values)  # tells what is wrong, and where
        raise


def _check_structure(X: Any) -> None:
    """Check that the index arrays of a sparse matrix stay within its shape."""
    if X.ndim != 2:
        raise ValueError(
            f"Expected 2D input, got a sparse array of shape {X.shape}. Reshape your data: X has "
            "one row per example and one column per feature."
        )
    n_rows, n_columns = X.shape
    if X.format == "coo":
        _check_indices(X.row, n_rows, "row")
        _check_indices(X.col, n_columns, "column")
    elif X.format == "csc":
        _check_indptr(X, n_columns)
        _check_indices(X.indices[: X.indptr[-1]], n_rows, "row")
    elif X.format in ("csr", "bsr"):
        block_rows, block_columns = getattr(X, "blocksize", (1, 1))
        _check_indptr(X, n_rows // block_rows)
        _check_indices(X.indices[: X.indptr[-1]], n_columns // block_columns, "column")


def _check_indptr(X: Any, n_steps: int) -> None:
    indptr, n_stored = X.indptr, min(len(X.indices), len(X.data))
    if (
        len(indptr) != n_steps + 1
        or indptr[0] != 0
        or indptr[-1] > n_stored
        or (np.diff(indptr) < 0).any()
    ):
        raise ValueError(
            f"X is not a valid sparse matrix: its indptr must rise from 0 to at most {n_stored}, "
            f"the number of stored values, in {n_steps} steps."
        )


def _check_indices(indices: NDArray[Any], size: int, axis: str) -> None:
    if len(indices) == 0:
        return
    for index in (int(indices.min()), int(indices.max())):
        if not 0 <= index < size:
            raise ValueError(
                f"X is not a valid sparse matrix: it stores a value at {axis} {index}, outside "
                f"of 0 to {size - 1}."
            )


def _check_finite(values: Any, rows: Rows, column_names: Any) -> None:
    found = rows.find_invalid()
    if found is None:
        return
    row, column = found
    value = float(values[row, column])
    named = "" if column_names is None else f" ({column_names[column]!r})"
    where = f"at row {row}, column {column}{named}"
    if np.isnan(value):
        raise ValueError(
            f"Input X contains NaN {where}. Missing values are not accepted: fill them in, for "
            "example with sklearn.impute.SimpleImputer, or drop these rows."
        )
    if np.isinf(value):
        raise ValueError(f"Input X contains infinity: {value} {where}. Values must be finite.")
    raise ValueError(
        f"Input X contains a value too large for float32: {value} {where}. Values may go up to "
        f"{np.finfo(np.float32).max:.2g} in magnitude (infinity is what float32 makes of more)."
    )


def _column_names(X: Any) -> Any:
    columns = getattr(X, "columns", None)
    return None if columns is None else list(columns)
