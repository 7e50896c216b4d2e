"""Smaller models that only predict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from recalltree.estimators.saving import Saves
from recalltree.model_file.compaction import DTYPES, compact_state
from recalltree.model_file.model import PREDICTION


@dataclass(frozen=True)
class CompactReport:
    """What compacting a model saved, and what it cost. ``print`` shows it.

    Attributes
    ----------
    dtype : str
        Type of the weights.
    bytes_before, bytes_after : int
        Size of the model file.
    n_weights_before, n_weights_after : int
        Weights in it; those that were 0 are gone.
    error_before, error_after : float or None
        Share of wrong predictions on the rows that were given; None without any.
    """

    dtype: str
    bytes_before: int
    bytes_after: int
    n_weights_before: int
    n_weights_after: int
    error_before: float | None = None
    error_after: float | None = None

    @property
    def error_change(self) -> float | None:
        """How much larger the error is than before; None if it was not measured."""
        if self.error_before is None or self.error_after is None:
            return None
        return self.error_after - self.error_before

    def __str__(self) -> str:
        text = (
            f"{self.bytes_before:,} -> {self.bytes_after:,} bytes "
            f"({self.bytes_after / self.bytes_before:.0%}), "
            f"{self.n_weights_before:,} -> {self.n_weights_after:,} weights of type {self.dtype}"
        )
        if self.error_change is None:
            return text
        return (
            f"{text}; error {self.error_before:.4f} -> {self.error_after:.4f} "
            f"({self.error_change:+.4f})"
        )


class Compacts(Saves):
    """Adds ``compact``."""

    compact_report_: CompactReport

    if TYPE_CHECKING:
        score: Any

    def compact(self, dtype: str = "float32", *, X: Any = None, y: Any = None) -> Any:
        """Return a smaller estimator that predicts and cannot go on learning.

        It lacks what only learning needs (the optimiser's state) and, where X was sparse, weights
        that are 0. With `dtype` "float32" predictions stay the same; "float16" and "bfloat16" halve
        the weights and round them.

        Parameters
        ----------
        dtype : {"float32", "float16", "bfloat16"}, default="float32"
            Type of the weights: float16 is more precise, bfloat16 has the range of float32.
        X : array-like, sparse matrix or data frame of shape (n, n_features), default=None
            Rows on which to measure what it does to the error.
        y : array-like of shape (n,), default=None
            Their labels.

        Returns
        -------
        estimator
            Of the same class; ``save`` makes a small file of it. Its ``compact_report_`` tells the
            sizes and the errors.

        Examples
        --------
        >>> from recalltree import RecallTreeClassifier
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> clf = RecallTreeClassifier(random_state=0).fit(X, y)
        >>> small = clf.compact("float16", X=X, y=y)
        >>> report = small.compact_report_
        >>> report.bytes_after < 0.7 * report.bytes_before, abs(report.error_change) < 0.01
        (True, True)
        >>> small.partial_fit(X, y)
        Traceback (most recent call last):
            ...
        ValueError: this model was compacted: ...
        """
        if dtype not in DTYPES:
            raise ValueError(f"dtype={dtype!r}: it must be one of {', '.join(DTYPES)}.")
        if (X is None) != (y is None):
            raise ValueError("give X and y together, or neither.")
        self._fitted_core()
        model = self._to_model()
        compacted = compact_state(model.state, model.bfloat16, dtype)
        small_model = replace(
            model, state=compacted.state, bfloat16=compacted.bfloat16, contents=PREDICTION
        )
        small = type(self)(**self.get_params(deep=False))
        small._take_model(small_model, None, mapped=True)
        small.compact_report_ = CompactReport(
            dtype,
            model.n_bytes(),
            small_model.n_bytes(),
            compacted.n_weights_before,
            compacted.n_weights,
            None if X is None else 1.0 - self.score(X, y),
            None if X is None else 1.0 - small.score(X, y),
        )
        return small
