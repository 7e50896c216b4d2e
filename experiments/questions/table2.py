"""Table 2 and figure 4: the paper's three methods and one-against-some, on every set.

Every method runs with defaults and tuned. Defaults are the estimators': those of the paper, and
what its table does not list as `ablation` found it. Tuning takes the best of some random probes: on
a held-out tenth of the training rows of a small set, else by progressive validation on the first
tenth. The best is then trained on everything.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments import sampled_negatives, search
from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.task import Task
from experiments.experiment import Experiment
from experiments.measured import VALIDATION_SHARE, evaluate, learn, learn_and_test, passes_of
from experiments.methods import NAMES, make_model, n_negatives, named
from experiments.paper import COUNTERPART, TABLE2, TUNING, compared, verdict
from experiments.report.figures import bars, means_and_errors
from experiments.report.section import (
    Section,
    by_set,
    percent,
    values,
    with_error,
    without_superseded,
)
from experiments.statistics import mean_and_error
from experiments.store import Record, Unit

PAPERS = ("recall-tree", "one-against-all", "lom-tree")
OURS = "one-against-some"
ALGORITHMS = (*PAPERS, OURS)
SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikipassage", "wikitext")


def units(budget: Budget) -> Iterator[Unit]:
    """Yield, for each set and method: the defaults, the probes, the best of them."""
    for name in budget.sets_or(SETS):
        for algorithm in budget.algorithms_or(ALGORITHMS):
            same: dict[str, Any] = {
                "set": name,
                "algorithm": algorithm,
                **budget.size,
                "passes": budget.passes,
                **budget.sampling_of(algorithm),
            }
            for seed in range(budget.seeds):
                yield {"kind": "default", **same, "seed": seed}
            for probe in range(budget.probes):
                yield {"kind": "probe", **same, "probe": probe}
            if budget.probes:
                for seed in range(budget.seeds):
                    yield {"kind": "tuned", **same, "seed": seed, "probes": budget.probes}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Do one training."""
    task = bench.task(unit)
    passes = passes_of(task, unit["passes"])
    if unit["kind"] == "probe":
        return _run_probe(unit, task, passes)
    parameters: dict[str, Any] = {}
    if unit["kind"] == "tuned":
        parameters, tuning = _best_probe(unit, bench)
    sampled, max_test_rows = _sampling(unit, task, passes)
    _, found = learn_and_test(
        task,
        unit["algorithm"],
        {**parameters, **sampled},
        seed=unit["seed"],
        passes=passes,
        max_test_rows=max_test_rows,
    )
    found |= {"parameters": parameters, **sampled}
    if sampled:
        found["full_seconds_estimate"] = sampled_negatives.estimate_full_seconds(task, passes)
    if unit["kind"] == "tuned":
        found["tuning"] = tuning
    return found


def _sampling(unit: Unit, task: Task, passes: int) -> tuple[dict[str, Any], int | None]:
    if unit["algorithm"] != "one-against-all":
        return {}, None
    return sampled_negatives.sampling(task, passes, unit["full_updates"], unit["negative_samples"])


def _run_probe(unit: Unit, task: Task, passes: int) -> dict[str, Any]:
    parameters = search.probe(unit["algorithm"], task, unit["probe"])
    share = VALIDATION_SHARE
    part = task.hold_out(share, seed=0) if task.is_small else task.head(share)
    sampled, max_test_rows = _sampling(unit, task, passes)  # as the final training will be
    model = make_model(unit["algorithm"], 0, **parameters, **sampled)
    if sampled and not task.is_small:
        error, seconds = sampled_negatives.learn_validated(model, part)
    else:
        found = learn(model, part, None, passes)
        error, seconds = found["progressive_error"], found["train_seconds"]
        if task.is_small:
            error = evaluate(model, part, max_test_rows)["error"]
    return {
        "parameters": parameters,
        "validation_error": error,
        "n_train": part.n_train,
        "seconds": seconds,
    }


def _best_probe(unit: Unit, bench: Bench) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the best parameters among the probes of the unit's set and method."""
    same = {k: v for k, v in unit.items() if k not in ("kind", "seed", "probes")}
    results = [
        bench.store.get({"kind": "probe", **same, "probe": probe})["result"]
        for probe in range(unit["probes"])
    ]
    best = min(results, key=lambda result: result["validation_error"])
    seconds = sum(result["seconds"] for result in results)
    tuning = {"validation_error": best["validation_error"], "seconds": seconds}
    return best["parameters"], tuning


HEADINGS = (
    "set",
    "training rows",
    "passes",
    "method",
    "error",
    "tuned",
    "probes",
    "the paper's",
    "tuned",
    "training s",
    "train µs",
    "predict µs",
    "evaluations",
    "MB",
)

#: With fewer training rows per class the page says so.
FEW_ROWS = 3.0


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    shown = Comparison(records)
    page.table(HEADINGS, shown.rows())
    page.say(
        """train and predict: µs per example; evaluations: hyperplanes per prediction; MB: of the
        model; all of them with defaults. The paper's figures are of the set that this one stands in
        for. Where all negatives of one-against-all would take too long, it has sampled negatives
        and the table says so; its errors are then on fewer test rows."""
    )
    for note in shown.notes():
        page.say(note)
    for text in shown.verdicts():
        page.say(text)
    page.figure("table2-error", "Test error, with defaults and tuned", shown.draw_errors)
    page.figure("table2-time", "CPU time per prediction with defaults", shown.draw_times)
    return page


def _tuned_cell(tuned: list[Record], default: list[Record]) -> str:
    if not tuned:
        return ""
    error = with_error(mean_and_error(values(tuned, "error")))
    n = n_negatives(tuned[0])
    return error if n == n_negatives(default[0]) else f"{error} ({n} negatives)"


def as_learned(record: Record) -> Record:
    """Return a record with one pass where there was one: the limit is that of small sets."""
    passes = record["unit"]["passes"] if record["result"]["passes"] > 1 else 1
    return {**record, "unit": {**record["unit"], "passes": passes}}


class Comparison:
    """The results by set and method."""

    def __init__(self, records: Sequence[Record]) -> None:
        trained = [as_learned(r) for r in records if r["unit"]["kind"] != "probe"]
        self.groups = without_superseded(by_set(trained, "passes"))

    def of(self, key: tuple[Any, ...], algorithm: str, kind: str) -> list[Record]:
        """Return the records of a method on a set, one per seed: of most probes and negatives."""
        same = (algorithm, kind)
        found = [r for r in self.groups[key] if (r["unit"]["algorithm"], r["unit"]["kind"]) == same]
        thorough = [(r["unit"].get("probes", 0), n_negatives(r)) for r in found]
        most = max(thorough, default=None)
        return [r for r, amount in zip(found, thorough, strict=True) if amount == most]

    def label(self, key: tuple[Any, ...]) -> str:
        """Return the name of a set, and how much of it was learned if there are several sizes."""
        others = [other for other in self.groups if other[0] == key[0] and other != key]
        if not others:
            return key[0]
        n_train = {self.groups[k][0]["result"]["n_train"] for k in (key, *others)}
        unit, result = (self.groups[key][0][part] for part in ("unit", "result"))
        if len(n_train) == 1:
            return f"{key[0]}, {unit['passes']} passes"
        return f"{key[0]}, {result['n_train']:,} rows"

    def rows(self) -> list[list[str]]:
        """Return the lines of the table."""
        lines = []
        for key in self.groups:
            for algorithm in ALGORITHMS:
                default, tuned = (self.of(key, algorithm, kind) for kind in ("default", "tuned"))
                if default:
                    lines.append(self._row(key, algorithm, default, tuned))
        return lines

    def _row(
        self, key: tuple[Any, ...], algorithm: str, default: list[Record], tuned: list[Record]
    ) -> list[str]:
        first = default[0]["result"]
        theirs = TABLE2.get((COUNTERPART.get(key[0], ""), algorithm), (None, None))

        def mean(name: str) -> float:
            return float(np.mean(values(default, name)))

        return [
            key[0],
            f"{first['n_train']:,}",
            number(mean("passes")),
            named(algorithm, default[0]),
            with_error(mean_and_error(values(default, "error"))),
            _tuned_cell(tuned, default),
            str(tuned[0]["unit"]["probes"]) if tuned else "",
            percent(theirs[0]),
            percent(theirs[1]),
            number(mean("train_seconds")),
            number(mean("train_microseconds")),
            number(mean("predict_microseconds")),
            number(mean("predict_evaluations")),
            number(mean("memory_bytes") / 1e6),
        ]

    def notes(self) -> list[str]:
        """Return what is to be said of the budget."""
        said = []
        said.append(
            "Tuned: the best of so many random probes, as the paper's of 59, on held-out rows of "
            "small sets, else by progressive validation on the first tenth of the training rows "
            "(with sampled negatives, on 1,000 rows spread over it). What has no probes was not "
            "tuned."
        )
        passes = {found[0]["unit"]["passes"] for found in self.groups.values()}
        most = " or ".join(str(n) for n in sorted(passes - {1}))
        said.append(f"Small sets had at most {most} passes; in the paper's scripts, up to 80.")
        said.append(self._few_rows())
        said.append(self._full_costs())
        said += self._by_negatives()
        said.append(self._not_better_tuned())
        return [text for text in said if text]

    def _few_rows(self) -> str:
        """Say where a class has so few rows that little is learned, whatever the method."""
        said = []
        for key, found in self.groups.items():
            result = found[0]["result"]
            per_class = result["n_train"] / result["n_classes"]
            if per_class < FEW_ROWS:
                said.append(f"{number(per_class)} on {self.label(key)}")
        if not said:
            return ""
        return (
            f"Training rows per class: {', '.join(said)}. From so few little is learned, and what "
            "a method does with them says little of what it does with more."
        )

    def _full_costs(self) -> str:
        """Say what one-against-all would take where it sampled negatives."""
        said = []
        for key in self.groups:
            for record in self.of(key, "one-against-all", "default")[:1]:
                seconds = record["result"].get("full_seconds_estimate")
                if seconds:
                    said.append(f"{number(seconds / 3600)} hours on {self.label(key)}")
        if not said:
            return ""
        return (
            "One-against-all with all negatives would take about "
            f"{', '.join(said)} to train (estimated from a sample)."
        )

    def _by_negatives(self) -> list[str]:
        """Say what more sampled negatives change, where several numbers of them were tried."""
        said = []
        for key, found in self.groups.items():
            tried = {
                n_negatives(r): r["result"]["error"]
                for r in found
                if r["unit"]["algorithm"] == "one-against-all" and r["unit"]["kind"] == "default"
            }
            if len(tried) > 1:
                *_, (_, before), (_, last) = errors = sorted(tried.items())
                listed = ", ".join(
                    f"{percent(error)}% with {'all' if n == math.inf else n}" for n, error in errors
                )
                said.append(
                    f"Negatives of one-against-all on {self.label(key)}: {listed}. The last step "
                    f"changes the error by {percent(abs(before - last), 2)} points."
                )
        return said

    def _not_better_tuned(self) -> str:
        """Say where what was best on the first tenth is not better than the defaults."""
        said = []
        for key in self.groups:
            for algorithm in ALGORITHMS:
                pair = [self.of(key, algorithm, kind) for kind in ("default", "tuned")]
                if all(pair):
                    default, tuned = (mean_and_error(values(found, "error"))[0] for found in pair)
                    if tuned > default:
                        said.append(f"{NAMES[algorithm]} on {self.label(key)}")
        if not said:
            return ""
        return (
            f"Tuned is no better than the defaults for {', '.join(said)}: what is best for few "
            "examples of a class need not be for many."
        )

    def verdicts(self) -> list[str]:
        """Say, set by set, who has less error, and whether the paper found the same."""
        said = []
        for key in self.groups:
            for kind in ("default", "tuned"):
                cells = {a: self.of(key, a, kind) for a in ALGORITHMS}
                first = {a: found[0]["result"] for a, found in cells.items() if found}
                said += [
                    verdict(self.label(key), kind, other, first["recall-tree"], first[other])
                    for other in ("one-against-all", "lom-tree")
                    if {"recall-tree", other} <= first.keys()
                ]
                if OURS in first and set(PAPERS) & first.keys():
                    said.append(self._beside(key, kind, first))
        return said

    def _beside(self, key: tuple[Any, ...], kind: str, first: dict[str, dict[str, Any]]) -> str:
        """Compare one-against-some with the best of the paper's methods."""
        best = min(set(PAPERS) & first.keys(), key=lambda a: first[a]["error"])
        named_best = {"recall-tree": "the Recall Tree"}.get(best, NAMES[best])
        said = compared(first[OURS], first[best], NAMES[OURS], named_best)
        times = first[OURS]["predict_microseconds"] / first[best]["predict_microseconds"]
        return (
            f"**{self.label(key)}**: {TUNING[kind]} {said}, the best of the paper's methods here; "
            f"a prediction takes it {number(times)} times as long."
        )

    def draw_errors(self, figure: Any) -> None:
        """Draw bars with defaults, one group per set, and a mark on each where tuning took it."""
        axes = figure.add_subplot()
        places = [
            self._bars(axes, i, algorithm, "error", 100.0) for i, algorithm in enumerate(ALGORITHMS)
        ]
        marks = {"fmt": "D", "color": "black", "markerfacecolor": "white"}
        tuned = [self.of(key, a, "tuned") for a in ALGORITHMS for key in self.groups]
        means, errors = means_and_errors(tuned, "error", 100.0)
        axes.errorbar(np.concatenate(places), means, yerr=errors, label="tuned", **marks)
        axes.set(ylabel="test error, %", ylim=(0, 100))
        figure.legend(loc="outside upper center", ncols=len(ALGORITHMS) + 1)

    def draw_times(self, figure: Any) -> None:
        """Draw bars, one group per set."""
        axes = figure.add_subplot()
        for i, algorithm in enumerate(ALGORITHMS):
            self._bars(axes, i, algorithm, "predict_microseconds", 1.0)
        axes.set(ylabel="prediction, µs per example", yscale="log")
        figure.legend(loc="outside upper center", ncols=len(ALGORITHMS))

    def _bars(self, axes: Any, i: int, algorithm: str, name: str, scale: float) -> np.ndarray:
        found = [self.of(key, algorithm, "default") for key in self.groups]
        x = bars(axes, (i, len(ALGORITHMS)), found, name, NAMES[algorithm], scale)
        axes.set_xticks(
            range(len(self.groups)), [self.label(key).replace(", ", "\n") for key in self.groups]
        )
        return x


EXPERIMENT = Experiment(
    name="table2",
    title="Table 2 and figure 4: error and cost of the methods",
    paper="The Recall Tree was better than one-against-all on ALOI and somewhat worse on the "
    "other sets; better than or on par with LOMTree; slower than LOMTree, and far faster "
    "than one-against-all where classes are many.",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"passes": 20},
)
