"""Base of the estimators: everything but their parameters and their core."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_consistent_length, check_random_state

from recalltree.estimators.examples import Examples, check_labels, encode
from recalltree.estimators.figures import Figures
from recalltree.estimators.fitted import Fitted
from recalltree.estimators.passes import HeldOut, hold_out, learn_pass, progress_bar
from recalltree.estimators.persistence import Persistent
from recalltree.estimators.prediction import Predictions
from recalltree.estimators.progressive_curve import ProgressiveCurve
from recalltree.inspection.explainer import explain
from recalltree.inspection.explanation import Explanation
from recalltree.label_lists import LabelLists
from recalltree.labels import Growth, LabelTable, as_labels
from recalltree.parameters import Table, list_choices
from recalltree.validation import (
    Matrix,
    check_matrix,
    check_weights,
    count_threads,
    is_sparse,
    keep_features,
    make_rows,
)

#: Estimators by the name of their algorithm, as in model files. Each adds itself.
CLASSIFIERS: dict[str, type[OnlineClassifier]] = {}

#: The locks of estimators. Not among their attributes, which are those that scikit-learn expects.
_LEARNING_LOCKS: WeakKeyDictionary[Any, Lock] = WeakKeyDictionary()
_ONE_AT_A_TIME = Lock()


class OnlineClassifier(ClassifierMixin, Predictions, Figures, Persistent):
    """Base class of the estimators; not to be used by itself."""

    #: Table of its parameters, of which the command line makes options.
    _parameters: ClassVar[Table]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        list_choices(cls, getattr(cls, "_parameters", {}))
        if "_algorithm" in vars(cls):  # not of a class that a user derives from one of ours
            CLASSIFIERS[cls._algorithm] = cls

    def __init__(
        self,
        *,
        loss: str,
        learning_rate: float,
        l2: float,
        n_passes: int,
        shuffle: bool,
        early_stopping: bool,
        validation_fraction: float,
        n_jobs: int | None,
        random_state: Any,
        verbose: int,
    ) -> None:
        self.loss = loss
        self.learning_rate = learning_rate
        self.l2 = l2
        self.n_passes = n_passes
        self.shuffle = shuffle
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    # --- learning ---------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn from scratch, in ``n_passes`` passes over the data.

        An interrupt (KeyboardInterrupt) is answered within a fraction of a second and leaves a
        model that can be used, and that can continue with ``partial_fit``.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
            Dense X makes dense rows of weights, sparse X sparse ones.
        y : array-like of shape (n,)
            Labels: strings, integers, booleans, or floats with integral values. Of all but
            `LOMTreeClassifier` also lists of them: an indicator of shape (n, n_labels), sparse or
            dense, n lists or sets, or a list column; ``rows_without_labels`` says what becomes of
            empty ones.
        sample_weight : array-like of shape (n,), default=None
            Importance of each example; one of weight 0 is as good as absent.

        Returns
        -------
        self
        """
        with self._learning_alone:
            self._fit(X, y, sample_weight)
        return self

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> None:
        matrix, examples, growth = self._check_examples(
            X, y, sample_weight, is_first=True, sort=True
        )
        if not examples.has_labels(examples.kept).any():
            raise ValueError(
                "sample_weight is zero for every row, so there is nothing to learn; at least one "
                "weight must be larger."
                if examples.offsets is None
                else "no row of non-zero weight has a label, so there is nothing to learn."
            )
        random_state = check_random_state(self.random_state)
        core, config = self._make_core(matrix, random_state)
        n_threads = count_threads(self.n_jobs)
        held_out = None
        if self.early_stopping:
            labelled = examples.kept[examples.has_labels(examples.kept)]
            _, aside = hold_out(labelled, self.validation_fraction, random_state)
            held_out = HeldOut(make_rows(matrix.values[aside]), examples, aside, n_threads)
            examples = replace(examples, kept=np.setdiff1d(examples.kept, aside))
        keep_features(self, X)
        self._begin(core, config, growth)
        self._run_passes(examples, held_out, random_state, n_threads)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        """Continue learning: one pass over the rows, in the order given.

        New labels may appear at any time. They are appended to ``classes_`` in the order of their
        first appearance; the classes known before keep their places.

        Other threads may use the estimator meanwhile: they see the model as it was before or after
        some of the rows, and wait some tenths of a second at most. Threads that learn take turns.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, n_features)
        y : array-like of shape (n,)
        classes : array-like, default=None
            Labels that will come, to be given their places in ``classes_`` now, in sorted order.
            Never needed, and no limit: other labels may still appear.
        sample_weight : array-like of shape (n,), default=None
            Importance of each example; one of weight 0 is as good as absent.

        Returns
        -------
        self
        """
        return self._go_on(X, y, classes, sample_weight, first_pass=True)

    def _go_on(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None, *, first_pass: bool
    ) -> Any:
        """Learn the rows; in a first pass they are new, so that errors on them are progressive."""
        with self._learning_alone:
            self._learn(X, y, classes, sample_weight, first_pass=first_pass)
        return self

    def _learn(self, X: Any, y: Any, classes: Any, sample_weight: Any, *, first_pass: bool) -> None:
        is_first = not hasattr(self, "_fitted")
        matrix, examples, growth = self._check_examples(
            X, y, sample_weight, is_first=is_first, classes=classes
        )
        n_threads = count_threads(self.n_jobs)
        if is_first:
            core, config = self._make_core(matrix, check_random_state(self.random_state))
            keep_features(self, X)
            self._begin(core, config, growth)
            self.n_iter_ = 1
        else:
            self._check_config()
            self._load_to_learn()
            growth.commit()
        with progress_bar(len(examples.kept), verbose=self.verbose) as report:
            learn_pass(
                self._fitted,
                examples,
                examples.kept,
                n_threads=n_threads,
                first_pass=first_pass,
                report=report,
            )

    def _check_examples(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        *,
        is_first: bool,
        classes: Any = None,
        sort: bool = False,
    ) -> tuple[Matrix, Examples, Growth]:
        """Check everything that was given, and change nothing."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        matrix = check_matrix(X, estimator=self, is_first=is_first)
        labels = self._check_labels(y, None if is_first else self._fitted)
        check_consistent_length(matrix, labels)
        n_rows = matrix.shape[0]
        weights = check_weights(sample_weight, n_rows)
        kept = np.arange(n_rows, dtype=np.int64) if weights is None else np.flatnonzero(weights)
        growth = (LabelTable() if is_first else self._fitted.labels).grow()
        if classes is not None:
            growth.encode(as_labels(classes, "classes"), sort=True, name="classes")
        class_ids, kept, offsets = encode(
            labels, kept, growth, sort=sort, skips_empty=not self._learns_rows_without_labels
        )
        return matrix, Examples(matrix.rows, class_ids, weights, kept, offsets), growth

    @property
    def _learns_rows_without_labels(self) -> bool:
        return False

    def _check_labels(self, y: Any, fitted: Fitted | None) -> NDArray[Any] | LabelLists:
        """Check y; `fitted` is the model that continues to learn, None for a new one."""
        return check_labels(y, learns_lists=False, name=type(self).__name__)

    def _begin(self, core: Any, config: dict[str, Any], growth: Growth) -> None:
        """Forget the old model; from here on there is a new one, which knows no example."""
        growth.commit()
        for name in ("validation_errors_", "model_extra_", "compact_report_", "dense_labels_"):
            self.__dict__.pop(name, None)
        fitted = Fitted(core, config, growth.table, ProgressiveCurve())
        self.__dict__.update(_fitted=fitted, n_iter_=0)  # at once, whatever interrupts

    def _run_passes(
        self,
        examples: Examples,
        held_out: HeldOut | None,
        random_state: np.random.RandomState,
        n_threads: int,
    ) -> None:
        kept = examples.kept
        with progress_bar(self.n_passes * len(kept), verbose=self.verbose) as report:
            for i in range(self.n_passes):
                learn_pass(
                    self._fitted,
                    examples,
                    random_state.permutation(kept) if self.shuffle else kept,
                    n_threads=n_threads,
                    first_pass=i == 0,
                    report=report,
                )
                self.n_iter_ = i + 1
                if held_out is not None:
                    stop = held_out.measure(self._core)
                    self.validation_errors_ = np.array(held_out.errors)
                    if stop:
                        break
        if held_out is not None:
            self._fitted = replace(self._fitted, core=held_out.best(self._core))

    # --- the core ---------------------------------------------------------------------------

    @abstractmethod
    def _own_config(self) -> dict[str, Any]:
        """Return the parameters of the core that the other estimators do not have."""

    def _model_config(self) -> dict[str, Any]:
        return {
            "loss": self.loss,
            "learning_rate": float(self.learning_rate),
            "l2": float(self.l2),
            **self._own_config(),
        }

    def _make_core(
        self, matrix: Matrix, random_state: np.random.RandomState
    ) -> tuple[Any, dict[str, Any]]:
        config = self._model_config()
        # Drawn in any case: every estimator then sees the rows in the same order.
        seed = int(random_state.randint(np.iinfo(np.int32).max))
        core = self._core_type(
            n_features=matrix.shape[1],
            sparse=is_sparse(matrix.values),
            **config,
            **self._seed(seed),
        )
        return core, config

    def _seed(self, seed: int) -> dict[str, int]:
        return {}

    def _check_config(self) -> None:
        """Check that the parameters that shape the model are those it began with."""
        before, now = self._fitted.config, self._model_config()
        changed = sorted(name for name in now if now[name] != before[name])
        if changed:
            raise ValueError(
                f"{', '.join(changed)} changed since learning began. partial_fit continues with "
                "the model as it is: set the parameter back, or call fit to start from scratch."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted") and self._core.n_classes_seen > 0

    def _check_fitted(self) -> Fitted:
        fitted: Fitted | None = getattr(self, "_fitted", None)
        if fitted is None or fitted.core.n_classes_seen == 0:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: it has learned no "
                "example. Call 'fit' or 'partial_fit' first."
            )
        return fitted

    @property
    def _learning_alone(self) -> Lock:
        """A lock, so that threads learn one after the other."""
        with _ONE_AT_A_TIME:
            return _LEARNING_LOCKS.setdefault(self, Lock())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def explain(
        self,
        x: Any,
        k: int = 5,
        n_features: int = 10,
        feature_names: Sequence[str] | Mapping[int, str] | None = None,
    ) -> Explanation:
        """Explain the answer for one row: its route, the candidates, the features behind both.

        Parameters
        ----------
        x : array-like of shape (n_features_in_,) or (1, n_features_in_), dense or sparse
        k : int, default=5
            How many of the best candidates to show.
        n_features : int, default=10
            How many features to show for each of them: those that move its score most.
        feature_names : sequence of str, or dict from int to str, default=None
            Names of the features: of all, or by their numbers of some, such as the words of this
            row (``recalltree.inspection.word_names``). None is ``feature_names_in_``, or numbers.

        Returns
        -------
        Explanation
            ``print`` shows it; ``as_dict()`` is for JSON.
        """
        return explain(self, x, k, n_features, feature_names)


def as_limit(value: int | None) -> int:
    """Return a limit as the core takes it: 0 for None, and no more than 32 bits hold.

    Examples
    --------
    >>> from recalltree.estimators.base import as_limit
    >>> as_limit(None), as_limit(7), as_limit(10**12)
    (0, 7, 2147483647)
    """
    return 0 if value is None else min(int(value), 2**31 - 1)
