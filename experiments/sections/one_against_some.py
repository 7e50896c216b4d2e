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
from experiments.studies.one_against_some import (
    ALGORITHMS,
    TEXT_ALGORITHMS,
)

HEADINGS = ("set", "training rows", "method", "test error", "recall", "train µs", "predict µs")
HEADINGS += ("evaluations", "MB")
TUNED_HEADINGS = ("set", "training rows", "settings", "held-out error", "test error", "recall")
TUNED_HEADINGS += ("train µs", "predict µs", "MB")
OURS = "one-against-some"
#: Errors on a text are shown after so many words.
MOMENTS = (100_000, 1_000_000, 2_000_000, 5_000_000)


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    kinds = group(records, "kind")
    if tested := kinds.get(("test",)):
        _sets(page, tested)
    if tuned := kinds.get(("tuned",)):
        _tuned(page, tuned, kinds.get(("probe",), []))
    for key, found in group(kinds.get(("progressive",), []), "set", "start").items():
        found.sort(key=lambda record: record["result"]["n_train"])
        _text(page, key[0], {r["unit"]["algorithm"]: r for r in found})  # of each the longest
        _settings(page, [r for r in kinds.get(("set",), []) if r["unit"]["set"] == key[0]])
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


def _tuned(page: Section, records: Sequence[Record], probes: Sequence[Record]) -> None:
    page.say("One-against-some tuned:")
    groups = by_set(records, "probes")
    page.table(TUNED_HEADINGS, [tuned_row(key[0], same) for key, same in groups.items()])
    tried = ", ".join(f"{len(same)} on {key[0]}" for key, same in by_set(probes).items())
    page.say(
        f"""The settings with the least error on a tenth of the training rows, held out ({tried}
        were tried, the defaults among them); they are then trained on all rows. What is not named
        is as it comes. Train: µs per example in all passes together."""
    )


def tuned_row(name: str, same: list[Record]) -> list[str]:
    """Return a line of the table of what was tuned."""
    result = same[0]["result"]

    def mean(figure: str) -> float:
        return float(np.mean(values(same, figure)))

    return [
        name,
        f"{result['n_train']:,}",
        ", ".join(f"{name} = {value}" for name, value in result["parameters"].items())
        or "the defaults",
        percent(result["validation_error"], 2),
        with_error(mean_and_error(values(same, "error")), digits=2),
        percent(mean("candidate_recall")),
        *(number(mean(f"{step}_microseconds")) for step in ("train", "predict")),
        number(mean("memory_bytes") / 1e6),
    ]


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
    lengths = {a: found[a]["result"]["n_train"] for a in shown}
    n_train = max(lengths.values())
    moments = [n for n in MOMENTS if n < n_train] + [n_train]
    page.say(
        f"""**{name}** in its own order, {n_train:,} words, each predicted just before it is
        learned. The progressive error after so many words:"""
    )
    page.table(
        ["method", *(f"{n:,}" for n in moments), "train µs", "MB"],
        [
            [
                NAMES[a],
                *(percent(error_after(n, found[a]), 2) for n in moments),
                number(found[a]["result"]["train_microseconds"]),
                number(found[a]["result"]["memory_bytes"] / 1e6),
            ]
            for a in shown
        ],
    )
    for a, n in lengths.items():
        if n < n_train:
            page.say(f"{NAMES[a]} learned {n:,} words: more take too much time or memory.")
    if "averaged-embeddings" in found:
        result = found["averaged-embeddings"]["result"]
        page.say(
            f"""Averaged embeddings: a model in the style of fastText on the same features, 100
            dimensions and a hierarchical softmax, learned word by word with a constant rate
            ({result["learning_rate"]:g}, in hindsight the best of {len(result["rates"])}). fastText
            itself learns in batch: it counts the classes first and lets its rate fall to zero at
            the end. The counts are given to the model here, an advantage as the choice of the rate
            is; the falling rate has no place in a stream. Its time is that of a plain C program.
            Every tenth article of the text is left out, as in the other sections."""
        )
    alike = {a: found[a] for a in shown if lengths[a] == n_train}
    if OURS in alike and len(alike) > 1:
        page.say(_text_verdict(name, alike))
    page.figure(
        f"one-against-some-{name}-{n_train}",
        f"Progressive error on {name}, in order",
        partial(draw_curves, found={a: found[a] for a in shown}),
    )


def _settings(page: Section, records: Sequence[Record]) -> None:
    """Say what came of a text with other settings."""
    said = [
        f"{NAMES[record['unit']['algorithm']]} with "
        + ", ".join(f"{name} = {value}" for name, value in record["unit"]["parameters"].items())
        + f": {percent(record['result']['progressive_error'], 2)}% of "
        f"{record['result']['n_train']:,} words, "
        f"{number(record['result']['train_microseconds'])} µs, "
        f"{number(record['result']['memory_bytes'] / 1e6)} MB"
        for record in sorted(records, key=lambda record: record["result"]["progressive_error"])
    ]
    if said:
        page.say(
            f"""With other settings: {"; ".join(said)}. The rate is between the best two
            (0.5 and 0.7) on words 12 to 15 million, which are not learned here; `min_gradient` is
            the Recall Tree's default, and 0, the paper's, in the table."""
        )


def error_after(n: int, record: Record) -> float | None:
    """Return the error over the first ``n`` words; None where there were fewer.

    It is read off the curve: between two of its points the wrong words are evenly spread.

    >>> curve = {"examples": [10, 20], "error": [0.8, 0.6]}
    >>> record = {"result": {"n_train": 20, "progressive_error": 0.6, "curve": curve}}
    >>> round(error_after(15, record), 4), error_after(20, record), error_after(21, record)
    (0.6667, 0.6, None)
    """
    result = record["result"]
    if n >= result["n_train"]:
        return result["progressive_error"] if n == result["n_train"] else None
    examples = np.array([0, *result["curve"]["examples"]])
    wrong = examples * np.array([0.0, *result["curve"]["error"]])
    return float(np.interp(n, examples, wrong)) / n


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
