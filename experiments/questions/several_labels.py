"""Several labels per row: which loss and steps, and are probabilities as frequent as they say?

Losses and steps are compared on training rows that were held out, in the core, which is compiled
with them; of generated rows in the plain reference. Probabilities are those of the estimator, on
test rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.preprocessing import MultiLabelBinarizer

from experiments import core_variant
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.label_lists import ListsTask, load_lists
from experiments.experiment import Experiment
from experiments.label_losses import LOSSES, STEPS, WithLoss
from experiments.report.figures import look
from experiments.report.section import Section, by_set, group, percent, values
from experiments.statistics import mean_and_error
from experiments.store import Record, Unit
from recalltree import OneAgainstSomeClassifier
from recalltree.metrics import precision_at_k, recall_at_k

SETS: tuple[str, ...] = ("subjects",)
ESTIMATOR = "estimator"
#: Sets that the reference learns: rows of this many labels, and this many of them. It is slow.
OF_REFERENCE = ("topics",)
N_LABELS, N_ROWS, N_HELD_OUT = 200, 1_000, 500
#: Of the others so many training rows are held out, at most a fifth.
N_HELD_OUT_OF_CORE = 40_000
DEFAULT_LOSS, DEFAULT_STEPS = "shared by roots", STEPS[0]
N_BINS = 15
#: Held-out rows are divided into so many blocks.
N_BLOCKS = 20
METRICS = ("P@1", "P@3", "P@5", "R@5")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield the estimator, every loss with the usual steps, and other steps with its loss."""
    for name in budget.sets_or(SETS):
        yield {"set": name, **budget.size, "loss": ESTIMATOR, "seed": 0}
        for seed in range(budget.seeds):
            for loss in LOSSES:
                yield {"set": name, **budget.size, "loss": loss, "seed": seed}
            for steps in () if name in OF_REFERENCE else STEPS[1:]:
                found = {"set": name, **budget.size, "loss": DEFAULT_LOSS}
                yield {**found, "steps": steps, "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Learn once and test."""
    task = load_lists(unit["set"], bench.places, unit["rows"], unit["test_rows"])
    loss, seed = unit["loss"], unit["seed"]
    if loss == ESTIMATOR:
        return _by_estimator(task)
    if unit["set"] in OF_REFERENCE:
        return _by_reference(task.of_labels(N_LABELS, N_ROWS, N_HELD_OUT, seed), loss, seed)
    steps = unit.get("steps", DEFAULT_STEPS)
    return _by_core(task.hold_out(N_HELD_OUT_OF_CORE, seed), loss, steps)


def _by_estimator(task: ListsTask) -> dict[str, Any]:
    clf = OneAgainstSomeClassifier().partial_fit(task.X, task.y)
    k = min(5, len(clf.classes_))
    found = metrics(task.y_test, clf.predict_topk(task.X_test, k)[0])
    said = clf.predict_proba(task.X_test, sparse=True).tocoo()
    ids = {label: i for i, label in enumerate(clf.classes_.tolist())}
    lists = [{ids[label] for label in row if label in ids} for row in task.y_test]
    true = [c in lists[r] for r, c in zip(said.row.tolist(), said.col.tolist(), strict=True)]
    return {"n_train": len(task.y), "n_test": len(lists), **found, **reliability(said.data, true)}


def _by_reference(task: ListsTask, loss: str, seed: int) -> dict[str, Any]:
    model = WithLoss(task.X.shape[1], loss, sparse=True, keys="features", seed=seed)
    ids = {label: i for i, label in enumerate(sorted({y for row in task.y for y in row}))}
    for x, row in zip(task.X, task.y, strict=True):
        model.learn(x, [ids[label] for label in row])
    said: list[float] = []
    true: list[bool] = []
    answers = []
    for x, row in zip(task.X_test, task.y_test, strict=True):
        scored = model.scores(x, len(model.classes))
        scores, candidates = scored.scores(), np.array(scored.candidates)
        said.extend(model.probabilities_by_themselves(scores))
        true.extend(np.isin(candidates, [ids.get(label, -1) for label in row]))
        answers.append(candidates[np.argsort(-scores, kind="stable")][:5])
    lists = [[ids.get(label, -1) for label in row] for row in task.y_test]
    return {
        "n_train": len(task.y),
        "n_test": len(lists),
        **metrics(lists, np.array(answers)),
        **reliability(np.array(said), true),
    }


def _by_core(task: ListsTask, loss: str, steps: str) -> dict[str, Any]:
    labels = MultiLabelBinarizer(sparse_output=True).fit(task.y + task.y_test)
    Y, Y_test = labels.transform(task.y).tocsr(), labels.transform(task.y_test).tocsr()
    found = core_variant.learn(core_variant.build(), task.X, Y, task.X_test, loss, steps)
    rows = np.repeat(np.arange(Y_test.shape[0]), np.diff(found["indptr"]))
    true = np.asarray(Y_test[rows, found["columns"]]).ravel() > 0
    lists = [row.tolist() for row in np.split(Y_test.indices, Y_test.indptr[1:-1])]
    return {
        "n_train": len(task.y),
        "n_test": len(task.y_test),
        **metrics(lists, found["best"]),
        "blocks": _by_blocks(lists, found["best"]),
        **reliability(found["said"], true),
    }


def _by_blocks(lists: Sequence[Any], best: np.ndarray) -> dict[str, list[float]]:
    """Return metrics of blocks of rows, by which the error of a difference is known."""
    blocks = [
        metrics([lists[i] for i in rows], best[rows])
        for rows in np.array_split(np.arange(len(lists)), N_BLOCKS)
    ]
    return {name: [block[name] for block in blocks] for name in METRICS}


def metrics(y: Any, answers: np.ndarray) -> dict[str, float]:
    """Return precision and recall at k."""
    k = answers.shape[1]
    precisions = {f"P@{n}": precision_at_k(y, answers[:, :n], min(n, k)) for n in (1, 3, 5)}
    return {**precisions, "R@5": recall_at_k(y, answers, k)}


def reliability(said: np.ndarray, true: Sequence[bool]) -> dict[str, Any]:
    """Return, for each bin of probabilities, how many there are, what they say and what is true.

    >>> found = reliability(np.array([0.02, 0.04, 0.9]), [False, False, True])
    >>> found["counts"][0], found["said"][0], found["true"][-2]
    (2, 0.03, 1.0)
    >>> round(found["calibration_error"], 4)
    0.0533
    """
    is_true = np.asarray(true, dtype=float)
    bins = np.minimum((N_BINS * said).astype(int), N_BINS - 1)
    counts = np.bincount(bins, minlength=N_BINS)
    sums = [np.bincount(bins, weights=w, minlength=N_BINS) for w in (said, is_true)]
    of_bins = [np.divide(s, counts, out=np.zeros(N_BINS), where=counts > 0) for s in sums]
    return {
        "counts": counts.tolist(),
        "said": of_bins[0].tolist(),
        "true": of_bins[1].tolist(),
        "calibration_error": float(np.abs(sums[0] - sums[1]).sum() / len(said)),
    }


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        f"""Rows are titles, labels are subjects. Losses and steps were compared in one pass over
        training rows, on others of them that were held out, drawn for each seed. In brackets: the
        difference to the first line on the same rows, and its standard error over {N_BLOCKS} blocks
        of rows of each seed.
        *Calibration error*: how far the marginal probabilities of all candidates are from the
        shares of them that are labels, in {N_BINS} bins, on average; every loss has them from the
        softmax of its scores."""
    )
    for (name, *_), found in by_set(records).items():
        cells = group(found, "loss")
        _compare(page, name, "loss", _of_losses(found))
        _compare(page, name, "steps", _of_steps(found))
        if (ESTIMATOR,) in cells:
            (record,) = cells[(ESTIMATOR,)]
            _say_how_reliable(page, name, record["result"])
    return page


def _of_losses(found: Sequence[Record]) -> dict[str, list[Record]]:
    cells = group([record for record in found if "steps" not in record["unit"]], "loss")
    order = [DEFAULT_LOSS, *(loss for loss in LOSSES if loss != DEFAULT_LOSS)]
    return {loss: list(cells[(loss,)]) for loss in order if (loss,) in cells}


def _of_steps(found: Sequence[Record]) -> dict[str, list[Record]]:
    of_loss = [record for record in found if record["unit"]["loss"] == DEFAULT_LOSS]
    cells: dict[str, list[Record]] = {}
    for steps in STEPS:
        chosen = [r for r in of_loss if r["unit"].get("steps", DEFAULT_STEPS) == steps]
        if chosen:
            cells[steps] = chosen
    return cells


def _compare(page: Section, name: str, what: str, cells: dict[str, list[Record]]) -> None:
    if len(cells) < 2:
        return
    first = next(iter(cells.values()))
    page.say(
        f"**{name}**, {what}: {first[0]['result']['n_train']:,} rows learned, "
        f"{first[0]['result']['n_test']:,} held out, {len(first)} seeds."
    )
    names = (*METRICS, "calibration_error")
    rows = [
        [line, *(_cell(first, found, metric, found is first) for metric in names)]
        for line, found in cells.items()
    ]
    page.table([what, *(f"{m}, %" for m in METRICS), "calibration error, %"], rows)


def _cell(first: Sequence[Record], found: Sequence[Record], metric: str, is_first: bool) -> str:
    """Return a mean, and its difference to the first line on the rows that both were tested on."""
    text = percent(mean_and_error(values(found, metric))[0], 2)
    seeds = {record["unit"]["seed"]: record["result"] for record in first}
    paired = [
        other - one
        for record in found
        for one, other in zip(
            _parts(seeds.get(record["unit"]["seed"]), metric),
            _parts(record["result"], metric),
            strict=False,
        )
    ]
    if is_first or len(paired) < 2:
        return text
    mean, error = mean_and_error(paired)
    return f"{text} ({100 * mean:+.2f} ± {100 * (error or 0.0):.2f})"


def _parts(result: dict[str, Any] | None, metric: str) -> list[float]:
    return [] if result is None else result.get("blocks", {}).get(metric, [])


def _say_how_reliable(page: Section, name: str, result: dict[str, Any]) -> None:
    page.say(
        f"**{name}**, the estimator with its defaults, {result['n_train']:,} rows learned "
        f"in one pass, {result['n_test']:,} test rows: "
        + ", ".join(f"{m} {percent(result[m])}%" for m in METRICS)
        + f"; calibration error {percent(result['calibration_error'], 2)}%."
    )
    page.figure(
        f"several-labels-{name}-{result['n_train']}",
        f"Marginal probabilities on {name}, and how often they are right",
        partial(draw, result=result),
    )
    page.answer(
        "Are marginal probabilities of labels calibrated?",
        "yes" if result["calibration_error"] < 0.01 else "in part",
        f"{name}: expected calibration error {percent(result['calibration_error'], 2)}%",
    )


def draw(figure: Any, result: dict[str, Any]) -> None:
    """Draw what is true by what was said, a point for each bin."""
    axes = figure.subplots()
    there = [i for i, n in enumerate(result["counts"]) if n > 0]
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=0.8)
    said, true = ([result[key][i] for i in there] for key in ("said", "true"))
    axes.plot(said, true, **look(0), label="candidates of test rows")
    axes.set(xlabel="probability that was said", ylabel="share that were labels")
    axes.legend()


EXPERIMENT = Experiment(
    name="several-labels",
    title="Several labels per row",
    question="Which loss and steps serve precision and recall at k, and are marginal probabilities "
    "as frequent as they say?",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"test_rows": None},
)
