"""One-against-some beside the other methods: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.names import NAMES, named
from experiments.report.figures import COLOURS, bars
from experiments.report.section import Section, by_set, group, percent, values, with_error
from experiments.statistics import format_p, mean_and_error, n_minus_1_chi_squared
from experiments.store import Record
from experiments.studies.one_against_some import ALGORITHMS, ANSWER_EVERY, TEXT_ALGORITHMS

HEADINGS = ("set", "training rows", "method", "test error", "recall", "train µs", "predict µs")
HEADINGS += ("evaluations", "MB")
OURS = "one-against-some"


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    kinds = group(records, "kind")
    if tested := kinds.get(("test",)):
        _sets(page, tested)
    for key, found in by_set(kinds.get(("progressive",), [])).items():
        _text(page, key[0], {r["unit"]["algorithm"]: r for r in found})
    return page


def _sets(page: Section, records: Sequence[Record]) -> None:
    groups = {key: group(found, "algorithm") for key, found in by_set(records).items()}
    page.say("Test error after one pass with defaults:")
    page.table(
        HEADINGS,
        [
            row(key[0], algorithm, found[(algorithm,)])
            for key, found in groups.items()
            for algorithm in ALGORITHMS
            if (algorithm,) in found
        ],
    )
    page.say(
        """Recall: share of the test rows whose label is among the candidates; train and predict:
        µs per example; evaluations: linear, per prediction. Where all negatives of one-against-all
        would take too long, it has sampled negatives, and is tested on fewer rows."""
    )
    for key, found in groups.items():
        if text := verdict(key[0], found):
            page.say(text)
    page.figure(
        "one-against-some-error",
        "Test error after one pass with defaults",
        partial(draw_bars, groups=groups),
    )


def row(name: str, algorithm: str, same: list[Record]) -> list[str]:
    """Return a line of the table: a method on a set."""

    def mean(figure: str) -> float:
        return float(np.mean(values(same, figure)))

    recall = mean("candidate_recall") if "candidate_recall" in same[0]["result"] else None
    return [
        name,
        f"{same[0]['result']['n_train']:,}",
        named(algorithm, same[0]),
        with_error(mean_and_error(values(same, "error"))),
        percent(recall),
        *(number(mean(f"{step}_microseconds")) for step in ("train", "predict")),
        number(mean("predict_evaluations")),
        number(mean("memory_bytes") / 1e6),
    ]


def verdict(name: str, found: dict[tuple[Any, ...], list[Record]]) -> str:
    """Say whether one-against-some has less error than the best of the others."""
    errors = {key[0]: mean_and_error(values(same, "error"))[0] for key, same in found.items()}
    if OURS not in errors or len(errors) < 2:
        return ""
    best = min((a for a in errors if a != OURS), key=lambda a: errors[a])
    ours, theirs = (found[(a,)][0]["result"] for a in (OURS, best))
    test = n_minus_1_chi_squared(ours["wrong"], ours["n_test"], theirs["wrong"], theirs["n_test"])
    return (
        f"**{name}**: {percent(errors[OURS])}%; the best of the others is "
        f"{named(best, found[(best,)][0])} with {percent(errors[best])}% "
        f"({format_p(test.p_value)}, N-1 chi-squared, first seed)."
    )


def _text(page: Section, name: str, found: dict[str, Record]) -> None:
    shown = [a for a in TEXT_ALGORITHMS if a in found]
    n_train = found[shown[0]]["result"]["n_train"]
    page.say(
        f"**{name}** in its own order, {n_train:,} words, each predicted just before it is learned:"
    )
    page.table(
        ["method", "progressive error", "train µs", "MB"],
        [
            [
                NAMES[a],
                percent(found[a]["result"]["progressive_error"], 2),
                number(found[a]["result"]["train_microseconds"])
                if "train_microseconds" in found[a]["result"]
                else "",
                number(found[a]["result"]["memory_bytes"] / 1e6),
            ]
            for a in shown
        ],
    )
    if "averaged-embeddings" in found:
        result = found["averaged-embeddings"]["result"]
        page.say(
            f"""Averaged embeddings: a model in the style of fastText on the same features, 100
            dimensions and a hierarchical softmax, learned word by word with a constant rate
            ({result["learning_rate"]:g}, the best of {len(result["rates"])} on the first tenth of
            the words). fastText itself learns in batch: it counts the classes first and lets its
            rate fall to zero at the end. The counts are given to the model here, an advantage; the
            falling rate has no place in a stream. It answers every {ANSWER_EVERY}th word only, and
            its time is not given because it is plain NumPy. Every tenth article of the text is
            left out, as in the other sections."""
        )
    if OURS in found and len(shown) > 1:
        page.say(_text_verdict(name, found))
    page.figure(
        f"one-against-some-{name}-{n_train}",
        f"Progressive error on {name}, in order",
        partial(draw_curves, found={a: found[a] for a in shown}),
    )


def _text_verdict(name: str, found: dict[str, Record]) -> str:
    errors = {a: r["result"]["progressive_error"] for a, r in found.items()}
    best = min((a for a in errors if a != OURS), key=lambda a: errors[a])
    judged = {a: found[a]["result"]["n_judged"] for a in (OURS, best)}
    wrong = {a: round(errors[a] * n) for a, n in judged.items()}
    test = n_minus_1_chi_squared(wrong[OURS], judged[OURS], wrong[best], judged[best])
    compared = "below" if errors[OURS] < errors[best] else "above"
    return (
        f"One-against-some is {compared} the best of the others on {name}: "
        f"{percent(errors[OURS], 2)}% against {percent(errors[best], 2)}% of {NAMES[best]} "
        f"({format_p(test.p_value)}, N-1 chi-squared)."
    )


def draw_bars(figure: Any, groups: dict[tuple[Any, ...], dict[tuple[Any, ...], Any]]) -> None:
    """Draw one group of bars per set."""
    axes = figure.add_subplot()
    for i, algorithm in enumerate(ALGORITHMS):
        found = [same.get((algorithm,)) for same in groups.values()]
        bars(axes, (i, len(ALGORITHMS)), found, "error", NAMES[algorithm])
    axes.set_xticks(range(len(groups)), [key[0] for key in groups])
    axes.set(ylabel="test error, %", ylim=(0, 100))
    figure.legend(loc="outside upper center", ncols=len(ALGORITHMS))


def draw_curves(figure: Any, found: dict[str, Record]) -> None:
    """Draw how the error so far went."""
    axes = figure.add_subplot()
    for i, (algorithm, record) in enumerate(found.items()):
        curve = record["result"]["curve"]
        axes.plot(
            curve["examples"],
            100 * np.array(curve["error"]),
            color=COLOURS[i],
            label=NAMES[algorithm],
        )
    axes.set(xscale="log", xlabel="words learned", ylabel="progressive error so far, %")
    axes.legend()
