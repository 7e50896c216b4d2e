"""LOMTree as an estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from recalltree._core import LOMTree, MappedLOMTree
from recalltree.estimators.base import as_limit
from recalltree.estimators.constraints import constraints_of
from recalltree.estimators.rules import LOMTreeRules
from recalltree.estimators.tree_classifier import TreeClassifier
from recalltree.parameters import LOM_TREE, defaults_of
from recalltree.tree import LOMTreeView

_DEFAULT = defaults_of(LOM_TREE)


class LOMTreeClassifier(LOMTreeRules, TreeClassifier):
    """LOMTree: a tree of routers that part the classes; the leaf answers with its majority.

    The logarithmic-time algorithm that the Recall Tree is measured against. It compares no classes:
    the candidates of a row are the labels that its leaf has seen, their scores are their counts
    there, and probabilities are shares of these counts.

    Parameters
    ----------
    max_nodes : int or None, default=None
        Most nodes with a router. None is one less than the number of classes seen so far.
    swap_resistance : float, default=4.0
        When ``max_nodes`` is reached: how many times as busy as the least used leaf another leaf
        must be to take over its node.
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
        Threads that predict. None is 1; -1 is all cores. Predictions do not depend on it. One
        thread learns in any case.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows. With a number, the model is the same every time, to the bit.
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
        ``fit`` and all of ``partial_fit``.
    progressive_curve_ : ndarray
        How it went: fields "examples", "error" (so far) and "recent_error", at most 256 moments.
    tree_ : LOMTreeView
        The tree: nodes, depth, labels of each leaf.
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
    RecallTreeClassifier : Compares a few candidates at the end of the route.
    OneAgainstAllClassifier : Compares all classes, at a cost linear in their number.

    References
    ----------
    A. Choromanska, J. Langford, "Logarithmic Time Online Multiclass Prediction", NIPS 2015.

    Examples
    --------
    >>> from recalltree import LOMTreeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = LOMTreeClassifier(n_passes=5, random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.5)
    True
    """

    _algorithm = "lom-tree"
    _algorithm_name = "LOMTree"
    _core_type = LOMTree
    _mapped_core_type = MappedLOMTree
    _view_type = LOMTreeView

    _parameters = LOM_TREE
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints_of(LOM_TREE)

    def __init__(
        self,
        *,
        max_nodes: int | None = _DEFAULT["max_nodes"],
        swap_resistance: float = _DEFAULT["swap_resistance"],
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
        self.max_nodes = max_nodes
        self.swap_resistance = swap_resistance

    def _own_config(self) -> dict[str, Any]:
        return {
            "max_nodes": as_limit(self.max_nodes),
            "swap_resistance": float(self.swap_resistance),
        }
