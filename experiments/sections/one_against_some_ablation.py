"""One-against-some, one choice at a time: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from experiments.report.figures import COLOURS
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record
from experiments.studies.one_against_some_ablation import KINDS, REFERENCES, VARIANTS

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
#: Errors larger than so many times that of the defaults stand at the edge of the figure.
FAR = 1.4

Cells = dict[tuple[Any, ...], list[Record]]  # (what, value) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """One change at a time; errors and recall (share of the rows whose label is among the
        candidates) are on held-out training rows. Better and worse: than the defaults, by the N-1
        chi-squared test over all seeds (P < 0.01); otherwise the rows do not tell. What a parameter
        of the estimator offers was tried on the whole set; what none offers, with the plain
        reference on some of the classes, whose errors are smaller because there are fewer classes
        to confuse. A row alone:"""
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
        return f"the same ({format_p(test.p_value)})"
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
