"""Mapped models that predict rows of a reader, without scikit-learn: commands start at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from numpy.typing import NDArray

from recalltree._core import (
    MappedLOMTree,
    MappedOneAgainstAll,
    MappedOneAgainstSome,
    MappedRecallTree,
)
from recalltree.estimators.fitted import Fitted
from recalltree.estimators.prediction import Predictions
from recalltree.estimators.progressive_curve import ProgressiveCurve
from recalltree.estimators.rules import (
    LOMTreeRules,
    OneAgainstAllRules,
    OneAgainstSomeRules,
    RecallTreeRules,
)
from recalltree.labels import LabelTable
from recalltree.model_file.container import open_file
from recalltree.model_file.model import Model, read_model
from recalltree.validation import Matrix, check_matrix_of_reader, count_threads


class MappedModel(Predictions):
    """Part of an estimator that commands need in order to predict; not to be used by itself."""

    #: Name of the estimator in messages.
    _estimator: ClassVar[str]
    _mapped_core_type: ClassVar[Any]

    def __init__(self, model: Model, core: Any, container: Any) -> None:
        self._fitted = Fitted(
            core,
            core.config,
            LabelTable(model.classes),
            ProgressiveCurve.from_points([]),
            model.contents,
            model.bfloat16,
            container,
        )
        self.n_jobs: int | None = model.parameters.get("n_jobs")
        self.n_features_in_ = int(core.config["n_features"])
        self.model_extra_ = model.extra
        self.dense_labels_ = bool(model.attributes.get("dense_labels_", False))

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, by class id."""
        return self._fitted.labels.classes

    def set_params(self, *, n_jobs: int | None) -> MappedModel:
        """Set the number of threads."""
        self.n_jobs = n_jobs
        return self

    def _check_fitted(self) -> Fitted:
        return self._fitted

    def _check_new(self, X: Any) -> tuple[Fitted, Matrix, int]:
        matrix = check_matrix_of_reader(X, self.n_features_in_, self._estimator)
        return self._fitted, matrix, count_threads(self.n_jobs)


class _OneAgainstSome(OneAgainstSomeRules, MappedModel):
    _estimator = "OneAgainstSomeClassifier"
    _mapped_core_type = MappedOneAgainstSome


class _RecallTree(RecallTreeRules, MappedModel):
    _estimator = "RecallTreeClassifier"
    _mapped_core_type = MappedRecallTree


class _OneAgainstAll(OneAgainstAllRules, MappedModel):
    _estimator = "OneAgainstAllClassifier"
    _mapped_core_type = MappedOneAgainstAll


class _LOMTree(LOMTreeRules, MappedModel):
    _estimator = "LOMTreeClassifier"
    _mapped_core_type = MappedLOMTree


_BY_ALGORITHM: dict[str, type[MappedModel]] = {
    "one-against-some": _OneAgainstSome,
    "recall-tree": _RecallTree,
    "one-against-all": _OneAgainstAll,
    "lom-tree": _LOMTree,
}


def map_model(path: str | Path) -> MappedModel | None:
    """Return a model that predicts; None for a file of which `load` has to say what it holds.

    Parameters
    ----------
    path : path-like

    Returns
    -------
    MappedModel or None
        None if the file is older than some parameters of its algorithm, or is not as it should be.

    Examples
    --------
    >>> import tempfile
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.estimators.mapped import map_model
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     clf.save(f"{folder}/digits.rt")
    ...     model = map_model(f"{folder}/digits.rt")
    >>> bool((model.predict(X) == clf.predict(X)).all())
    True
    """
    try:
        container = open_file(Path(path), use_mmap=True)
        model = read_model(container)
        kind = _BY_ALGORITHM[model.algorithm]
        core = kind._mapped_core_type(model.state, **model.config)
    except (ValueError, TypeError, OverflowError, KeyError):
        return None
    is_current = set(core.config) == set(model.config)
    is_whole = core.is_complete == (model.contents == "training")
    if not is_current or not is_whole or not 0 < core.n_classes <= len(model.classes):
        return None
    return kind(model, core, container) if core.n_examples > 0 else None
