"""One-against-some, one choice at a time, on rows held out from the training rows.

What a parameter offers is tried with the estimator on the whole set. What none offers is tried in
the plain reference, on some of the classes, beside the reference as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from experiments import variants
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import DENSE, KINDS, SPARSE
from experiments.data.class_subsets import choose_classes
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.measured import VALIDATION_SHARE, evaluate
from experiments.methods import make_model
from experiments.report.figures import COLOURS
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit
from recalltree.reference.one_against_some import OneAgainstSomeReference

SETS: tuple[str, ...] = ("glyphs", "webdirectory")


@dataclass(frozen=True)
class Variant:
    """One line of the table: what is changed, to what, and how; of the reference, which class.

    ``pairs`` adds features: the pairs of this many of the rarest features of an example.
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
#: Changes tried with the estimator, by kind of data.
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
#: Changes tried with the reference.
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
#: The reference is slow: it learns some of the classes, and this many of their rows at most.
REFERENCE_CLASSES = {DENSE: 100, SPARSE: 200}
REFERENCE_ROWS = {DENSE: 3_000, SPARSE: 1_500}
REFERENCE_TEST_ROWS = 1_000
REFERENCE_VALIDATION = 0.3


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


TRIED = {"estimator": VARIANTS, "reference": REFERENCES}
LEADS = {
    "estimator": "with the estimator",
    "reference": "with the plain reference, on some of the classes",
}
ROW_COMMAND = (
    "python -m experiments run one-against-some-ablation --data-dir DIR --sets SET "
    "--variants 'WHAT: VALUE'"
)
DEFAULTS = ("defaults", "one pass")
#: Differences that chance gives more often than this are not called differences.
SURE = 0.01
#: Errors larger than this many times that of the defaults stand at the edge of the figure.
FAR = 1.4

Cells = dict[tuple[Any, ...], list[Record]]  # (what, value) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """One change at a time, on held-out training rows. Better and worse are relative to the
        defaults, by the N-1 chi-squared test over all seeds (P < 0.01). Parameters of the estimator
        were tried on the whole set, other changes with the plain reference on some of the classes;
        its errors are smaller because there are fewer classes to confuse. Recall: share of the rows
        whose label is among the candidates. To run one line of a table:"""
    )
    page.say(f"`{ROW_COMMAND}`")
    for key, found in by_set(records).items():
        name = key[0]
        for kind, lead in LEADS.items():
            same_kind = [r for r in found if r["unit"]["kind"] == kind]
            cells = group(same_kind, "what", "value")
            order = [(v.what, v.value) for v in TRIED[kind][KINDS[name]]]
            shown = [pair for pair in order if pair in cells]
            if not shown:
                continue
            first = same_kind[0]["result"]
            page.say(f"**{name}**, {lead} ({first['n_train']:,} training rows):")
            page.table(
                ["what", "value", "error", "recall", "evaluations", "than the defaults"],
                [row(pair, cells) for pair in shown],
            )
            if kind == "estimator":
                page.figure(
                    f"one-against-some-ablation-{name}-{first['n_train']}",
                    f"Error on held-out rows of {name}, one change at a time",
                    partial(draw, cells={pair: cells[pair] for pair in shown}),
                )
        usual = group([r for r in found if r["unit"]["kind"] == "estimator"], "what", "value")
        better = [": ".join(p) for p in usual if compared(p, usual).startswith("better")]
        page.answer(
            "Are the defaults good ones?",
            "in part" if better else "yes",
            f"{name}: {', '.join(better) if better else 'no change of one'} is clearly better",
        )
    return page


def row(pair: tuple[str, str], cells: Cells) -> list[str]:
    """Return a line of the table."""
    same = cells[pair]
    evaluations = ""
    if "predict_evaluations" in same[0]["result"]:
        evaluations = f"{mean_and_error(values(same, 'predict_evaluations'))[0]:.0f}"
    return [
        *pair,
        with_error(mean_and_error(values(same, "error"))),
        percent(mean_and_error(values(same, "candidate_recall"))[0]),
        evaluations,
        compared(pair, cells),
    ]


def compared(pair: tuple[str, str], cells: Cells) -> str:
    """Say whether a change makes a difference."""
    if pair == DEFAULTS or DEFAULTS not in cells:
        return ""
    (wrong, n), (usual, n_usual) = (
        (sum(values(found, "wrong")), sum(values(found, "n_test")))
        for found in (cells[pair], cells[DEFAULTS])
    )
    test = n_minus_1_chi_squared(wrong, n, usual, n_usual)
    if test.p_value >= SURE:
        return f"no clear difference ({format_p(test.p_value)})"
    return f"{'better' if wrong / n < usual / n_usual else 'worse'} ({format_p(test.p_value)})"


def draw(figure: Any, cells: Cells) -> None:
    """Draw a dot per variant, and a line at the defaults; far ones stand at the edge, with figures.

    What is changed has a colour.
    """
    figure.set_size_inches(6.5, 0.19 * len(cells) + 0.8)
    axes = figure.add_subplot()
    summed = [mean_and_error(values(found, "error")) for found in cells.values()]
    whats = list(dict.fromkeys(what for what, _ in cells))
    edge = 100.0
    if DEFAULTS in cells:
        usual = 100 * mean_and_error(values(cells[DEFAULTS], "error"))[0]
        axes.axvline(usual, color="#777777", linewidth=0.8, linestyle="--")
        edge = min(edge, FAR * usual)
    for place, ((what, _), (mean, error)) in enumerate(zip(cells, summed, strict=True)):
        colour = COLOURS[whats.index(what) % 6]
        if 100 * mean > edge:
            axes.plot(edge, place, marker=">", color=colour)
            axes.annotate(
                f"{percent(mean)} ",
                (edge, place),
                ha="right",
                va="center",
                xytext=(-4, 0),
                textcoords="offset points",
            )
        else:
            bar = 100 * (error or 0.0)
            axes.errorbar(100 * mean, place, xerr=bar, fmt="o", color=colour, capsize=2)
    labels = [pair[0] if pair == DEFAULTS else f"{pair[0]}: {pair[1]}" for pair in cells]
    axes.set_yticks(range(len(cells)), labels)
    axes.invert_yaxis()
    axes.set(xlabel="error on held-out rows, %")


EXPERIMENT = Experiment(
    name="one-against-some-ablation",
    title="One-against-some: what each choice brings",
    question="Which choices matter, and are the defaults good ones?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"seeds": 1},
)
