"""Cells, one choice at a time, on rows held out from the training rows.

What a parameter offers is tried with the estimator on the whole set. What none offers is tried in
the plain reference, on some of the classes. Cells are then smaller, so that the tree has as many
levels as with thousands of classes, and about as large a share of it is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch  # sets constants of the reference, and puts them back

import numpy as np

from experiments import cells_variants
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.class_subsets import choose_classes
from experiments.data.task import ArrayTask
from experiments.experiment import Experiment
from experiments.measured import VALIDATION_SHARE, is_recalled
from experiments.methods import make_model
from experiments.report.section import Section, by_set, group, percent, values
from experiments.statistics import mean_and_error, paired_difference
from experiments.store import Record, Unit
from recalltree.reference import cell_tree, cells, class_vectors, whitening

SETS: tuple[str, ...] = ("passages", "glyphs")
#: The reference is slow: it learns this many classes, rows and cells.
CLASSES, TRAIN_ROWS, TEST_ROWS, TEST_SHARE = 500, 3_000, 2_000, 0.3
SMALL_CELLS = (cell_tree, "CELL_SIZE", 16)
READ = {"cells_read": 8, "max_candidates": 16}
#: Differences of fewer standard errors are noise (P > 0.01).
SURE = 2.58
BETTER = "better"

Changed = tuple[Any, str, Any]  # module, name, value


@dataclass(frozen=True)
class Variant:
    """One line of a table: what is changed, from what, to what, and how."""

    what: str
    default: str
    value: str
    parameters: dict[str, Any] = field(default_factory=dict)
    changed: tuple[Changed, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.what, self.value


def _parameter(name: str, default: Any, *tried: Any) -> list[Variant]:
    return [Variant(name, str(default), str(value), {name: value}) for value in tried]


def _constant(what: str, module: Any, name: str, *tried: float) -> list[Variant]:
    default = f"{getattr(module, name):g}"
    return [
        Variant(what, default, f"{value:g}", changed=((module, name, value),)) for value in tried
    ]


def _named(what: str, default: str, name: str, tried: dict[str, Any]) -> list[Variant]:
    """Return variants that put something else in the place of a name in `cells`."""
    return [
        Variant(what, default, value, changed=((cells, name, thing),))
        for value, thing in tried.items()
    ]


def _cells(n_read: int, size: int) -> Variant:
    """Return a variant with other cells, of which as many classes are read."""
    default = f"{READ['cells_read']} x {SMALL_CELLS[2]}"
    changed = ((cell_tree, "CELL_SIZE", size),)
    return Variant(
        "cells read x size", default, f"{n_read} x {size}", {"cells_read": n_read}, changed
    )


DEFAULTS = Variant("defaults", "", "one pass")
TRIED = {
    "estimator": [
        DEFAULTS,
        *_parameter("keys", "cells+trees", "trees", "cells", "cells+trees"),
        *_parameter("cells_read", 64, 16, 32, 128),
        *_parameter("max_candidates", 32, 12, 100),
        *_parameter("learning_rate", 1.0, 0.5, 2.0),
    ],
    "reference": [
        DEFAULTS,
        *_constant("exponent of the whitening", whitening, "EXPONENT", 0.0, 0.125, 0.375, 0.5),
        *_constant("cut, deviations", whitening, "CUT", 1.0, 100.0),
        *(_cells(n_read, size) for n_read, size in ((4, 32), (2, 64))),
        *_parameter("cells_read", READ["cells_read"], 4, 16, 64),
        *_named("copies", "one", "CellTree", {"two": cells_variants.TwoCopies}),
        *_constant("beam above the cells, at least", cell_tree, "NARROWEST_BEAM", 1, 16),
        *_constant("beam where classes are placed", cell_tree, "PLACE_BEAM", 1, 16),
        *_constant("width of sketches", cell_tree, "SKETCH_WIDTH", 32, 64),
        *_named(
            "re-placement",
            "with row 1, 2, 3, 4, 6, 8, ...",
            "is_time_to_place",
            {"never": lambda n_rows: n_rows == 1, "every row": bool},
        ),
        *_named(
            "AdaGrad",
            "per class",
            "ClassVector",
            {
                "per weight": cells_variants.SquaresOfWeights,
                "per weight with shorter steps": cells_variants.SlowSquaresOfWeights,
                "per weight with longer steps": cells_variants.FastSquaresOfWeights,
            },
        ),
        *_constant("scale of the mean (A)", class_vectors, "MEAN_SCALE", 10.0, 15.0, 30.0),
        *_constant("rate of weights", class_vectors, "WEIGHT_RATE", 0.0, 1.0, 5.0),
        *_constant("rate of biases", class_vectors, "BIAS_RATE", 0.0, 0.05, 0.6),
    ],
}


def units(budget: Budget) -> Iterator[Unit]:
    """Yield the defaults, to which others are compared, and every variant."""
    known = {name for tried in TRIED.values() for v in tried for name in (v.what, ": ".join(v.key))}
    for name in budget.variants or ():
        if name not in known:
            whats = dict.fromkeys(v.what for tried in TRIED.values() for v in tried)
            raise ValueError(f"no variant {name!r}; there are {', '.join(whats)}")
    for name in budget.sets_or(SETS):
        for kind, tried in TRIED.items():
            for seed in range(budget.seeds):
                for v in tried:
                    is_named = not {v.what, ": ".join(v.key)}.isdisjoint(budget.variants or ())
                    if v is DEFAULTS or budget.variants is None or is_named:
                        size = {"kind": kind, "set": name, **budget.size}
                        yield {**size, "what": v.what, "value": v.value, "seed": seed}


def needs(unit: Unit) -> Sequence[Unit]:
    """Return the unit of the defaults."""
    is_default = (unit["what"], unit["value"]) == DEFAULTS.key
    return [] if is_default else [defaults_of(unit)]


def defaults_of(unit: Unit) -> dict[str, Any]:
    """Return the unit that a unit is compared to."""
    return {**unit, "what": DEFAULTS.what, "value": DEFAULTS.value}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one variant; count the rows that it and the defaults answer differently."""
    task = bench.task(unit)
    if not isinstance(task, ArrayTask) or not isinstance(task.dataset.X_train, np.ndarray):
        raise ValueError(f"set {task.name!r} is not dense: choose another")
    (variant,) = [v for v in TRIED[unit["kind"]] if v.key == (unit["what"], unit["value"])]
    learn = by_estimator if unit["kind"] == "estimator" else by_reference
    found, wrong = learn(task, variant, unit["seed"])
    found |= {"n_test": len(wrong), "wrong": int(wrong.sum()), "error": float(wrong.mean())}
    if variant is DEFAULTS:
        return {**found, "wrong_rows": np.packbits(wrong).tobytes().hex()}
    usual = bytes.fromhex(bench.store.get(defaults_of(unit))["result"]["wrong_rows"])
    usual_wrong = np.unpackbits(np.frombuffer(usual, np.uint8), count=len(wrong)).astype(bool)
    lost, won = (int(np.sum(a & ~b)) for a, b in ((wrong, usual_wrong), (usual_wrong, wrong)))
    return {**found, "lost": lost, "won": won}


def by_estimator(task: ArrayTask, variant: Variant, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return what is measured with the estimator, and which test rows are wrong."""
    part = task.hold_out(VALIDATION_SHARE, seed)
    model = make_model("one-against-some", seed, **variant.parameters)
    X, y = next(part.train_batches(seed))
    model.fit(X, y)
    X_test, y_test = part.dataset.X_test, part.dataset.y_test
    before = model.work_["vectors_compared"]
    wrong = model.predict(X_test) != y_test
    compared = (model.work_["vectors_compared"] - before) / len(y_test)
    recall = float(is_recalled(model, X_test, y_test).mean())
    return {"n_train": len(y), "candidate_recall": recall, "vectors_compared": compared}, wrong


def by_reference(task: ArrayTask, variant: Variant, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Return what is measured with the reference, and which test rows are wrong."""
    few = ArrayTask(choose_classes(task.dataset, CLASSES, seed)).hold_out(TEST_SHARE, seed)
    X, y = next(few.train_batches(seed))
    X, y = X[:TRAIN_ROWS].astype(np.float64), y[:TRAIN_ROWS].tolist()
    X_test = few.dataset.X_test[:TEST_ROWS].astype(np.float64)
    y_test = few.dataset.y_test[:TEST_ROWS].tolist()
    with ExitStack() as stack:
        for module, name, value in (SMALL_CELLS, *variant.changed):
            stack.enter_context(patch.object(module, name, value))
        model = cells.Cells(X.shape[1], **{**READ, **variant.parameters})
        for x, label in zip(X, y, strict=True):
            model.learn(x, label)
        wrong, recalled = [], 0
        for x, label in zip(X_test, y_test, strict=True):
            wrong.append(model.predict(x) != label)
            recalled += label in model.find(model.whitening(x), model.max_candidates)
    return {"n_train": len(y), "candidate_recall": recalled / len(y_test)}, np.array(wrong)


LEADS = {
    "estimator": "with the estimator, all classes",
    "reference": f"with the plain reference, {CLASSES} classes, {READ['cells_read']} cells of "
    f"{SMALL_CELLS[2]} classes read, {READ['max_candidates']} candidates",
}


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """One change at a time, on held-out training rows, one pass. *Difference*: to the error of
        the defaults on the same rows, in points, with its standard error over these rows. Less than
        2.6 standard errors are called noise (P > 0.01); by chance, one line in a hundred is called
        better or worse. Recall: share of the rows whose class is among the candidates. Compared:
        class vectors and sketches, per row. *Never* and *every row* differ after row 2,048 alone:
        until then the whitening is renewed now and then, and all classes are placed again with it.
        To run one line of a table, and the defaults with
        it:"""
    )
    page.say(
        "`python -m experiments run cells-ablation --data-dir DIR --sets SET "
        "--variants 'WHAT: VALUE'`"
    )
    for (name, *_), found in by_set(records).items():
        better = []
        for kind, lead in LEADS.items():
            lines = group([r for r in found if r["unit"]["kind"] == kind], "what", "value")
            tried = [v for v in TRIED[kind] if v.key in lines]
            shown = [lines[v.key] for v in tried]
            if not shown:
                continue
            n_train = max(values(shown[0], "n_train"))
            n_test = sum(values(shown[0], "n_test"))
            n_seeds = "one seed" if len(shown[0]) == 1 else f"{len(shown[0])} seeds"
            page.say(
                f"**{name}**, {lead}; up to {n_train:,} training rows, {n_test:,} test rows "
                f"in {n_seeds}:"
            )
            page.table(
                [
                    "what",
                    "default",
                    "value",
                    "error",
                    "difference",
                    "than the defaults",
                    "recall",
                    "compared",
                ],
                [[v.what, v.default, v.value, *measured(lines[v.key])] for v in tried],
            )
            for v in tried:
                points, answer = difference(lines[v.key])
                if answer == BETTER and kind == "estimator":
                    better.append(f"{v.what} {v.value} ({points})")
        page.answer(
            "Does another choice for cells lower the error?",
            "yes" if better else "no",
            f"{name}: {', '.join(better) or 'none clearly'}",
        )
    return page


def measured(same: Sequence[Record]) -> list[str]:
    """Return what a line of the table says about a variant, of which there is a record per seed."""
    compared = values(same, "vectors_compared") if "vectors_compared" in same[0]["result"] else []
    return [
        percent(mean_and_error(values(same, "error"))[0], 2),
        *difference(same),
        percent(mean_and_error(values(same, "candidate_recall"))[0]),
        f"{mean_and_error(compared)[0]:,.0f}" if compared else "",
    ]


def difference(same: Sequence[Record]) -> tuple[str, str]:
    """Return the difference to the defaults, and what it is called; nothing of the defaults."""
    if "lost" not in same[0]["result"]:
        return "", ""
    lost, won, n = (sum(values(same, name)) for name in ("lost", "won", "n_test"))
    if lost == won == 0:
        return "0.00", "the same"
    mean, error = (100 * value for value in paired_difference(lost, won, n))
    answer = "within noise" if abs(mean) < SURE * error else "worse" if mean > 0 else BETTER
    return f"{round(mean, 2) + 0.0:+.2f} ± {error:.2f}", answer


EXPERIMENT = Experiment(
    name="cells-ablation",
    title="Cells: what each choice brings",
    question="Which choices matter where dense rows have many classes?",
    sets=SETS,
    units=units,
    run=run,
    needs=needs,
    section=section,
    defaults={"seeds": 2},
)
