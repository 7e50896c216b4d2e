"""One-against-some, one choice at a time, on rows held out from the training rows.

What a parameter offers is tried with the estimator on the whole set. What none offers is tried in
the plain reference, on some of the classes, beside the reference as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments import variants
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import ArrayTask
from experiments.measured import evaluate, make_model
from experiments.store import Unit
from experiments.studies.common import VALIDATION_SHARE
from experiments.studies.cost import choose_classes
from recalltree.reference.one_against_some import OneAgainstSomeReference

SETS: tuple[str, ...] = ("glyphs", "webdirectory")
DENSE, SPARSE = "dense", "sparse"


@dataclass(frozen=True)
class Variant:
    """One line of the table: what is changed, to what, and how; of the reference, which class.

    ``pairs`` adds features: the pairs of so many of the rarest features of an example.
    """

    what: str
    value: str
    parameters: dict[str, Any] = field(default_factory=dict)
    passes: int = 1
    pairs: int = 0
    reference: type[OneAgainstSomeReference] | None = None

    @property
    def name(self) -> str:
        return f"{self.what}: {self.value}"


def _parameter(what: str, name: str, *tried: Any) -> list[Variant]:
    return [Variant(what, str(value), {name: value}) for value in tried]


PASSES = [
    Variant("passes", "2", passes=2),
    Variant("passes", "4", passes=4),
    Variant("passes", "4, l2 = 1e-4", {"l2": 1e-4}, passes=4),
    Variant("passes", "4, l2 = 1e-3", {"l2": 1e-3}, passes=4),
]
#: What is tried with the estimator, by kind of data.
VARIANTS: dict[str, list[Variant]] = {
    DENSE: [
        Variant("defaults", "one pass"),
        *_parameter("keys", "keys", "path", "features", "both"),
        *_parameter("trees (T)", "n_trees", 1, 2, 8),
        *_parameter("depth", "max_depth", 5, 6, 8, 9),
        *_parameter("labels (M)", "max_labels", 32, 64),
        *_parameter("entries (E)", "max_entries", 500, 1000),
        *_parameter("candidates (F)", "max_candidates", 20, 50, 140),
        *_parameter("center", "center", False),
        *_parameter("learning rate", "learning_rate", 0.5, 2.0),
        *PASSES,
    ],
    SPARSE: [
        Variant("defaults", "one pass"),
        *_parameter("keys", "keys", "path", "trees", "both"),
        Variant("keys", "features, and pairs of the 3 rarest", pairs=3),
        Variant("keys", "features, and pairs of the 5 rarest", pairs=5),
        *_parameter("labels (M)", "max_labels", 32, 128, 2048),
        *_parameter("entries (E)", "max_entries", 500, 1000, 4000, 20000),
        *_parameter("candidates (F)", "max_candidates", 6, 12, 48, 100),
        *_parameter("sublinear tf", "sublinear_tf", False),
        *_parameter("idf", "use_idf", False),
        *_parameter("normalize", "normalize", False),
        *_parameter("learning rate", "learning_rate", 0.5, 2.0),
        *PASSES,
    ],
}


def _votes(reference: type[variants.VotesOtherwise], name: str, *scales: float) -> list[Variant]:
    return [
        Variant("vote", f"{name}, A = {scale:g} at first", {"scale": scale}, reference=reference)
        for scale in scales
    ]


_AS_IS = OneAgainstSomeReference
_LOGISTIC = Variant("loss", "logistic", reference=variants.Logistic)
#: What is tried with the reference.
REFERENCES: dict[str, list[Variant]] = {
    DENSE: [
        Variant("defaults", "one pass", reference=_AS_IS),
        _LOGISTIC,
        Variant("routers", "random", reference=variants.RandomRouters),
        Variant("keys of a tree", "one", reference=variants.OneKeyPerTree),
    ],
    SPARSE: [
        Variant("defaults", "one pass", reference=_AS_IS),
        _LOGISTIC,
        *_votes(variants.SquareRoot, "sqrt(c / n_y)", 5.0, 15.0, 45.0),
        *_votes(variants.ShareOfClass, "c / n_y", 15.0, 100.0),
        *_votes(variants.ShareOfKey, "sqrt(c / n_k)", 5.0, 15.0),
        *_votes(variants.Cosine, "c / |c|", 5.0, 15.0),
        *_votes(variants.NaiveBayes, "log(1 + 10 c n / (n_y n_k))", 1.0, 3.0),
        Variant("passes", "2", passes=2, reference=_AS_IS),
        Variant("passes", "2, own count left in", passes=2, reference=variants.CountsItself),
        Variant("labels (M)", "4", {"max_labels": 4}, reference=_AS_IS),
        Variant("labels (M)", "those of 80% of the count", reference=variants.AdaptiveLabels),
    ],
}
#: The reference is slow: it learns some of the classes, and so many of their rows at most.
REFERENCE_CLASSES = {DENSE: 100, SPARSE: 200}
REFERENCE_ROWS = {DENSE: 3_000, SPARSE: 1_500}
REFERENCE_TEST_ROWS = 1_000
REFERENCE_VALIDATION = 0.3

#: Which kind of data a set is: the variants of a set must be known before it is loaded.
KINDS = {
    "glyphs": DENSE,
    "aloi": DENSE,
    "generated-dense": DENSE,
    "webdirectory": SPARSE,
    "wikipassage": SPARSE,
    "generated-sparse": SPARSE,
}


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every variant."""
    for name in budget.sets_or(SETS):
        if name not in KINDS:
            raise ValueError(f"set {name!r} is not for this experiment: choose of {list(KINDS)}")
        _check_names(budget.variants, [*VARIANTS[KINDS[name]], *REFERENCES[KINDS[name]]])
        for by, tried in (("estimator", VARIANTS), ("reference", REFERENCES)):
            for variant in chosen(tried[KINDS[name]], budget.variants):
                for seed in range(budget.seeds):
                    yield {
                        "kind": by,
                        "set": name,
                        **budget.size,
                        "what": variant.what,
                        "value": variant.value,
                        "seed": seed,
                    }


def chosen(tried: list[Variant], names: tuple[str, ...] | None) -> list[Variant]:
    """Return the variants that are named, by what they change or by that and its value."""
    return [v for v in tried if names is None or v.what in names or v.name in names]


def _check_names(names: tuple[str, ...] | None, tried: list[Variant]) -> None:
    for name in names or ():
        if not chosen(tried, (name,)):
            known = ", ".join(dict.fromkeys(v.what for v in tried))
            raise ValueError(
                f"no variant {name!r}; there are {known}, or one of them: 'keys: path'"
            )


def find_variant(unit: Unit) -> Variant:
    """Return the variant that a unit is about."""
    tried = VARIANTS if unit["kind"] == "estimator" else REFERENCES
    (found,) = [
        variant
        for variant in tried[KINDS[unit["set"]]]
        if (variant.what, variant.value) == (unit["what"], unit["value"])
    ]
    return found


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one variant."""
    task, variant = bench.task(unit), find_variant(unit)
    if not isinstance(task, ArrayTask):
        raise ValueError(f"set {task.name!r} does not fit in memory: choose another")
    if unit["kind"] == "reference":
        return _by_reference(task, variant, unit["seed"])
    part = _with_pairs(task.hold_out(VALIDATION_SHARE, seed=0), variant.pairs)
    model = make_model(
        "one-against-some", unit["seed"], n_passes=variant.passes, **variant.parameters
    )
    X, y = next(part.train_batches(unit["seed"]))
    model.fit(X, y)
    return {"n_train": part.n_train, "passes": variant.passes, **evaluate(model, part)}


def _with_pairs(task: ArrayTask, n_rarest: int) -> ArrayTask:
    if not n_rarest:
        return task
    data = task.dataset
    had = np.bincount(data.X_train.indices, minlength=data.n_features)
    X_train, X_test = (variants.with_pairs(X, had, n_rarest) for X in (data.X_train, data.X_test))
    return replace(task, dataset=replace(data, X_train=X_train, X_test=X_test))


def _by_reference(task: ArrayTask, variant: Variant, seed: int) -> dict[str, Any]:
    kind = KINDS[task.name]
    few = choose_classes(task.dataset, REFERENCE_CLASSES[kind], seed)
    part = ArrayTask(few).hold_out(REFERENCE_VALIDATION, seed)
    X, y = next(part.train_batches(seed))
    X, y = X[: REFERENCE_ROWS[kind]], y[: REFERENCE_ROWS[kind]]
    X_test, y_test = part.dataset.X_test, part.dataset.y_test
    X_test, y_test = X_test[:REFERENCE_TEST_ROWS], y_test[:REFERENCE_TEST_ROWS]
    if kind == SPARSE:
        used = np.unique(X.indices)
        X, X_test = X[:, used].toarray(), X_test[:, used].toarray()
    assert variant.reference is not None
    model = variant.reference(
        X.shape[1],
        sparse=kind == SPARSE,
        keys="features" if kind == SPARSE else "trees",
        seed=seed,
        **variant.parameters,
    )
    wrong, recalled = variants.learn_and_test(
        model, X.astype(np.float64), y, X_test.astype(np.float64), y_test, variant.passes
    )
    n_test = len(y_test)
    return {
        "n_train": len(y),
        "n_classes": len(np.unique(y)),
        "passes": variant.passes,
        "n_test": n_test,
        "wrong": wrong,
        "error": wrong / n_test,
        "candidate_recall": recalled / n_test,
    }
