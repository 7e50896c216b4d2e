"""Persistence of estimators: model files, pickles, and smaller models that only predict."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from recalltree.estimators.fitted import Fitted
from recalltree.estimators.progressive_curve import ProgressiveCurve
from recalltree.labels import LabelTable
from recalltree.model_file.atomic import write_atomically
from recalltree.model_file.compaction import DTYPES, CompactReport, compact_state
from recalltree.model_file.container import Container, ModelFileError, read_bytes
from recalltree.model_file.model import PREDICTION, TRAINING, Model, read_model
from recalltree.moment import at_one_moment


class Persistent(BaseEstimator):
    """Adds ``save`` and ``compact``, and pickles an estimator as the file that it would save."""

    #: The algorithm in files and on the command line; ``load`` finds the class by it.
    _algorithm: ClassVar[str]
    #: The algorithm in what people read.
    _algorithm_name: ClassVar[str]
    _core_type: ClassVar[Any]
    #: The same model viewed in a file.
    _mapped_core_type: ClassVar[Any]
    #: Parameters that older files do not have, and what they were then.
    _newer_parameters: ClassVar[dict[str, Any]] = {}

    _fitted: Fitted
    _reading: Any
    _own_config: Any
    n_iter_: int
    n_features_in_: int
    model_extra_: dict[str, Any]
    compact_report_: CompactReport
    dense_labels_: bool

    def save(self, path: str | os.PathLike[str], *, extra: dict[str, Any] | None = None) -> None:
        """Write the model to a file, from which ``recalltree.load`` makes the same estimator.

        The file holds everything: parameters, labels, weights, and what learning needs to continue
        exactly where it stopped. A file of this name is replaced at once, when the new one is
        complete and on the disk: whatever happens, the name holds the old model or the new one.

        Parameters
        ----------
        path : path-like
        extra : dict, default=None
            Anything that JSON can hold, to be kept with the model: ``load`` gives it back as
            ``model_extra_``. None keeps what was there.

        Examples
        --------
        >>> import tempfile
        >>> import recalltree
        >>> from sklearn.datasets import load_digits
        >>> X, y = load_digits(return_X_y=True)
        >>> clf = recalltree.RecallTreeClassifier(random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     clf.save(f"{folder}/digits.rt", extra={"made": "for a test"})
        ...     again = recalltree.load(f"{folder}/digits.rt")
        >>> bool((again.predict_proba(X) == clf.predict_proba(X)).all()), again.model_extra_
        (True, {'made': 'for a test'})
        """
        if "_algorithm" not in vars(type(self)):
            raise TypeError(
                f"a model file cannot hold {type(self).__name__}, because load would not know the "
                "class: pickle it instead."
            )
        model = self._to_model()
        if extra is not None:
            model.extra = extra
        write_atomically(path, model.parts())
        if extra is not None:
            self.model_extra_ = extra

    @at_one_moment
    def _to_model(self) -> Model:
        """Return what a model file holds of this estimator."""
        fitted = self._fitted
        attributes: dict[str, Any] = {
            "n_iter_": self.n_iter_,
            "curve": [list(point) for point in fitted.curve.points],
        }
        if hasattr(self, "validation_errors_"):
            attributes["validation_errors_"] = self.validation_errors_.tolist()
        if getattr(self, "dense_labels_", False):
            attributes["dense_labels_"] = True
        return Model(
            algorithm=self._algorithm,
            parameters=self.get_params(deep=False),
            config=fitted.core.config,
            state=fitted.core.state(),
            classes=fitted.labels.classes,
            feature_names=getattr(self, "feature_names_in_", None),
            attributes=attributes,
            extra=getattr(self, "model_extra_", None),
            contents=fitted.contents,
            bfloat16=fitted.bfloat16,
        )

    @classmethod
    def _upgraded(cls, model: Model) -> Model:
        """Return what an older file holds, in the words of today."""
        return model

    def _take_model(self, model: Model, container: Container | None, *, mapped: bool) -> None:
        """Become the model that a file holds; the parameters are there already."""
        core = self._make_core_of(model, mapped=mapped)
        config = {name: core.config[name] for name in self._model_config()}
        if len(model.classes) < core.n_classes:
            raise ModelFileError(
                f"there are {core.n_classes} classes and {len(model.classes)} labels."
            )
        attributes = dict(model.attributes)
        is_learner = isinstance(core, self._core_type)
        self._fitted = Fitted(
            core,
            config,
            LabelTable(model.classes),
            ProgressiveCurve.from_points(attributes.pop("curve", [])),
            model.contents,
            model.bfloat16,
            None if is_learner else container,  # of which everything was read
        )
        self.n_features_in_ = int(core.config["n_features"])
        self.n_iter_ = _count(attributes.pop("n_iter_", None), "n_iter_")
        if "validation_errors_" in attributes:
            self.validation_errors_ = _floats(attributes.pop("validation_errors_"))
        if attributes.pop("dense_labels_", False) is True:
            self.dense_labels_ = True
        if attributes:
            raise ModelFileError(f"the attribute {sorted(attributes)[0]!r} is unknown.")
        if model.feature_names is not None:
            if len(model.feature_names) != self.n_features_in_:
                raise ModelFileError(
                    f"there are {core.config['n_features']} features and "
                    f"{len(model.feature_names)} names of them."
                )
            self.feature_names_in_ = model.feature_names
        if model.extra is not None:
            self.model_extra_ = model.extra

    def _make_core_of(self, model: Model, *, mapped: bool) -> Any:
        # The core says 0 where an estimator says None.
        of_core = self._own_config()
        older = {n: value or 0 for n, value in self._newer_parameters.items() if n in of_core}
        config = {**older, **model.config}
        try:
            # Checks the structure, so that what is made next cannot be larger than the file.
            core = self._mapped_core_type(model.state, **config)
            if core.is_complete != (model.contents == TRAINING):
                raise ModelFileError(
                    f"a tensor is missing or unknown in a model for {model.contents}."
                )
            if mapped or model.contents == PREDICTION:
                return core
            return self._core_type.from_state(model.state, **config)
        except ModelFileError:
            raise
        except (ValueError, TypeError, OverflowError) as error:
            raise ModelFileError(_in_short(error)) from error

    @at_one_moment
    def compact(self, dtype: str = "float32", *, X: Any = None, y: Any = None) -> Any:
        """Return a smaller estimator that predicts and cannot continue learning.

        It lacks what only learning needs (the optimiser's state) and, where X was sparse, weights
        that are 0. With `dtype` "float32" predictions stay the same; "float16" and "bfloat16" halve
        the weights and round them. Where there are cells, these two also add the mean of a class to
        its weights, so that class vectors take a quarter of their bytes.

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
        self._check_fitted()
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

    @property
    def _core(self) -> Any:
        return self._fitted.core

    # --- continuing to learn ------------------------------------------------------------------

    @property
    def _is_mapped(self) -> bool:
        """True if the core is a view of a file (or of a compacted model), which cannot learn."""
        return not isinstance(self._fitted.core, self._core_type)

    def _load_to_learn(self) -> None:
        """Turn a mapped model, which cannot learn, into one that is in memory and can."""
        if not self._is_mapped:
            return
        fitted = self._fitted
        if fitted.contents == PREDICTION:
            raise ValueError(
                "this model was compacted: it has no optimiser state any more, so it can predict "
                "but not continue learning. Learn with the model that it was made from, or call "
                "fit to start from scratch."
            )
        name = "the merged model" if fitted.container is None else fitted.container.name
        if fitted.container is not None:
            fitted.container.check_sum()
        try:
            core = self._core_type.from_state(fitted.core.state(), **fitted.core.config)
        except ValueError as error:
            raise ModelFileError(f"{name}: {_in_short(error)}") from error
        self._fitted = replace(fitted, core=core, container=None)

    # --- pickling ---------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        return self._pickled() if hasattr(self, "_fitted") else self._attributes()

    @at_one_moment
    def _pickled(self) -> dict[str, Any]:
        # An array, which joblib can share between processes.
        parts = [np.frombuffer(part, np.uint8) for part in self._to_model().parts()]
        return {
            **self._attributes(),
            "_saved": np.concatenate(parts),
            "_saved_mapped": self._is_mapped,
        }

    def _attributes(self) -> dict[str, Any]:
        """Return the attributes that can be pickled as they are."""
        state = dict(super().__getstate__())
        state.pop("_fitted", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        saved, mapped = state.pop("_saved", None), state.pop("_saved_mapped", False)
        super().__setstate__(state)
        if saved is not None:
            container = read_bytes(_bytes(saved), "the pickled model")
            before = read_model(container)
            model = self._upgraded(before)
            if model is not before:
                self.__dict__.update(
                    (name, value)
                    for name, value in model.parameters.items()
                    if value != before.parameters.get(name)
                )
            self._take_model(model, container, mapped=mapped)


def _bytes(saved: NDArray[np.uint8]) -> memoryview:
    return np.ascontiguousarray(saved).data


def _count(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ModelFileError(f"the attribute {name!r} is {value!r}, which is no number of passes.")
    return value


def _floats(values: Any) -> Any:
    if not isinstance(values, list) or not all(isinstance(v, int | float) for v in values):
        raise ModelFileError("the attribute 'validation_errors_' is not a list of numbers.")
    return np.array(values, dtype=np.float64)


def _in_short(error: Exception) -> str:
    """Return the first line of what the core says."""
    first, *_ = str(error).splitlines() or [type(error).__name__]
    return first.removeprefix("state: ") + "."
