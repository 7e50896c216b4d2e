"""Choices that the paper leaves open: the section."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.report import number

from experiments.report.section import SIZE, Section, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record
from experiments.studies.ablation import ORDERS, WEIGHTINGS
from recalltree.estimators import defaults

DEFAULT = (defaults.ROUTER_WEIGHTING, defaults.ROUTING_ORDER)


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    sets = group(records, *SIZE, "passes")
    page.say("Test error by router weighting and order of routing:")
    rows = []
    verdicts = []
    for (name, *_), found in sets.items():
        cells = group([r for r in found if r["unit"]["kind"] == "routing"], *CHOICES)
        for weighting in WEIGHTINGS:
            for order in ORDERS:
                if same := cells.get((weighting, order)):
                    rows.append(
                        [
                            name,
                            f"{same[0]['result']['n_train']:,}",
                            weighting,
                            order,
                            with_error(mean_and_error(values(same, "error"))),
                            percent(mean_and_error(values(same, "candidate_recall"))[0]),
                            number(mean_and_error(values(same, "train_microseconds"))[0]),
                            number(mean_and_error(values(same, "memory_bytes"))[0] / 1e6),
                        ]
                    )
        verdicts += [verdict(name, cells), decay(name, found, cells.get(DEFAULT))]
    page.table(
        [
            "set",
            "training rows",
            "weighting",
            "order",
            "test error",
            "recall at test",
            "train µs",
            "MB",
        ],
        rows,
    )
    for text in verdicts:
        if text:
            page.say(text)
    return page


CHOICES = ("router_weighting", "routing_order")


def error(records: Sequence[Record]) -> float:
    """Return the mean test error."""
    return mean_and_error(values(records, "error"))[0]


def verdict(name: str, cells: dict[tuple[str, ...], list[Record]]) -> str:
    """Say whether the defaults are the best choice."""
    if DEFAULT not in cells:
        return ""
    best = min(cells, key=lambda key: error(cells[key]))
    text = f"**{name}**: the defaults ({', '.join(DEFAULT)}) have {percent(error(cells[DEFAULT]))}%"
    if best == DEFAULT:
        return f"{text}, the least of all."
    return (
        f"{text}; {', '.join(best)} has the least, {percent(error(cells[best]))}% "
        f"({significance(cells[best], cells[DEFAULT])})."
    )


def significance(a: Sequence[Record], b: Sequence[Record]) -> str:
    """Return how sure the difference of two choices is, by the first seed of each."""
    one, other = a[0]["result"], b[0]["result"]
    test = n_minus_1_chi_squared(one["wrong"], one["n_test"], other["wrong"], other["n_test"])
    return f"{format_p(test.p_value)}, N-1 chi-squared, first seed"


def decay(name: str, found: Sequence[Record], default: list[Record] | None) -> str:
    """Say what fading counts bring."""
    halves = group([r for r in found if r["unit"]["kind"] == "decay"], "half_life")
    if not halves or default is None:
        return ""
    said = [
        f"{percent(error(same))}% with a half-life of {half_life:g} times the training rows"
        for (half_life,), same in sorted(halves.items())
    ]
    best = min(halves.values(), key=error)
    compared = "less" if error(best) < error(default) else "no less"
    return (
        f"Decay of counts on {name}: {'; '.join(said)}; {percent(error(default))}% without decay. "
        f"With the best half-life the error is {compared} than without "
        f"({significance(best, default)})."
    )
