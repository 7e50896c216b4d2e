"""Merge models that learned different rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from recalltree.merging.agreement import check_agreement
from recalltree.merging.dictionaries import merge_features
from recalltree.merging.labels import Matched, match_labels
from recalltree.merging.one_against_all import merge_one_against_all
from recalltree.merging.one_against_some import merge_one_against_some
from recalltree.merging.plan import Plan, State
from recalltree.merging.recall_tree import merge_recall_tree
from recalltree.merging.rules import rules_of
from recalltree.merging.sources import Source, empty_source, open_source
from recalltree.merging.threads import for_each
from recalltree.merging.work import Work
from recalltree.model_file.model import Model
from recalltree.parameters import DEFAULT_MERGE_RULE, MERGE_RULES
from recalltree.validation import count_threads

_ALGORITHMS: dict[str, Callable[[Plan, Matched | None], State]] = {
    "one-against-some": merge_one_against_some,
    "recall-tree": merge_recall_tree,
    "one-against-all": merge_one_against_all,
}


def merge(
    models: Sequence[Any],
    *,
    base: Any = None,
    rule: str = DEFAULT_MERGE_RULE,
    n_jobs: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Any:
    """Return one model of models that learned different rows.

    Counts add up, as if one model had seen all rows: base + sum of (model - base). Weights are
    averaged by `rule`. Merging is associative up to rounding, so that it can be done in groups.

    Parameters
    ----------
    models : sequence of estimators or path-likes
        Fitted models of one algorithm with the same parameters, or their files.
    base : estimator or path-like, default=None
        The model from which all of them continued. None: they began with nothing.
    rule : {"auto", "replay", "root", "mass", "mean", "sum"}, default="auto"
        How the weights that several models learned become one.
    n_jobs : int, default=None
        Threads. None is 1; -1 is one for each core.
    progress : callable, default=None
        Called now and then with the share of the work that is done, from 0 to 1, by one of the
        threads.

    Returns
    -------
    estimator
        With the parameters of the base or, without one, of the first model. It can be saved, and
        can continue learning.

    Raises
    ------
    ValueError
        If models differ in parameters or features, did not continue from the base, were compacted,
        or are of LOMTreeClassifier, whose trees cannot be matched.

    Examples
    --------
    >>> import recalltree
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> new = lambda: recalltree.OneAgainstSomeClassifier(random_state=0)
    >>> first, second = new().fit(X[:700], y[:700]), new().fit(X[700:1400], y[700:1400])
    >>> both = recalltree.merge([first, second])
    >>> both.n_examples_, bool(both.score(X[1400:], y[1400:]) > 0.85)
    (1400, True)
    """
    if isinstance(models, str | os.PathLike) or not isinstance(models, Sequence):
        raise TypeError(
            f"models is a {type(models).__name__}; give a list of estimators or of paths."
        )
    if not models:
        raise ValueError("models is empty; give one model at least.")
    if rule not in MERGE_RULES:
        raise ValueError(f"rule={rule!r}: it must be one of {', '.join(MERGE_RULES)}.")
    opened = [open_source(given, f"models[{i}]") for i, given in enumerate(models)]
    given_base = None if base is None else open_source(base, "base")
    check_agreement(given_base, opened)
    n_threads = count_threads(n_jobs)
    given = opened if given_base is None else [given_base, *opened]
    work = Work(progress, given)
    for_each(lambda source: source.check_sum(work.summed), given, n_threads)
    for source in given:  # in turn: each reads all of a file
        work.checked(source.check())
    merged = _merge(opened, given_base, rule, n_threads, work)
    work.end()
    return merged


def _merge(models: list[Source], base: Source | None, rule: str, n_threads: int, work: Work) -> Any:
    like = models[0] if base is None else base
    before = empty_source(like) if base is None else base
    labels, classes = match_labels([before, *models])
    plan = Plan(before, models, classes, rules_of(rule, like.model.algorithm), work, n_threads)
    features, extra = merge_features([before, *models])
    state = _ALGORITHMS[like.model.algorithm](plan, features)
    attributes = {**like.model.attributes, "curve": before.model.attributes.get("curve", [])}
    attributes["n_iter_"] = max(source.model.attributes["n_iter_"] for source in models)
    attributes.pop("validation_errors_", None)  # of other models
    merged = Model(
        algorithm=like.model.algorithm,
        parameters=like.model.parameters,
        config=like.model.config,
        state=state,
        classes=labels,
        feature_names=like.model.feature_names,
        attributes=attributes,
        extra=extra,
    )
    estimator = like.kind(**like.model.parameters)
    estimator._take_model(merged, None, mapped=True)
    return estimator
