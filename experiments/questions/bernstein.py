"""Section 4.5: the multiplier λ of the empirical Bernstein bound.

A λ beyond all counts makes every bound 0: nothing is ever compared, and every example goes down to
the deepest node. That is what Vowpal Wabbit, with which the paper's figures were made, does if its
λ is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.data.class_subsets import choose_dataset
from experiments.data.task import ArrayTask, Task
from experiments.experiment import Experiment
from experiments.measured import learn_and_test
from experiments.paper import CLEAR
from experiments.report.figures import line, look
from experiments.report.section import (
    Section,
    answer_of,
    by_set,
    group,
    percent,
    values,
    with_error,
)
from experiments.statistics import Significance, format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("wikitext", "wikipassage")
ALWAYS_DESCEND = 1e12
LAMBDAS = (0.0, 0.1, 1.0, 10.0, ALWAYS_DESCEND)


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every λ with every seed; a seed is an order of the rows, and a choice of classes."""
    few = {} if budget.max_classes is None else {"n_classes": budget.max_classes}
    for name in budget.sets_or(SETS):
        for bound_lambda in LAMBDAS:
            for seed in range(budget.seeds):
                same = {"set": name, **budget.size, **few}
                yield {**same, "bound_lambda": bound_lambda, "seed": seed}


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree."""
    if "n_classes" in unit:
        # As many test rows as the unit says, of the chosen classes.
        dataset = choose_dataset({**unit, "test_rows": None}, bench)
        task: Task = ArrayTask.of(dataset, unit["test_rows"])
    else:
        task = bench.task(unit)
    parameters = {"bound_lambda": unit["bound_lambda"]}
    _, found = learn_and_test(task, "recall-tree", parameters, seed=unit["seed"])
    return found


PAPER_GAIN = 0.13
COLUMNS = ("error", "candidate_recall", "mean_bound")
HEADINGS = ("λ", "test error", "recall at test", "mean bound", "bound kept", "mean depth")


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        """λ = 0 compares empirical recalls, as the paper's text says. In Vowpal Wabbit, with which
        the paper's figures were made, λ = 0 turns the comparison off, and every example goes down
        to the deepest node: that is λ = ∞ here. So the paper's 91% is to be compared with λ = ∞."""
    )
    page.say(
        """Recall at test: share of the test rows whose label is among the candidates. Mean bound:
        the bound at the node where a row stops, on average. Bound kept: of the test rows that stop
        where 30 or more do, the share at nodes whose recall is at least their bound. With λ = ∞
        every bound is 0."""
    )
    most_rows: dict[str, int] = {}
    for record in records:
        name, n_train = record["unit"]["set"], record["result"]["n_train"]
        most_rows[name] = max(n_train, most_rows.get(name, 0))
    for (name, *_), found in by_set(records, "n_classes").items():
        by_lambda = {key[0]: same for key, same in group(found, "bound_lambda").items()}
        by_lambda = dict(sorted(by_lambda.items()))
        first = found[0]["result"]
        page.say(f"**{name}**, {first['n_classes']:,} classes, {first['n_train']:,} training rows:")
        page.table(HEADINGS, [row(x, same) for x, same in by_lambda.items()])
        caption = f"Error, recall and the bound of recall on {name} by λ"
        file = f"bernstein-{name}-{first['n_train']}"
        page.figure(file, caption, partial(draw, by_lambda=by_lambda))
        if said := effect(name, by_lambda):
            page.say(said)
        said, is_broken = tightness(name, by_lambda)
        if said:
            page.say(said)
        if is_broken:
            page.say_once(NO_LOWER_BOUND)
        if max(r["result"]["n_train"] for r in found) == most_rows[name]:
            find(page, f"{name}, {first['n_train']:,} rows", by_lambda)
    page.say(FADING)
    return page


NO_LOWER_BOUND = """So in use it is not a lower bound. This does not contradict the mathematics,
which is about a fixed tree and fresh examples: here the counts were made while routers and
candidates were still changing."""

FADING = """What the comparison is worth depends on the number of examples. On 500,000 words, going
down to the deepest node costs 5.9 points, because the many nodes there have seen little; on 10
million words it costs 0.6. The 91% that the paper has without the comparison was not reached
here."""


def row(bound_lambda: float, same: list[Record]) -> list[str]:
    """Return a line of the table."""
    kept = [v for v in values(same, "bound_holds") if v is not None]
    return [
        written(bound_lambda),
        *(with_error(mean_and_error(values(same, column))) for column in COLUMNS),
        percent(mean_and_error(kept)[0]) if kept else "",
        with_error(mean_and_error(values(same, "mean_depth")), scale=1),
    ]


def written(bound_lambda: float) -> str:
    """Return λ as it stands in tables.

    >>> written(0.1), written(ALWAYS_DESCEND)
    ('0.1', '∞')
    """
    return "∞" if bound_lambda == ALWAYS_DESCEND else f"{bound_lambda:g}"


def difference(a: list[Record], b: list[Record]) -> Significance:
    """Test the errors of two λ, by their first seeds."""
    one, other = a[0]["result"], b[0]["result"]
    return n_minus_1_chi_squared(one["wrong"], one["n_test"], other["wrong"], other["n_test"])


def errors_of(by_lambda: dict[float, list[Record]]) -> dict[float, float]:
    """Return the mean error with each λ."""
    return {x: mean_and_error(values(same, "error"))[0] for x, same in by_lambda.items()}


def effect(name: str, by_lambda: dict[float, list[Record]]) -> str:
    """Say what the bound brings over empirical recall, and over no comparison."""
    errors = errors_of(by_lambda)
    said = []
    for other, what in ((0.0, "empirical recall"), (ALWAYS_DESCEND, "no comparison")):
        if not {1.0, other} <= set(errors):
            continue
        gain = errors[other] - errors[1.0]
        p = format_p(difference(by_lambda[other], by_lambda[1.0]).p_value)
        said.append(
            f"{percent(abs(gain))} points {'lower' if gain > 0 else 'higher'} than with {what} "
            f"(λ = {written(other)}; {p})"
        )
    if not said:
        return ""
    best = min(errors, key=lambda x: errors[x])
    return (
        f"With λ = 1 the error is {' and '.join(said)}; N-1 chi-squared, first seed. In the paper "
        f"it is {percent(PAPER_GAIN, 0)} points lower. The best λ on {name} is {written(best)}."
    )


def find(page: Section, where: str, by_lambda: dict[float, list[Record]]) -> None:
    """Add the paper's claim."""
    errors = errors_of(by_lambda)
    others = [x for x in (0.0, ALWAYS_DESCEND) if {1.0, x} <= set(errors)]
    if others:
        helps = [
            errors[x] > errors[1.0] and difference(by_lambda[x], by_lambda[1.0]).p_value < CLEAR
            for x in others
        ]
        page.find(
            "The Bernstein bound lowers the error",
            answer_of(helps),
            f"{where}: "
            + ", ".join(f"{percent(errors[x])}% with λ = {written(x)}" for x in (1.0, *others)),
        )


def tightness(name: str, by_lambda: dict[float, list[Record]]) -> tuple[str, bool]:
    """Compare the bound with the recall; also return whether it was above the recall."""
    said = []
    is_broken = False
    for bound_lambda, same in by_lambda.items():
        if bound_lambda == ALWAYS_DESCEND:  # it promises nothing
            continue
        bound, recall = (mean_and_error(values(same, c))[0] for c in ("mean_bound", COLUMNS[1]))
        said.append(f"{percent(bound)}% against {percent(recall)}% with λ = {bound_lambda:g}")
        is_broken |= bound > recall
    if not said:
        return "", False
    text = f"Bound against recall on {name}: {', '.join(said)}."
    if not is_broken:
        text += " On average over the test rows it is a lower bound."
    return text, is_broken


def draw(figure: Any, by_lambda: dict[float, list[Record]]) -> None:
    """Draw a line each for error, recall and bound."""
    axes = figure.add_subplot()
    places = range(len(by_lambda))
    labels = ("test error", "recall at test", "mean bound")
    for i, (column, label) in enumerate(zip(COLUMNS, labels, strict=True)):
        line(axes, places, list(by_lambda.values()), column, label=label, **look(i))
    axes.set_xticks(list(places), [written(x) for x in by_lambda])
    axes.set(xlabel="λ", ylabel="%")
    axes.legend()


EXPERIMENT = Experiment(
    name="bernstein",
    title="Section 4.5: the empirical Bernstein bound",
    paper="On LTCB the test error was 78% with λ = 1 and 91% with λ = 0.",
    sets=SETS,
    units=units,
    run=run,
    section=section,
)
