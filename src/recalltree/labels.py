"""Any label <-> class id, growing.

A class id is a position in ``classes_``. Ids are given once and never move: labels that arrive
later are appended. Within one table all labels are of one kind: strings, integers, booleans, or
floats with integral values.
"""

from __future__ import annotations

from numbers import Integral
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recalltree._core import lines_of_pairs as join_pairs
from recalltree.validation import is_sparse

_INT64 = np.iinfo(np.int64)

_KINDS = {"b": "booleans", "i": "integers", "u": "integers", "f": "floats"}
_STRINGS = "strings"


def as_labels(y: Any, name: str = "y") -> NDArray[Any]:
    """Return `y` as a one-dimensional array of labels of one kind.

    Parameters
    ----------
    y : array-like of shape (n,)
        Strings, integers (signed or unsigned, up to 64 bits), booleans, or floats with integral
        values.
    name : str, default="y"
        What error messages call it.

    Returns
    -------
    ndarray of shape (n,)
        Of a boolean, integer, floating or string type; strings may also be held as objects.

    Raises
    ------
    ValueError
        If there is a missing label (None, NaN), if labels are of several kinds, or of a kind that
        is no label.

    Examples
    --------
    >>> from recalltree.labels import as_labels
    >>> as_labels(["b", "a"])
    array(['b', 'a'], dtype=object)
    >>> as_labels(["b", 1])
    Traceback (most recent call last):
        ...
    ValueError: y mixes labels of type int and str; give labels of one type, ...
    """
    # A list is looked at element by element: NumPy would turn ["a", 1] into ["a", "1"] in silence.
    values = np.asarray(y, dtype=object) if isinstance(y, list | tuple) else np.asarray(y)
    if values.ndim != 1:
        if is_sparse(y):
            raise ValueError(
                f"{name} is a sparse matrix of shape {y.shape}, and must be an array with the "
                f"label of each row of X. If {name} marks the classes of each row, this learns "
                f"them one by one: rows, labels = {name}.nonzero(), then X[rows] and labels in "
                f"place of X and {name}."
            )
        from sklearn.utils.validation import column_or_1d

        values = column_or_1d(values, warn=True)
    if values.dtype.kind in "OT":
        values = _from_objects(values.astype(object, copy=False), name)
    if values.dtype.kind == "f":
        _check_integral(values, name)
    elif values.dtype.kind not in "biuUO":
        raise ValueError(_unknown(name, str(values.dtype)))
    return values


class StoredLabels(Protocol):
    """Distinct labels that are an array only when asked for, as those in a file."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type that the array will have."""
        ...

    def __len__(self) -> int: ...

    def decode(self) -> NDArray[Any]:
        """Return the labels in the order of their ids."""
        ...


class LabelTable:
    """The labels known so far; the position of a label is its class id.

    One thread may add labels while others read.

    Parameters
    ----------
    classes : ndarray or StoredLabels, default=None
        Distinct labels to begin with, in the order of their ids.

    Examples
    --------
    >>> import numpy as np
    >>> from recalltree.labels import LabelTable
    >>> table = LabelTable()
    >>> growth = table.grow()
    >>> growth.encode(np.array(["cat", "ant", "cat"]), sort=True)
    array([1, 0, 1], dtype=uint32)
    >>> len(table)  # nothing is known before commit
    0
    >>> growth.commit()
    >>> table.classes
    array(['ant', 'cat'], dtype='<U3')
    """

    def __init__(self, classes: NDArray[Any] | StoredLabels | None = None) -> None:
        self._lock = Lock()
        self._dtype: np.dtype[Any] | None = None  # None: labels of any kind may come
        # The labels as a file has them, as an array, and with their ids: at least one of the three,
        # the others when they are asked for.
        self._stored: StoredLabels | None = None
        self._classes: NDArray[Any] | None = None
        self._known_ids: dict[Any, int] | None = {}
        if classes is not None and len(classes) > 0:
            self._dtype = classes.dtype
            self._known_ids = None
            if isinstance(classes, np.ndarray):
                self._classes = classes
            else:
                self._stored = classes

    def __len__(self) -> int:
        with self._lock:
            known = (self._known_ids, self._classes, self._stored)
            return next(len(labels) for labels in known if labels is not None)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels in the order of their ids (read-only)."""
        with self._lock:
            if self._classes is None:
                if self._stored is not None:
                    self._classes = self._stored.decode()
                else:
                    assert self._known_ids is not None  # one of the three is known
                    # A dict keeps the order of insertion, which is the order of the ids.
                    self._classes = np.array(list(self._known_ids), dtype=self._dtype)
            self._classes.flags.writeable = False
            return self._classes

    @property
    def _ids(self) -> dict[Any, int]:
        """The ids by label, for the thread that adds labels."""
        if self._known_ids is None:
            self._known_ids = {label: i for i, label in enumerate(self.classes.tolist())}
        return self._known_ids

    def frozen(self) -> LabelTable:
        """Return a table of the labels known now, which does not grow with this one."""
        return LabelTable(self.classes)

    def grow(self) -> Growth:
        """Return a growth of this table: labels to be added by its ``commit``."""
        return Growth(self)


class Growth:
    """Labels that are about to join a table. The table is unchanged until ``commit``."""

    def __init__(self, table: LabelTable) -> None:
        self.table = table
        self._added: dict[Any, int] = {}
        self._dtype = table._dtype

    def encode(
        self, labels: NDArray[Any], *, sort: bool = False, name: str = "y"
    ) -> NDArray[np.uint32]:
        """Return the class ids of `labels`; new labels get the next ids.

        Parameters
        ----------
        labels : ndarray of shape (n,)
            What ``as_labels`` returned.
        sort : bool, default=False
            New labels get their ids in sorted order instead of the order of first appearance.
        name : str, default="y"
            What error messages call `labels`.

        Returns
        -------
        ndarray of shape (n,), uint32
        """
        if len(labels) == 0:
            return np.empty(0, dtype=np.uint32)
        self._dtype = self._joined_dtype(labels, name)
        items = labels.tolist()
        known, added = self.table._ids, self._added
        new: list[Any] = [
            label for label in dict.fromkeys(items) if label not in known and label not in added
        ]
        first = len(known) + len(added)
        added.update((label, first + i) for i, label in enumerate(sorted(new) if sort else new))
        if not added:
            return np.array([known[label] for label in items], dtype=np.uint32)
        if not known:
            return np.array([added[label] for label in items], dtype=np.uint32)
        return np.array(
            [known[label] if label in known else added[label] for label in items], dtype=np.uint32
        )

    def commit(self) -> None:
        """Add the new labels to the table."""
        table = self.table
        if self._added or table._dtype != self._dtype:
            ids = table._ids
            with table._lock:
                ids.update(self._added)
                table._dtype = self._dtype
                table._classes = table._stored = None
            self._added = {}

    def _joined_dtype(self, labels: NDArray[Any], name: str) -> np.dtype[Any]:
        """Return the type that holds the labels known so far and `labels`."""
        old, new = self._dtype, labels.dtype
        if old is None or old == new:
            return new
        if _kind(old) != _kind(new):
            raise ValueError(
                f"{name} holds {_kind(new)} such as {labels.tolist()[0]!r}, but the classes known "
                f"so far are {_kind(old)} such as {self._example()!r}; give {_kind(old)} again."
            )
        joined = np.result_type(old, new)
        if joined.kind == "f" and old.kind in "iu":  # a signed type and uint64: NumPy takes float64
            return self._joined_integer_dtype(labels, name)
        return joined

    def _joined_integer_dtype(self, labels: NDArray[Any], name: str) -> np.dtype[Any]:
        lowest, highest = int(labels.min()), int(labels.max())
        for ids in (self.table._ids, self._added):
            if ids:
                lowest = min(lowest, min(ids))
                highest = max(highest, max(ids))
        if lowest >= 0:
            return np.dtype(np.uint64)
        if highest <= _INT64.max:
            return np.dtype(np.int64)
        raise ValueError(
            f"{name}: no 64-bit integer type holds both the labels {lowest} and {highest}; "
            "give the labels as strings."
        )

    def _example(self) -> Any:
        return next(iter(self.table._ids or self._added))


def _kind(dtype: np.dtype[Any]) -> str:
    return _KINDS.get(dtype.kind, _STRINGS)


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Return an array of Python objects as an array of the one kind of label they all are."""
    types = set(map(type, values.tolist()))
    if not types or all(issubclass(t, str) for t in types):
        return values
    _check_none_missing(values, name)
    if all(issubclass(t, bool | np.bool_) for t in types):
        return values.astype(bool)
    if all(issubclass(t, Integral) and not issubclass(t, bool) for t in types):
        return _as_integers(values, name)
    if all(issubclass(t, float | np.floating) for t in types):
        return values.astype(np.float64)
    if len(types) > 1:
        names = " and ".join(sorted(t.__name__ for t in types))
        raise ValueError(
            f"{name} mixes labels of type {names}; give labels of one type, "
            f"for example [str(label) for label in {name}]."
        )
    raise ValueError(_unknown(name, types.pop().__name__))


def _as_integers(values: NDArray[Any], name: str) -> NDArray[Any]:
    lowest, highest = min(values), max(values)
    if lowest >= _INT64.min and highest <= _INT64.max:
        return values.astype(np.int64)
    if lowest >= 0 and highest <= np.iinfo(np.uint64).max:
        return values.astype(np.uint64)
    beyond = lowest if lowest < _INT64.min else highest
    raise ValueError(
        f"{name} holds the integer {beyond}, and no 64-bit integer type holds all the labels; "
        "give the labels as strings."
    )


def _check_none_missing(values: NDArray[Any], name: str) -> None:
    for position, label in enumerate(values):
        # pandas.NA answers neither "equal" nor "not equal"; NaN and NaT differ from themselves.
        if label is None or type(label).__name__ == "NAType" or _differs_from_itself(label):
            raise ValueError(
                f"Input {name} contains NaN or None: {label!r} at position {position}. "
                "Drop the examples without a label, or name their class."
            )


def _differs_from_itself(label: Any) -> bool:
    return isinstance(label, float | np.generic) and bool(label != label)


def _check_integral(values: NDArray[Any], name: str) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        position = int(np.argmin(finite))
        what = "NaN" if np.isnan(values[position]) else "infinity"
        raise ValueError(
            f"Input {name} contains {what} at position {position}. "
            "Drop the examples without a label, or name their class."
        )
    fractional = values != np.floor(values)
    if fractional.any():
        position = int(np.argmax(fractional))
        raise ValueError(
            _unknown(name, f"continuous, for example {values[position]} at position {position}")
        )


def _unknown(name: str, what: str) -> str:
    return (
        f"Unknown label type: {what}. The labels of {name} may be strings, integers, booleans, or "
        f"floats with integral values; [str(label) for label in {name}] always works."
    )


def lines_of_pairs(texts: list[str], numbers: NDArray[np.float64]) -> str:
    r"""Return lines of texts and their numbers, with tabs between them.

    Parameters
    ----------
    texts : list of str, of length n * k
    numbers : ndarray of shape (n, k)

    Returns
    -------
    str
        `n` lines; the last one has no line end.

    Examples
    --------
    >>> from recalltree.labels import lines_of_pairs
    >>> print(lines_of_pairs(["a", "b"], np.array([[0.75], [1 / 3]])).replace("\t", " "))
    a 0.75
    b 0.333333
    """
    return join_pairs(texts, numbers.ravel(), numbers.shape[1])
