"""A comparison of methods on sets: of each the largest budget that was run, as tables and bars."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.data.catalogue import SETS as CATALOGUE
from experiments.measured import VALIDATION_SHARE
from experiments.methods import NAMES, n_negatives, named
from experiments.paper import COUNTERPART, PREDICTION, TABLE2, TUNING, compared, published
from experiments.report.figures import bars, means_and_errors
from experiments.report.section import group, percent, values, with_error
from experiments.statistics import mean_and_error
from experiments.store import Record

PAPERS = ("recall-tree", "one-against-all", "lom-tree")
OURS = "one-against-some"
ALGORITHMS = (*PAPERS, OURS)

STANDARD_PROBES = 59
PLACE = ("set", "algorithm")
#: More negatives are not needed where they change the error by less.
ENOUGH = 0.005
#: With this many errors all probes look alike.
NEARLY_ALL = 0.99
COSTS = {
    "train_seconds": "training, s",
    "train_microseconds": "training, µs per example",
    "predict_microseconds": "prediction, µs",
    "predict_evaluations": "evaluations per prediction",
}


def duration(seconds: float) -> str:
    """Return a time as it stands in notes.

    >>> duration(300), duration(16_000)
    ('5 minutes', '4.4 hours')
    """
    return f"{seconds / 60:.0f} minutes" if seconds < 3600 else f"{seconds / 3600:.1f} hours"


def amount(record: Record) -> tuple[float, ...]:
    """Return how thorough a training was: rows, limit of passes, probes, negatives."""
    unit, result = record["unit"], record["result"]
    passes = unit["passes"] if result["passes"] > 1 else 1  # the limit is that of small sets
    return result["n_train"], passes, unit.get("probes", 0), n_negatives(record)


def most_thorough(records: Sequence[Record]) -> list[Record]:
    """Return the records of the largest budget, one per seed."""
    most = max(map(amount, records))
    return [record for record in records if amount(record) == most]


class Comparison:
    """The largest budget of each method on each set, with defaults and tuned."""

    def __init__(self, records: Sequence[Record]) -> None:
        kinds = group(records, "kind")
        self.trained = [r for kind in TUNING for r in kinds.get((kind,), [])]
        cells = group(self.trained, *PLACE, "kind")
        self.cells = {key: most_thorough(found) for key, found in cells.items()}
        self.by_negatives: dict[str, list[Record]] = {}
        for (name, algorithm, kind), found in cells.items():
            if (algorithm, kind) == ("one-against-all", "default"):
                n_train = amount(self.cells[name, algorithm, kind][0])[:2]
                same = [r for r in found if amount(r)[:2] == n_train]
                self.by_negatives[name] = sorted(same, key=n_negatives)
        names = {name for name, *_ in cells}
        self.sets = [name for name in CATALOGUE if name in names]
        self.notes: dict[str, str] = {}
        #: Methods on sets -> how many probes were done, with whatever budget.
        self.probes = {k: len(v) for k, v in group(kinds.get(("probe",), []), *PLACE).items()}

    def superseded(self) -> list[Record]:
        """Return the trainings that no table uses: larger ones have taken their place."""
        used = [r for found in self.cells.values() for r in found]
        used += [r for found in self.by_negatives.values() for r in found]
        return [record for record in self.trained if record not in used]

    def of(self, name: str, algorithm: str, kind: str = "default") -> list[Record]:
        """Return the records of a method on a set, one per seed."""
        return self.cells.get((name, algorithm, kind), [])

    def error(self, name: str, algorithm: str, kind: str = "default") -> float:
        """Return the mean error over seeds."""
        return mean_and_error(values(self.of(name, algorithm, kind), "error"))[0]

    def mean(self, name: str, algorithm: str, measure: str) -> float:
        """Return the mean of a figure over seeds, with defaults."""
        return float(np.mean(values(self.of(name, algorithm), measure)))

    def largest(self, name: str) -> tuple[float, ...]:
        """Return the rows and passes of the largest training on a set."""
        return max(amount(found[0])[:2] for key, found in self.cells.items() if key[0] == name)

    def error_rows(self) -> list[list[str]]:
        """Return the lines of the table of errors; what is to be said of a cell becomes a note."""
        lines = []
        for name in self.sets:
            rows, passes = self.largest(name)
            first = next(f for k, f in self.cells.items() if k[0] == name)[0]["result"]
            size = f"{first['n_classes']:,} classes, {int(rows):,} rows"
            label = f"**{name}**, {size}" + (f", up to {int(passes)} passes" if passes > 1 else "")
            for kind, parameters in TUNING.items():
                cells = [self._cell(name, a, kind) for a in ALGORITHMS]
                lines.append([label if kind == "default" else "", parameters, *cells])
            if counterpart := COUNTERPART.get(name):
                theirs = [TABLE2.get((counterpart, a), ()) for a in ALGORITHMS]
                cells = [", ".join(percent(x) or "-" for x in pair) for pair in theirs]
                lines.append([f"*{counterpart} in the paper*", "defaults, tuned", *cells])
        return lines

    def _cell(self, name: str, algorithm: str, kind: str) -> str:
        found = self.of(name, algorithm, kind)
        text = with_error(mean_and_error(values(found, "error"))) if found else "-"
        note = "; ".join(self._remarks(name, algorithm, kind, found))
        if not note:
            return text
        letter = self.notes.setdefault(note, chr(ord("a") + len(self.notes)))
        return f"{text} ({letter})"

    def _remarks(self, name: str, algorithm: str, kind: str, found: list[Record]) -> list[str]:
        """Return in what a cell falls short of the paper's protocol, and what that would take."""
        said = []
        if found:
            (rows, passes, probes, negatives), largest = amount(found[0]), self.largest(name)
            if rows < largest[0]:
                said.append(self._fewer_rows(found, largest[0]))
            if passes < largest[1]:
                said.append(f"up to {int(passes)} passes")
            if negatives < math.inf:
                said.append(f"{int(negatives)} sampled negatives for each example")
            if probes and probes < STANDARD_PROBES:
                said.append(f"{int(probes)} probes")
            if len(found) < 3 and algorithm != "one-against-all":
                said.append("one seed" if len(found) == 1 else f"{len(found)} seeds")
        elif kind == "tuned" and self.probes.get((name, algorithm), 0) >= STANDARD_PROBES:
            took = duration(self.mean(name, algorithm, "train_seconds"))
            return [f"the best of {STANDARD_PROBES} probes is not trained; that takes about {took}"]
        else:
            said.append("not run")
        short = not found or (kind == "tuned" and probes < STANDARD_PROBES)
        if kind == "tuned" and short and (seconds := self._tuning_seconds(name, algorithm)):
            said.append(f"{STANDARD_PROBES} probes would take about {duration(seconds)}")
        return said

    def _fewer_rows(self, found: list[Record], all_rows: float) -> str:
        """Say that rows were left out, and what all of them would take: time and memory grow."""
        rows = amount(found[0])[0]
        seconds, n_bytes = (
            float(np.mean(values(found, what))) * all_rows / rows
            for what in ("train_seconds", "memory_bytes")
        )
        return (
            f"{int(rows):,} of {int(all_rows):,} rows; all of them would take about "
            f"{duration(seconds)} and {n_bytes / 1e9:.0f} GB of memory for each seed"
        )

    def _tuning_seconds(self, name: str, algorithm: str) -> float | None:
        """Estimate the time of all probes: from default training, over the rows they learn."""
        default = self.of(name, algorithm)
        if not default:
            return None
        small = amount(default[0])[1] > 1
        share = 1 - VALIDATION_SHARE if small else VALIDATION_SHARE
        seconds = share * self.mean(name, algorithm, "train_seconds")
        seconds *= self.largest(name)[0] / default[0]["result"]["n_train"]
        return STANDARD_PROBES * seconds

    def negatives(self) -> list[str]:
        """Say what more sampled negatives change, and what all of them would take."""
        said = []
        for name, found in self.by_negatives.items():
            errors = {n_negatives(r): r["result"]["error"] for r in found}
            listed = ", ".join(
                f"{percent(error)}% with {'all' if n == math.inf else int(n)}"
                for n, error in errors.items()
            )
            estimate = found[-1]["result"].get("full_seconds_estimate")
            if not estimate and len(errors) < 2:
                continue
            text = f"Negatives of one-against-all on {name}: {listed}."
            if len(errors) > 1:
                *_, before, last = errors.values()
                change = abs(before - last)
                text += f" The last step changes the error by {percent(change, 2)} points"
                text += ", less than half a point." if change < ENOUGH else "."
            if estimate:
                seconds = estimate * self.largest(name)[0] / found[-1]["result"]["n_train"]
                text += f" All of them would take about {duration(seconds)} (estimated)."
            said.append(text)
        return said

    def cost_rows(self) -> list[list[str]]:
        """Return the lines of the table of costs."""
        lines = []
        for name in self.sets:
            for algorithm in ALGORITHMS:
                if not (found := self.of(name, algorithm)):
                    continue
                n_train = found[0]["result"]["n_train"]
                fewer = "" if n_train == self.largest(name)[0] else f", {n_train:,} rows"
                theirs = PREDICTION.get((COUNTERPART.get(name, ""), algorithm))
                lines.append(
                    [
                        name,
                        named(algorithm, found[0]) + fewer,
                        *(number(self.mean(name, algorithm, cost)) for cost in COSTS),
                        "" if theirs is None else number(theirs),
                        number(self.mean(name, algorithm, "memory_bytes") / 1e6),
                    ]
                )
        return lines

    def other_machines(self) -> str:
        """Say which costs are of another machine than most, and so not to be compared."""
        machines = {
            f"{NAMES[a]} on {name}": {r["machine"]["processor"] for r in self.of(name, a)}
            for name in self.sets
            for a in ALGORITHMS
            if self.of(name, a)
        }
        usual, _ = Counter(x for found in machines.values() for x in found).most_common(1)[0]
        said = [what for what, found in machines.items() if found != {usual}]
        if not said:
            return ""
        others = ", ".join(sorted(set().union(*machines.values()) - {usual}))
        return (
            f"Times are of {usual}; in part or all of {others}: {', '.join(said)}. Compare these "
            "with the others by large factors only."
        )

    def pairs(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield (set, kind, method, other) where both learned the same rows."""
        for name in self.sets:
            for kind in TUNING:
                rows = {a: amount(f[0])[:2] for a in ALGORITHMS if (f := self.of(name, a, kind))}
                alike = [a for a in rows if rows[a] == max(rows.values())]
                for other in PAPERS[1:]:
                    if {PAPERS[0], other} <= set(alike):
                        yield name, kind, PAPERS[0], other
                if OURS in alike and len(alike) > 1:
                    errors = {a: self.error(name, a, kind) for a in alike if a != OURS}
                    yield name, kind, OURS, min(errors, key=lambda a: errors[a])

    def outcome(self, name: str, kind: str, a: str, b: str) -> tuple[str, str]:
        """Return which of two methods has fewer errors, by their first seeds, and how surely."""
        return compared(*(self.of(name, x, kind)[0]["result"] for x in (a, b)))

    def comparison_rows(self) -> list[list[str]]:
        """Return the lines of the table of comparisons."""
        lines = []
        for name, kind, a, b in self.pairs():
            word, p = self.outcome(name, kind, a, b)
            has = f"{word} ({p})"
            lines.append([name, TUNING[kind], NAMES[a], NAMES[b], has, published(name, kind, a, b)])
        return lines

    def tuned_worse(self) -> str:
        """Say where what was best on the first tenth is no better than the defaults."""
        said = [
            f"{NAMES[a]} on {name}"
            for name in self.sets
            for a in ALGORITHMS
            if self.of(name, a) and self.of(name, a, "tuned")
            if amount(self.of(name, a)[0])[:2] == amount(self.of(name, a, "tuned")[0])[:2]
            if self.error(name, a, "tuned") > self.error(name, a)
        ]
        if not said:
            return ""
        return (
            f"Tuning does not help {', '.join(said)}: what is best on the first tenth, where "
            "classes have few examples, need not be best on all rows."
        )

    def uncertain_choices(self) -> str:
        """Say where nearly every probe erred alike, so that the choice among them means little."""
        best = {
            f"{NAMES[a]} on {name}": result["tuning"]["validation_error"]
            for name in self.sets
            for a in ALGORITHMS
            for result in [r["result"] for r in self.of(name, a, "tuned")[:1]]
            if "tuning" in result
        }
        said = [f"{what} ({percent(e)}% at best)" for what, e in best.items() if e > NEARLY_ALL]
        if not said:
            return ""
        return (
            "Progressive validation hardly tells probes apart where nearly every answer on the "
            f"first tenth is wrong: {', '.join(said)}. There the first of equals was taken."
        )

    def draw_errors(self, figure: Any) -> None:
        """Draw bars with defaults, one group per set, and a mark on each where tuning took it."""
        figure.set_size_inches(7.2, 3.6)
        axes = figure.add_subplot()
        places = [
            self._bars(axes, i, algorithm, "error", 100.0) for i, algorithm in enumerate(ALGORITHMS)
        ]
        marks = {"fmt": "D", "color": "black", "markerfacecolor": "white"}
        tuned = [self.of(name, a, "tuned") for a in ALGORITHMS for name in self.sets]
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
        found = [self.of(set_name, algorithm) for set_name in self.sets]
        x = bars(axes, (i, len(ALGORITHMS)), found, name, NAMES[algorithm], scale)
        axes.set_xticks(range(len(self.sets)), self.sets)
        return x
