"""One-against-all as an estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from recalltree._core import MappedOneAgainstAll, OneAgainstAll
from recalltree.estimators.base import as_limit
from recalltree.estimators.constraints import constraints_of
from recalltree.estimators.list_classifier import ListClassifier
from recalltree.estimators.rules import OneAgainstAllRules
from recalltree.parameters import ONE_AGAINST_ALL, defaults_of

_DEFAULT = defaults_of(ONE_AGAINST_ALL)


class OneAgainstAllClassifier(OneAgainstAllRules, ListClassifier):
    """One-against-all: a linear predictor per class, all of them compared.

    Accurate, at a cost linear in the number of classes; what the Recall Tree is measured against.

    Parameters
    ----------
    negative_samples : int or None, default=None
        Each example teaches its own class and this many others, drawn at random and weighted to
        make up for those left out (the paper's negative gradient subsampling). None is all of
        them. Prediction always compares all classes.
    rows_without_labels : {"skip", "learn"}, default="skip"
        Rows with an empty list of labels: skip them, or learn that all candidates are wrong. Learn
        them if they are known to have no label, not if their labels are unknown.
    loss : {...}, default="logistic"
        Loss of the binary linear models.
    learning_rate : float, default=1.0
        Size of the steps. Rates adapt to each feature, so 1 suits most data.
    l2 : float, default=0.0
        Strength of the L2 penalty.
    n_passes : int, default=1
        Passes of ``fit`` over the data; ``partial_fit`` always makes one.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in a new random order in every pass. ``partial_fit`` never
        shuffles.
    early_stopping : bool, default=False
        Let ``fit`` hold out rows, measure their error after every pass, stop after 2 passes without
        improvement, and keep the model of the best pass.
    validation_fraction : float, default=0.1
        Share of the rows that ``early_stopping`` holds out, drawn at random.
    n_jobs : int or None, default=None
        Threads. None is 1; -1 is all cores. Predictions do not depend on it, and neither does
        learning without ``negative_samples``. With them, several threads learn mini-batches: any
        number above one gives the same model, to the bit, but not quite that of one thread.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows and of the negative samples. With a number, the model is the
        same every time, to the bit.
    verbose : int, default=0
        1 shows a progress bar on standard error while learning.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels. The position of a label is its column everywhere. After ``fit`` they are
        sorted; labels that ``partial_fit`` brings are appended in the order of their first
        appearance, so that columns never move.
    n_examples_ : int
        How many examples were learned so far; every pass counts them again.
    n_classes_seen_ : int
        How many classes were learned so far.
    n_features_in_ : int
        How many features X has.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    progressive_error_ : float
        The error of predicting each example just before learning it, over the first pass of
        ``fit`` and all of ``partial_fit``. With ``negative_samples``, over a sample of the
        examples, so that it stays cheap.
    progressive_curve_ : ndarray
        How it went: fields "examples", "error" (so far) and "recent_error", at most 256 moments.
    memory_bytes_ : int
        Bytes that the model takes.
    memory_by_part_ : dict
        The same by part.
    n_iter_ : int
        Passes that ``fit`` completed.
    validation_errors_ : ndarray of shape (n_iter_,)
        The error on the held-out rows after each pass, with ``early_stopping``.
    work_ : dict
        Counts of the work done: linear evaluations, histogram touches, examples.

    See Also
    --------
    RecallTreeClassifier : Compares a few candidates, at a cost logarithmic in the classes.
    LOMTreeClassifier : Compares none: the leaf of a tree answers.

    Examples
    --------
    >>> from recalltree import OneAgainstAllClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneAgainstAllClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.9)
    True
    >>> labels, probabilities = clf.predict_topk(X[:2], k=3)
    >>> labels.shape, probabilities.shape
    ((2, 3), (2, 3))
    """

    _algorithm = "one-against-all"
    _algorithm_name = "One-against-all"
    _core_type = OneAgainstAll
    _mapped_core_type = MappedOneAgainstAll

    _parameters = ONE_AGAINST_ALL
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints_of(ONE_AGAINST_ALL)
    _newer_parameters: ClassVar[dict[str, Any]] = {"rows_without_labels": "skip"}

    def __init__(
        self,
        *,
        negative_samples: int | None = _DEFAULT["negative_samples"],
        rows_without_labels: str = _DEFAULT["rows_without_labels"],
        loss: str = _DEFAULT["loss"],
        learning_rate: float = _DEFAULT["learning_rate"],
        l2: float = _DEFAULT["l2"],
        n_passes: int = _DEFAULT["n_passes"],
        shuffle: bool = _DEFAULT["shuffle"],
        early_stopping: bool = _DEFAULT["early_stopping"],
        validation_fraction: float = _DEFAULT["validation_fraction"],
        n_jobs: int | None = _DEFAULT["n_jobs"],
        random_state: Any = _DEFAULT["random_state"],
        verbose: int = _DEFAULT["verbose"],
    ) -> None:
        super().__init__(
            loss=loss,
            learning_rate=learning_rate,
            l2=l2,
            n_passes=n_passes,
            shuffle=shuffle,
            early_stopping=early_stopping,
            validation_fraction=validation_fraction,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.negative_samples = negative_samples
        self.rows_without_labels = rows_without_labels

    def _own_config(self) -> dict[str, Any]:
        return {"negative_samples": as_limit(self.negative_samples)}

    def _seed(self, seed: int) -> dict[str, int]:
        return {"seed": seed}
