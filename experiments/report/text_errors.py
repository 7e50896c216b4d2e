"""Progressive errors on a text in its own order: a table, curves, and which method is best."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from benchmarks.report import number

from experiments.methods import NAMES
from experiments.report.figures import COLOURS
from experiments.report.section import Section, percent
from experiments.statistics import format_p, n_minus_1_chi_squared
from experiments.store import Record

OURS = "one-against-some"
#: Errors are shown after this many words.
MOMENTS = (100_000, 1_000_000, 2_000_000, 5_000_000)


def show_text(page: Section, name: str, found: dict[str, Record]) -> None:
    """Show the longest run of each method."""
    lengths = {a: found[a]["result"]["n_train"] for a in found}
    n_train = max(lengths.values())
    moments = [n for n in MOMENTS if n < n_train] + [n_train]
    page.say(
        f"""**{name}** in its own order, {n_train:,} words, each predicted just before it is
        learned. Progressive error after this many words:"""
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
            for a in found
        ],
    )
    page.figure(
        f"one-against-some-{name}-{n_train}",
        f"Progressive error on {name}, in order",
        partial(draw_curves, found=found),
    )
    for a, n in lengths.items():
        if n < n_train:
            page.say(
                f"{NAMES[a]} learned only {n:,} words: more would take too much time or memory."
            )
    if "averaged-embeddings" in found:
        result = found["averaged-embeddings"]["result"]
        page.say(
            f"""Averaged embeddings: a model like fastText's on the same features, with 100
            dimensions and a hierarchical softmax, learned word by word at a constant rate
            ({result["learning_rate"]:g}, in hindsight the best of {len(result["rates"])}). fastText
            itself learns in batch: it counts the classes first and lowers its rate to zero. Here
            the model is given the counts, which is an advantage, as is the choice of the rate. Its
            time is that of a plain C program. Every tenth article is left out, as in the other
            sections."""
        )
    alike = {a: found[a] for a in found if lengths[a] == n_train}
    if OURS in alike and len(alike) > 1:
        page.say(_verdict(page, name, alike))


def _verdict(page: Section, name: str, found: dict[str, Record]) -> str:
    errors = {a: r["result"]["progressive_error"] for a, r in found.items()}
    best = min((a for a in errors if a != OURS), key=lambda a: errors[a])
    judged = {a: found[a]["result"]["n_judged"] for a in (OURS, best)}
    wrong = {a: round(errors[a] * n) for a, n in judged.items()}
    test = n_minus_1_chi_squared(wrong[OURS], judged[OURS], wrong[best], judged[best])
    page.answer(
        "Does it predict the next word better, the text in its own order?",
        "yes" if errors[OURS] < errors[best] and test.p_value < 0.05 else "no",
        f"{name}: {percent(errors[OURS], 2)}% against {percent(errors[best], 2)}% ({NAMES[best]})",
    )
    compared = "below" if errors[OURS] < errors[best] else "above"
    return (
        f"One-against-some is {compared} the best other method on {name}: "
        f"{percent(errors[OURS], 2)}% against {percent(errors[best], 2)}% with {NAMES[best]} "
        f"({format_p(test.p_value)}, N-1 chi-squared)."
    )


def show_settings(page: Section, records: Sequence[Record]) -> None:
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
            f"""With other settings: {"; ".join(said)}. The rate was chosen on words 12 to 15
            million, which are not learned here. `min_gradient` = 0.1 is the Recall Tree's default;
            the table has the paper's, 0."""
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
