"""scikit-learn's own checks of an estimator, over all four and some of their variants."""

import pytest
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from recalltree import (
    LOMTreeClassifier,
    OneAgainstAllClassifier,
    OneAgainstSomeClassifier,
    RecallTreeClassifier,
)

ORDER_AND_WEIGHT = (
    "An online learner: an example of weight 2 makes one importance-aware step, which is not the "
    "same as two steps with other examples in between."
)

LISTS_ARE_LABELS = (
    "A list of lists holds the labels of rows; 0 and 1 are labels like others. Indicators are "
    "arrays or sparse matrices."
)

EXPECTED_FAILURES = {
    "check_classifiers_multilabel_representation_invariance": LISTS_ARE_LABELS,
    "check_sample_weight_equivalence_on_dense_data": ORDER_AND_WEIGHT,
    "check_sample_weight_equivalence_on_sparse_data": ORDER_AND_WEIGHT,
}

#: These fit twice and want the same model.
CHECKS_OF_TWO_FITS = {
    "check_classifier_data_not_an_array",
    "check_fit_idempotent",
    "check_pipeline_consistency",
    "check_supervised_y_2d",
}

ESTIMATORS = [
    OneAgainstSomeClassifier(),
    OneAgainstSomeClassifier(n_passes=2, feature_dropout=0.3, n_trees=2),
    RecallTreeClassifier(),
    RecallTreeClassifier(n_jobs=2, n_passes=2),
    RecallTreeClassifier(
        loss="hinge", path_features="leaf", path_interactions=True, count_decay=1000, shuffle=False
    ),
    RecallTreeClassifier(early_stopping=True, n_passes=5),
    OneAgainstAllClassifier(),
    OneAgainstAllClassifier(n_jobs=2),
    OneAgainstAllClassifier(loss="squared", negative_samples=1, n_passes=3),
    LOMTreeClassifier(n_passes=2),
    LOMTreeClassifier(n_jobs=2, n_passes=2),
]


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_sklearn_check(estimator, check):
    learns_in_threads = isinstance(estimator, RecallTreeClassifier) and estimator.n_jobs == 2
    if learns_in_threads and check.func.__name__ in CHECKS_OF_TWO_FITS:
        pytest.skip("threads that learn together do not make the same model twice")
    check(estimator)


@pytest.mark.parametrize("name", sorted([*EXPECTED_FAILURES, *CHECKS_OF_TWO_FITS]))
def test_exceptions_are_checks(name):
    assert hasattr(estimator_checks, name)
