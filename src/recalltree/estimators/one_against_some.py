"""One-against-some as an estimator: the keys of an example vote for its candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from recalltree._core import MappedOneAgainstSome, OneAgainstSome
from recalltree.estimators.base import as_limit
from recalltree.estimators.constraints import constraints_of
from recalltree.estimators.list_classifier import ListClassifier
from recalltree.estimators.rules import OneAgainstSomeRules
from recalltree.model_file.model import Model
from recalltree.parameters import ONE_AGAINST_SOME, defaults_of
from recalltree.validation import Matrix, is_sparse

_DEFAULT = defaults_of(ONE_AGAINST_SOME)


class OneAgainstSomeClassifier(OneAgainstSomeRules, ListClassifier):
    """One-against-some: one-against-all's accuracy with work that does not grow with the classes.

    Every key of an example keeps a histogram of the labels that it was seen with. A key is a
    feature of the example, or the leaf it reaches in a shallow tree. The histograms vote for a few
    candidate classes, and only these are compared, each with its own linear predictor; a softmax
    over the candidates teaches both.

    Parameters
    ----------
    keys : {"auto", "features", "trees", "both", "path", "cells", "cells+trees"}, default="auto"
        What finds candidates. "features": every feature that is not zero votes. "trees": leaves of
        ``n_trees`` trees vote, whose routers learn like those of the Recall Tree. "both". "path":
        the node where the descent of a single tree stops, as in the paper. "cells", for embeddings:
        the nearest class vectors, found in a tree of cells; they replace linear predictors.
        "cells+trees": trees vote as well, up to 4,096 classes. "auto": features if the first X is
        sparse, and cells for a dense block at its end; trees if X is dense, with cells from 100
        features on.
    max_candidates : int or None, default=None
        Most classes to compare (F). None is 24 if only features vote, 32 with cells (which name as
        many again where others vote), otherwise 100.
    max_labels : int, default=512
        Most labels in the histogram of a feature, those with the largest counts (M). Leaves of
        trees hold at most 128.
    max_entries : int, default=1024
        Most entries of histograms to read for an example (E), those with the largest votes first.
    sublinear_tf : bool, default=True
        Replace a feature's value x by ``log(1 + abs(x))``, with the sign of x, as suits counts of
        words. This and the next two apply to sparse X and to features that vote.
    use_idf : bool, default=True
        Weight features by the square root of their inverse document frequency so far.
    normalize : bool, default=True
        Scale the features of an example to unit length.
    center : bool, default=True
        Subtract the mean so far from the features of dense X. Either way they are divided by their
        root mean square and clipped at twice that.
    n_trees : int, default=4
        Number of trees that vote (T), each with two leaves: that of the example, and the one where
        it would have ended if the least certain router had decided otherwise.
    max_depth : int or None, default=None
        Depth of the trees. None is 7, or less while there are few classes; for "path" it is log2
        of the number of classes seen so far.
    bound_lambda : float, default=1.0
        For "path": width of the confidence bound of recall (λ in the paper's equation 1).
    count_decay : float or None, default=None
        Half-life of counts, in examples, for data that changes: old counts fade, and classes with
        wrong scores forget some of their weights. None keeps everything for ever.
    memory_budget : int or None, default=None
        Limit on ``memory_bytes_`` after every example. Beyond it, pairs of a class and a feature
        that matter least are forgotten. Classes, features, trees and dense predictors are kept: a
        limit too small for these is an error. None sets no limit.
    feature_dropout : float, default=0.0
        Share of an example's features, drawn at random, that passes after the first leave out.
        Prevents overfitting when classes have few examples.
    cells_read : int, default=64
        Most cells to read for an example; a cell holds the vectors of at most 128 classes. The
        nearest come first.
    idle_cells : int or None, default=16
        Reading ends early after this many cells in a row that have brought nothing. None is half
        of ``cells_read``.
    n_dense_features : int, default=0
        Number of features at the end of sparse X that are a dense block, for example an embedding
        after counts of words: cells use these, the others vote, and all are learned together. See
        `recalltree.hybrid`; a ColumnTransformer makes such rows with ``sparse_threshold=1.0`` and
        the dense columns last.
    rows_without_labels : {"skip", "learn"}, default="skip"
        Rows with an empty list of labels: skip them, or learn that all candidates are wrong. Learn
        them if they are known to have no label, not if their labels are unknown.
    learning_rate : float, default=1.0
        Size of the steps. Rates adapt to each feature, so 1 suits most data. For very noisy labels,
        such as the next word of a text, 0.5 is better.
    l2 : float, default=0.0
        Strength of the L2 penalty.
    n_passes : int, default=1
        Passes of ``fit`` over the data; ``partial_fit`` always makes one. Later passes leave an
        example out of the counts that vote for it, and make shorter steps.
    shuffle : bool, default=True
        Let ``fit`` visit the rows in a new random order in every pass. ``partial_fit`` never
        shuffles.
    early_stopping : bool, default=False
        Let ``fit`` hold out rows, measure their error after every pass, stop after 2 passes without
        improvement, and keep the model of the best pass.
    validation_fraction : float, default=0.1
        Share of the rows that ``early_stopping`` holds out, drawn at random.
    n_jobs : int or None, default=None
        Threads. None is 1; -1 is all cores. Predictions do not depend on it. Several threads learn
        mini-batches: any number above one gives the same model, to the bit, but not quite that of
        one thread.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the rows and of the trees. With a number, the model is the same every
        time, to the bit.
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
    memory_bytes_ : int
        Bytes that the model takes.
    memory_by_part_ : dict
        The same by part.
    n_iter_ : int
        Passes that ``fit`` completed.
    validation_errors_ : ndarray of shape (n_iter_,)
        The error on the held-out rows after each pass, with ``early_stopping``.
    work_ : dict
        Counts of the work done: linear evaluations, histogram touches, vectors that a search for
        the nearest classes has compared ("vectors_compared"), look-ups of what a class knows of a
        feature ("pair_lookups", "pairs_found", "pairs_changed"), examples.

    See Also
    --------
    RecallTreeClassifier : The paper's tree: candidates at the end of one path, binary losses.
    OneAgainstAllClassifier : Compares all classes, at a cost linear in their number.

    Examples
    --------
    Documents by their words:

    >>> from recalltree import OneAgainstSomeClassifier
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> texts = ["the cat sat", "a cat and a cat", "the dog barked", "a dog and a bone"]
    >>> words = CountVectorizer()
    >>> X = words.fit_transform(texts)
    >>> clf = OneAgainstSomeClassifier(n_passes=2).fit(X, ["cat", "cat", "dog", "dog"])
    >>> clf.predict(words.transform(["that cat", "the dog"]))
    array(['cat', 'dog'], dtype=object)

    Rows with several labels:

    >>> topics = [["pets", "cats"], ["cats"], ["pets", "dogs"], ["dogs", "bones"]]
    >>> tagger = OneAgainstSomeClassifier(n_passes=20, random_state=0).fit(X, topics)
    >>> labels, probabilities = tagger.predict_topk(words.transform(["the dog barked"]), k=2)
    >>> sorted(labels[0].tolist())
    ['dogs', 'pets']
    >>> tagger.predict(words.transform(["the dog barked"]), threshold=0.1).shape
    (1, 4)

    Dense features:

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = OneAgainstSomeClassifier(random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    _algorithm = "one-against-some"
    _algorithm_name = "One-against-some"
    _core_type = OneAgainstSome
    _mapped_core_type = MappedOneAgainstSome

    _parameters = ONE_AGAINST_SOME
    _parameter_constraints: ClassVar[dict[str, Any]] = constraints_of(ONE_AGAINST_SOME)
    _newer_parameters: ClassVar[dict[str, Any]] = {
        "memory_budget": None,
        "feature_dropout": 0.0,
        "cells_read": _DEFAULT["cells_read"],
        "idle_cells": None,
        "n_dense_features": 0,
        "rows_without_labels": "skip",
    }

    def __init__(
        self,
        *,
        keys: str = _DEFAULT["keys"],
        max_candidates: int | None = _DEFAULT["max_candidates"],
        max_labels: int = _DEFAULT["max_labels"],
        max_entries: int = _DEFAULT["max_entries"],
        sublinear_tf: bool = _DEFAULT["sublinear_tf"],
        use_idf: bool = _DEFAULT["use_idf"],
        normalize: bool = _DEFAULT["normalize"],
        center: bool = _DEFAULT["center"],
        n_trees: int = _DEFAULT["n_trees"],
        max_depth: int | None = _DEFAULT["max_depth"],
        bound_lambda: float = _DEFAULT["bound_lambda"],
        count_decay: float | None = _DEFAULT["count_decay"],
        memory_budget: int | None = _DEFAULT["memory_budget"],
        feature_dropout: float = _DEFAULT["feature_dropout"],
        cells_read: int = _DEFAULT["cells_read"],
        idle_cells: int | None = _DEFAULT["idle_cells"],
        n_dense_features: int = _DEFAULT["n_dense_features"],
        rows_without_labels: str = _DEFAULT["rows_without_labels"],
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
            loss="logistic",  # of the routers; not a parameter
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
        self.keys = keys
        self.max_candidates = max_candidates
        self.max_labels = max_labels
        self.max_entries = max_entries
        self.sublinear_tf = sublinear_tf
        self.use_idf = use_idf
        self.normalize = normalize
        self.center = center
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.bound_lambda = bound_lambda
        self.count_decay = count_decay
        self.memory_budget = memory_budget
        self.feature_dropout = feature_dropout
        self.cells_read = cells_read
        self.idle_cells = idle_cells
        self.n_dense_features = n_dense_features
        self.rows_without_labels = rows_without_labels

    def _own_config(self) -> dict[str, Any]:
        return {
            "keys": self.keys,
            "max_candidates": as_limit(self.max_candidates),
            "max_labels": as_limit(self.max_labels),
            "max_entries": as_limit(self.max_entries),
            "sublinear_tf": bool(self.sublinear_tf),
            "use_idf": bool(self.use_idf),
            "normalize": bool(self.normalize),
            "center": bool(self.center),
            "n_trees": int(self.n_trees),
            "max_depth": as_limit(self.max_depth),
            "bound_lambda": float(self.bound_lambda),
            "count_decay": float(self.count_decay or 0),
            "memory_budget": min(int(self.memory_budget or 0), 2**64 - 1),
            "feature_dropout": float(self.feature_dropout),
            "cells_read": int(self.cells_read),
            "idle_cells": as_limit(self.idle_cells),
            "n_dense_features": int(self.n_dense_features),
        }

    @classmethod
    def _upgraded(cls, model: Model) -> Model:
        config = model.config
        if "idle_cells" not in config:  # it was half of cells_read
            config = {**config, "idle_cells": 0}
            model = replace(model, config=config)
        is_older = "n_dense_features" not in config
        if is_older and config.get("keys") == "auto" and not config.get("sparse"):
            # Before there were cells, this meant trees.
            trees = {"keys": "trees"}
            return replace(
                model, config={**config, **trees}, parameters={**model.parameters, **trees}
            )
        return model

    def _make_core(
        self, matrix: Matrix, random_state: np.random.RandomState
    ) -> tuple[Any, dict[str, Any]]:
        self._check_dense_block(matrix)
        return super()._make_core(matrix, random_state)

    def _check_dense_block(self, matrix: Matrix) -> None:
        """Check that X has what cells need."""
        n, sparse = self.n_dense_features, is_sparse(matrix.values)
        has_cells = self.keys in ("cells", "cells+trees")
        if n > 0 and not sparse:
            raise ValueError(
                f"n_dense_features={n} is for sparse X with a dense block at its end, and X is "
                "dense: make it with recalltree.hybrid, or with a ColumnTransformer that has "
                "sparse_threshold=1.0; if all of X is dense, leave n_dense_features at 0."
            )
        if n > matrix.shape[1]:
            raise ValueError(f"n_dense_features={n}: X has only {matrix.shape[1]} features.")
        if n > 0 and not has_cells and self.keys != "auto":
            raise ValueError(
                f"n_dense_features={n} needs cells, and keys={self.keys!r} has none: choose "
                'keys="auto", "cells" or "cells+trees".'
            )
        if has_cells and sparse and n == 0:
            raise ValueError(
                f"keys={self.keys!r} needs dense features, and X is sparse: give X as an array, or "
                "tell with n_dense_features how many features at the end of X are a dense block."
            )

    def _seed(self, seed: int) -> dict[str, int]:
        return {"seed": seed}
