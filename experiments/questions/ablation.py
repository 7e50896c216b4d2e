"""Choices that the paper leaves open: router weighting, order of routing, path features, decay.

The defaults follow what is found here, so it is found on rows held out from the training rows.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from benchmarks.report import number

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.catalogue import SETS as CATALOGUE
from experiments.experiment import Experiment
from experiments.measured import VALIDATION_SHARE, learn_and_test
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import Significance, format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit
from recalltree import RecallTreeClassifier

#: An estimator with the default parameters.
DEFAULT = RecallTreeClassifier()

SETS: tuple[str, ...] = ("glyphs", "webdirectory", "wikitext", "standard-library")
WEIGHTINGS = ("total_entropy", "entropy", "unit")
ORDERS = ("route_first", "update_first")
PATH_FEATURES = ("none", "leaf", "path")
#: Half-lives of a count, in multiples of the training rows.
HALF_LIVES = (0.03, 0.1, 0.3, 1.0, 3.0)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield path features and weightings, each crossed with orders, then half-lives."""
    for name in budget.sets_or(SETS):
        # A text has one order, and the tree draws nothing at random.
        for seed in range(1 if CATALOGUE[name].is_text else budget.seeds):
            same = {"set": name, **budget.size, "passes": budget.passes, "seed": seed}
            for path_features, order in itertools.product(PATH_FEATURES, ORDERS):
                yield {
                    "kind": "path",
                    **same,
                    "path_features": path_features,
                    "routing_order": order,
                }
            for weighting, order in itertools.product(WEIGHTINGS, ORDERS):
                yield {
                    "kind": "routing",
                    **same,
                    "router_weighting": weighting,
                    "routing_order": order,
                }
            for half_life in HALF_LIVES:
                yield {"kind": "decay", **same, "half_life": half_life}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree; texts are learned in their own order, for decay is about change."""
    task = bench.task(unit).hold_out(VALIDATION_SHARE, seed=0)
    if unit["kind"] == "decay":
        parameters = {"count_decay": unit["half_life"] * task.n_train}
    else:
        chosen = ("path_features", "router_weighting", "routing_order")
        parameters = {name: unit[name] for name in chosen if name in unit}
    _, found = learn_and_test(
        task,
        "recall-tree",
        parameters,
        seed=unit["seed"],
        permuted=not CATALOGUE[task.name].is_text,
        passes=unit["passes"],
    )
    return found


#: Kind of units -> what was tried (first choice, its values), and the default of it and the order.
CHOICES = {
    "path": ("path_features", PATH_FEATURES, DEFAULT.path_features),
    "routing": ("router_weighting", WEIGHTINGS, DEFAULT.router_weighting),
}
LEADS = {
    "path": "Error by path features and order of routing:",
    "routing": "Error by router weighting and order of routing:",
}
COLUMNS = ("order", "error", "recall", "train µs", "MB")

#: Significance level: differences that chance makes less often are reported.
CLEAR = 0.01

#: A smaller difference of errors is not worth an explanation.
SLIGHT = 0.005

#: Where the defaults are not simply what has the least error.
WHY_ORDER = f"""*{DEFAULT.routing_order}* is the default order because it is faster and takes less
memory on sparse examples."""
WHY_NO_DECAY = """Counts do not decay by default, although decay lowers the error on some sets: a
half-life says how fast a stream changes, which only the user knows."""

Cells = dict[tuple[Any, ...], list[Record]]


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    sets = by_set(records, "passes")
    page.say(
        """The defaults of the package follow from this section, so its errors are on a held-out
        tenth of the training rows, never on test rows. Recall: share of these rows whose label is
        among the candidates."""
    )
    for kind, (choice, tried, default) in CHOICES.items():
        rows = []
        verdicts = []
        for key, found in sets.items():
            same_kind = [r for r in found if r["unit"]["kind"] == kind]
            cells = group(same_kind, choice, "routing_order")
            order = [(value, order) for value in tried for order in ORDERS]
            rows += [row(key, pair, cells[pair]) for pair in order if pair in cells]
            verdicts.append(verdict(key, cells, (default, DEFAULT.routing_order)))
        page.say(LEADS[kind])
        page.table(["set", "rows", "passes", choice.replace("_", " "), *COLUMNS], rows)
        for text in filter(None, verdicts):
            page.say(text)
    for key, found in sets.items():
        if text := decay(key, found):
            page.say(text)
    page.say(which_order(sets))
    page.say(what_follows(sets))
    return page


def row(key: tuple[Any, ...], pair: tuple[str, str], same: list[Record]) -> list[str]:
    """Return a line of a table: what one choice gave on one set."""

    def mean(name: str) -> float:
        return mean_and_error(values(same, name))[0]

    return [
        key[0],
        f"{same[0]['result']['n_train']:,}",
        str(key[-1]),
        *pair,
        with_error(mean_and_error(values(same, "error"))),
        percent(mean("candidate_recall")),
        number(mean("train_microseconds")),
        number(mean("memory_bytes") / 1e6),
    ]


def error(records: Sequence[Record]) -> float:
    """Return the mean error."""
    return mean_and_error(values(records, "error"))[0]


def where(key: tuple[Any, ...]) -> str:
    """Return the set, and the passes if there were several."""
    return f"{key[0]}, at most {key[-1]} passes" if key[-1] > 1 else str(key[0])


def verdict(key: tuple[Any, ...], cells: Cells, default: tuple[str, str]) -> str:
    """Say whether the defaults are the best choice."""
    if default not in cells:
        return ""
    best = min(cells, key=lambda pair: error(cells[pair]))
    if best == default:
        return f"**{where(key)}**: the defaults ({', '.join(default)}) are best."
    test = significance(cells[best], cells[default])
    found = (
        f"{percent(error(cells[best]))}% with {', '.join(best)} against "
        f"{percent(error(cells[default]))}% with the defaults; {written(test)}"
    )
    if test.p_value >= CLEAR:
        return f"**{where(key)}**: nothing is clearly better than the defaults ({found})."
    return f"**{where(key)}**: the defaults are not best ({found})."


def significance(a: Sequence[Record], b: Sequence[Record]) -> Significance:
    """Return how sure the difference of two choices is, by the first seed of each."""
    one, other = a[0]["result"], b[0]["result"]
    return n_minus_1_chi_squared(one["wrong"], one["n_test"], other["wrong"], other["n_test"])


def written(test: Significance) -> str:
    """Return a test as it stands in the text."""
    return f"{format_p(test.p_value)}, N-1 chi-squared, first seed"


def decay(key: tuple[Any, ...], found: Sequence[Record]) -> str:
    """Say what fading counts bring."""
    halves = group([r for r in found if r["unit"]["kind"] == "decay"], "half_life")
    usual = ("routing", DEFAULT.router_weighting, DEFAULT.routing_order)
    default = group(found, "kind", "router_weighting", "routing_order").get(usual)
    if not halves or default is None:
        return ""
    said = [f"{percent(error(same))}% with {half:g}" for (half,), same in sorted(halves.items())]
    best = min(halves.values(), key=error)
    test = significance(best, default)
    is_less = error(best) < error(default) and test.p_value < CLEAR
    compared = "lower" if is_less else "not clearly lower"
    longest = halves[max(halves)]
    recent = ""
    if error(default) - error(longest) > (error(default) - error(best)) / 2 > SLIGHT:
        recent = (
            " Even the longest half-life, with which hardly anything fades, brings most of the "
            "gain. So old counts do no harm. A likely reason for the gain: among labels with equal "
            "counts, the most recent now comes first."
        )
    return (
        f"Decay of counts on **{where(key)}**, by half-life in multiples of the training rows: "
        f"{', '.join(said)}; {percent(error(default))}% without decay. With the best half-life "
        f"the error is {compared} ({written(test)}).{recent}"
    )


def which_order(sets: dict[tuple[Any, ...], list[Record]]) -> str:
    """Say on which sets each order of routing is the better, and what it costs."""
    better: dict[str, list[str]] = {order: [] for order in ORDERS}
    said = []
    for key, found in sets.items():
        cells = group(found, "kind", "path_features", "routing_order")
        pair = [cells.get(("path", DEFAULT.path_features, order)) for order in ORDERS]
        if pair[0] is None or pair[1] is None:
            continue
        better[min(zip(pair, ORDERS, strict=True), key=lambda p: error(p[0] or []))[1]].append(
            where(key)
        )
        times, memory = (
            mean_and_error(values(pair[1], name))[0] / mean_and_error(values(pair[0], name))[0]
            for name in ("train_microseconds", "memory_bytes")
        )
        said.append(f"{number(times)} and {number(memory)} on {where(key)}")
    if not said:
        return ""
    parts = [f"*{order}* is better on {'; '.join(on)}" for order, on in better.items() if on]
    return (
        f"Order of routing: {', and '.join(parts)}. Training time and memory of *update_first*, as "
        f"multiples of those of *route_first*: {'; '.join(said)}. The default is "
        f"*{DEFAULT.routing_order}*."
    )


def what_follows(sets: dict[tuple[Any, ...], list[Record]]) -> str:
    """Say whether the defaults are what has the least error, and why where they are not."""
    said = []
    for kind, (choice, _, default) in CHOICES.items():
        beaten = []
        for key, found in sets.items():
            cells = group([r for r in found if r["unit"]["kind"] == kind], "routing_order", choice)
            usual = cells.get((DEFAULT.routing_order, default))
            for (order, value), same in cells.items():
                if usual is None or order != DEFAULT.routing_order:
                    continue
                if error(same) < error(usual) and significance(same, usual).p_value < CLEAR:
                    beaten.append(f"*{value}* on {where(key)}")
        but = f"is clearly worse than {', '.join(beaten)}" if beaten else "is as good as any"
        said.append(f"the default {choice.replace('_', ' ')} (*{default}*) {but}")
    return f"Within the default order of routing, {' and '.join(said)}. {WHY_ORDER} {WHY_NO_DECAY}"


EXPERIMENT = Experiment(
    name="ablation",
    title="Choices that the paper leaves open",
    paper="A router's update is weighted by |Δ|, and an example is routed after it; the authors' "
    "code does not weight. Counts never fade.",
    sets=SETS,
    units=units,
    run=run,
    section=section,
)
