"""Figure 5b: error against the number of candidates, with the different path features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from experiments.bench import Bench
from experiments.budget import Budget
from experiments.experiment import Experiment
from experiments.measured import learn_and_test
from experiments.report.figures import line, look
from experiments.report.section import Section, by_set, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record, Unit

SETS: tuple[str, ...] = ("glyphs",)
CANDIDATES = (2, 4, 8, 16, 32, 64, 128)
#: Name of a kind of path features -> parameters.
KINDS: dict[str, dict[str, Any]] = {
    "none": {"path_features": "none"},
    "leaf": {"path_features": "leaf"},
    "path": {"path_features": "path"},
    "leaf crossed with x": {"path_features": "leaf", "path_interactions": True},
    "path crossed with x": {"path_features": "path", "path_interactions": True},
}


def units(budget: Budget) -> Iterator[Unit]:
    """Yield every number of candidates with every kind of path features."""
    for name in budget.sets_or(SETS):
        for seed in range(budget.seeds):
            for n_candidates in CANDIDATES:
                for kind in KINDS:
                    yield {
                        "set": name,
                        **budget.size,
                        "passes": budget.passes,
                        "path_features": kind,
                        "max_candidates": n_candidates,
                        "seed": seed,
                    }


def run(unit: Unit, bench: Bench) -> dict[str, Any]:
    """Train and test one tree."""
    parameters = {**KINDS[unit["path_features"]], "max_candidates": unit["max_candidates"]}
    _, found = learn_and_test(
        bench.task(unit), "recall-tree", parameters, seed=unit["seed"], passes=unit["passes"]
    )
    return found


WHY_HARM = """Where path features do harm, more passes do not mend it: *Choices that the paper
leaves open*, below, has several passes and the same order. A likely reason: a node says little of
an example that its features do not, and the weights of the node are learned while the routers above
it still change who comes there."""

Grid = dict[tuple[str, int], list[Record]]


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    for (name, *_, passes), found in by_set(records, "passes").items():
        n_train = found[0]["result"]["n_train"]
        grid: Grid = {}
        for record in found:
            unit = record["unit"]
            grid.setdefault((unit["path_features"], unit["max_candidates"]), []).append(record)
        sizes = sorted({size for _, size in grid})
        kinds = [kind for kind in KINDS if any((kind, size) in grid for size in sizes)]
        page.say(
            f"Test error on **{name}**, {n_train:,} training rows, at most {passes} "
            f"{'pass' if passes == 1 else 'passes'}, by candidates:"
        )
        page.table(
            ["path features", *map(str, sizes)],
            [[kind, *(cell(grid.get((kind, size))) for size in sizes)] for kind in kinds],
        )
        for text in verdicts(name, grid, sizes):
            page.say(text)
        page.figure(
            f"path-features-{name}-{n_train}-{passes}",
            f"Test error on {name} by number of candidates and kind of path features",
            partial(draw, grid=grid, sizes=sizes, kinds=kinds),
        )
    return page


def cell(records: list[Record] | None) -> str:
    """Return an error, or nothing."""
    return with_error(mean_and_error(values(records, "error"))) if records else ""


def verdicts(name: str, grid: Grid, sizes: list[int]) -> list[str]:
    """Say what candidates and path features bring, and whether the paper found the same."""
    said = []
    for kind in ("path", "leaf"):
        if (kind, sizes[0]) in grid and (kind, sizes[-1]) in grid:
            few, many = (mean(grid[kind, size]) for size in (sizes[0], sizes[-1]))
            agrees = "As in the paper, more" if many < few else "Unlike in the paper, more"
            said.append(
                f"{agrees} candidates {'lower' if many < few else 'raise'} the error on {name}: "
                f"{percent(few)}% with {sizes[0]}, {percent(many)}% with {sizes[-1]} "
                f"(path features: {kind})."
            )
            break
    does_harm = False
    for kind in ("path", "path crossed with x", "leaf"):
        pairs = [size for size in sizes if (kind, size) in grid and ("none", size) in grid]
        if pairs:
            text, is_worse = compare(grid, kind, pairs)
            said.append(text)
            does_harm |= is_worse
    return [*said, WHY_HARM] if does_harm else said


def mean(records: list[Record]) -> float:
    """Return the mean error over seeds."""
    return mean_and_error(values(records, "error"))[0]


def compare(grid: Grid, kind: str, sizes: list[int]) -> tuple[str, bool]:
    """Say where a kind of path features differs from none, by the test of the paper.

    Return also whether it does harm somewhere.
    """
    better: list[str] = []
    worse: list[str] = []
    same: list[str] = []
    for size in sizes:
        a, b = grid[kind, size][0]["result"], grid["none", size][0]["result"]
        test = n_minus_1_chi_squared(a["wrong"], a["n_test"], b["wrong"], b["n_test"])
        text = f"{size} ({format_p(test.p_value)})"
        if test.p_value >= 1e-4:
            same.append(text)
        else:
            (better if a["error"] < b["error"] else worse).append(text)
    parts = [
        f"{what} with {', '.join(where)} candidates"
        for what, where in (
            ("significantly fewer errors", better),
            ("significantly more errors", worse),
            ("no significant difference", same),
        )
        if where
    ]
    agrees = (
        "The paper found fewer errors with all sizes but 2: this agrees."
        if better and not worse and len(better) >= len(sizes) - 1
        else "The paper found fewer errors with all sizes but 2: this does not agree."
    )
    text = f"Path features *{kind}* against none (first seed): {'; '.join(parts)}. {agrees}"
    return text, bool(worse)


def draw(figure: Any, grid: Grid, sizes: list[int], kinds: list[str]) -> None:
    """Draw a line per kind."""
    axes = figure.add_subplot()
    for i, kind in enumerate(kinds):
        there = [size for size in sizes if (kind, size) in grid]
        line(axes, there, [grid[kind, size] for size in there], "error", label=kind, **look(i))
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(size) for size in sizes])
    axes.set(xlabel="candidates", ylabel="test error, %")
    axes.legend(title="path features")


EXPERIMENT = Experiment(
    name="path-features",
    title="Figure 5b: path features and candidates",
    paper="On ALOI more candidates lowered the error, with diminishing returns; path features "
    "lowered it too, the more the more candidates there were, and not with 2.",
    sets=SETS,
    units=units,
    run=run,
    section=section,
    defaults={"passes": 20},
)
