"""The Recall Tree as an estimator."""

from __future__ import annotations

from typing import Any, ClassVar

from recalltree._core import MappedRecallTree, RecallTree
from recalltree.estimators.base import as_limit
from recalltree.estimators.constraints import constraints_of
from recalltree.estimators.list_classifier import ListClassifier
from recalltree.estimators.rules import RecallTreeRules
from recalltree.estimators.tree_classifier import TreeClassifier
from recalltree.parameters import RECALL_TREE, defaults_of
from recalltree.tree import RecallTreeView

_DEFAULT = defaults_of(RECALL_TREE)


class RecallTreeClassifier(RecallTreeRules, ListClassifier, TreeClassifier):
    """The Recall Tree: online classification at a cost logarithmic in the number of classes.

    A binary tree is grown while learning. Each example is routed down to the node where a few
    candidate classes hold its label with the best guarantee, and only these are compared, each with
    its own linear predictor (one-against-some).

    Parameters
    ----------
    max_candidates : int or None, default=None
        Most classes to compare at a node (F in the paper). None is 4·log2 of the number of
        classes seen so far, rounded up. At most 65,534.
    max_depth : int or None, default=None
        Depth of the tree. None is log2 of the number of classes seen so far, rounded down. At
        most 1,000: an example descends until the bound of recall stops it, which at first it
        never does.
    bound_lambda : float, default=1.0
        Width of the confidence bound of recall (λ in the paper's equation 1): larger values stop
        higher in the tree.
    path_features : {"path", "leaf", "none"}, default="none"
        Features of the route for the class predictors: an indicator of every node passed below the
        root, as in the paper, of the last node only, or nothing.
    path_interactions : bool, default=False
        Cross these indicators with the features: each pair of class and node then has its own
        correction to the weights of the class. Slower and larger; ``path_features`` must be "leaf"
        or "path".
    router_weighting : {"total_entropy", "entropy", "unit"}, default="total_entropy"
        Importance of an example to a router: the difference that its side makes to the total
        entropy of the children; to their average entropy, as in the paper, which vanishes as
        examples accumulate; or 1.
    routing_order : {"route_first", "update_first"}, default="route_first"
        Route an example before the router learns from it, as in prediction, or after.
    count_decay : float or None, default=None
        Half-life of counts, in examples, for data that changes: old counts fade. None keeps counts
        for ever.
    min_gradient : float, default=0.1
        Candidates that are not the label skip updates whose gradient is smaller: with the logistic
        loss, those that are less probable than this. Skipping makes learning faster and the model
        smaller, with no more errors. With 0 every candidate learns from every example, as in the
        paper.
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
        Threads. None is 1; -1 is all cores. Predictions do not depend on it. Several threads
        learn mini-batches: any number above one gives the same model, to the bit, but not quite
        that of one thread. With ``path_interactions`` one thread learns.
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
    tree_ : RecallTreeView
        The tree: nodes, depth, counts, recall bounds, candidates.
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
    OneAgainstAllClassifier : Compares all classes, at a cost linear in their number.
    LOMTreeClassifier : Compares none: the leaf answers.

    References
    ----------
    H. Daumé III, N. Karampatziakis, J. Langford, P. Mineiro, "Logarithmic Time One-Against-Some",
    ICML 2017.

    Examples
    --------
    >>> from recalltree import RecallTreeClassifier
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(n_passes=3, random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True

    New classes may appear at any time:

    >>> clf = RecallTreeClassifier().partial_fit([[0.0, 1.0]], ["up"])
    >>> clf = clf.partial_fit([[1.0, 0.0]], ["right"])
    >>> clf.classes_
    array(['up', 'right'], dtype=object)
    >>> clf.predict([[0.0, 2.0], [2.0, 0.0]])
    array(['up', 'right'], dtype=object)
    """

    _algorithm = "recall-tree"
    _algorithm_name = "Recall Tree"
    _core_type = RecallTree
    _mapped_core_type = MappedRecallTree
    _view_type = RecallTreeView

    _parameters = RECALL_TREE
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints_of(RECALL_TREE)
    _newer_parameters: ClassVar[dict[str, Any]] = {
        "min_gradient": 0.0,
        "rows_without_labels": "skip",
    }

    def __init__(
        self,
        *,
        max_candidates: int | None = _DEFAULT["max_candidates"],
        max_depth: int | None = _DEFAULT["max_depth"],
        bound_lambda: float = _DEFAULT["bound_lambda"],
        path_features: str = _DEFAULT["path_features"],
        path_interactions: bool = _DEFAULT["path_interactions"],
        router_weighting: str = _DEFAULT["router_weighting"],
        routing_order: str = _DEFAULT["routing_order"],
        count_decay: float | None = _DEFAULT["count_decay"],
        min_gradient: float = _DEFAULT["min_gradient"],
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
        self.max_candidates = max_candidates
        self.max_depth = max_depth
        self.bound_lambda = bound_lambda
        self.path_features = path_features
        self.path_interactions = path_interactions
        self.router_weighting = router_weighting
        self.routing_order = routing_order
        self.count_decay = count_decay
        self.min_gradient = min_gradient
        self.rows_without_labels = rows_without_labels

    def _own_config(self) -> dict[str, Any]:
        if self.path_interactions and self.path_features == "none":
            raise ValueError(
                "path_interactions=True crosses path features with the features of x, and "
                "path_features='none' has none; use path_features='leaf' or 'path'"
            )
        return {
            "max_candidates": as_limit(self.max_candidates),
            "max_depth": as_limit(self.max_depth),
            "bound_lambda": float(self.bound_lambda),
            "path_features": self.path_features,
            "path_interactions": bool(self.path_interactions),
            "router_weighting": self.router_weighting,
            "routing_order": self.routing_order,
            "count_decay": float(self.count_decay or 0),
            "min_gradient": float(self.min_gradient),
        }
