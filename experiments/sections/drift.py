"""A stream that changes: the section."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from experiments.names import NAMES
from experiments.report.figures import COLOURS
from experiments.report.section import SIZE, Section, group, percent
from experiments.store import Record
from experiments.studies.drift import ALGORITHMS, HALF_LIVES

#: Recovered: the error is at most so many times that of a model that began at the change.
RECOVERED = 1.1
#: It is asked for after so large a part of the stream.
WITHIN = 0.1

Curves = dict[tuple[Any, ...], list[Record]]  # (algorithm, stream, half-life) -> a record per seed


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    page = Section()
    page.say(
        f"""The labels of the second half are permuted. *Restarted* is a model that knows nothing
        when the change comes; *undisturbed*, one whose labels do not change. Progressive error
        (each row is predicted just before it is learned), in the hundredths of the stream that end
        a twentieth, a tenth and a fifth of the stream after the change, and in the last one;
        recovered: after how much of the stream the error is, for two windows, at most
        {RECOVERED:g} times that of the restarted model."""
    )
    rows: list[list[str]] = []
    verdicts: list[str] = []
    drawings = []
    for (name, *_), found in group(records, *SIZE).items():
        curves = group(found, "algorithm", "stream", "half_life")
        n_train = found[0]["result"]["n_train"]
        for key in order_of(curves):
            rows.append([name, f"{n_train:,}", *row(key, curves)])
        verdicts += [verdict(name, algorithm, curves) for algorithm in ALGORITHMS]
        drawings.append((f"drift-{name}-{n_train}", name, curves))
    when = ("after 5%", "after 10%", "after 20%", "at the end", "recovered after")
    page.table(
        ["set", "rows", "method", "half-life", *when],
        rows,
    )
    for text in filter(None, verdicts):
        page.say(text)
    for file, name, curves in drawings:
        page.figure(
            file,
            f"Progressive error on {name}, whose labels are permuted half-way",
            partial(draw, curves=curves),
        )
    return page


def order_of(curves: Curves) -> list[tuple[Any, ...]]:
    """Return the keys in the order in which they are shown."""
    wanted = [
        (algorithm, stream, half_life)
        for algorithm in ALGORITHMS
        for stream in ("undisturbed", "restarted", "changed")
        for half_life in HALF_LIVES
    ]
    return [key for key in wanted if key in curves]


def window_error(found: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """Return where windows end, as shares of the stream, and the mean error in each."""
    result = found[0]["result"]
    errors = np.mean([record["result"]["window_error"] for record in found], axis=0)
    return np.array(result["ends"]) / result["n_train"], errors


def error_at(found: Sequence[Record], share: float) -> float:
    """Return the error in the window that ends at a share of the stream."""
    ends, errors = window_error(found)
    return float(errors[int(np.argmin(np.abs(ends - share)))])


def recovered_after(key: tuple[Any, ...], curves: Curves) -> float | None:
    """Return after how much of the stream the error is as low as if begun at the change."""
    restarted = curves.get((key[0], "restarted", None))
    if restarted is None:
        return None
    ends, hoped = window_error(restarted)
    all_ends, errors = window_error(curves[key])
    errors = errors[len(all_ends) - len(ends) :]
    good = errors <= RECOVERED * hoped
    for i in range(len(good) - 1):
        if good[i] and good[i + 1]:
            return float(ends[i] - 0.5)
    return None


def row(key: tuple[Any, ...], curves: Curves) -> list[str]:
    """Return a line of the table."""
    algorithm, stream, half_life = key
    found = curves[key]
    shown = "" if half_life is None else f"{half_life:g} of the stream"
    if stream != "changed":
        shown = stream
    elif half_life is None:
        shown = "none"
    when = recovered_after(key, curves) if stream == "changed" else None
    cells = [percent(error_at(found, 0.5 + after)) for after in (0.05, 0.1, 0.2, 0.5)]
    said = "" if stream != "changed" else "not" if when is None else f"{percent(when, 0)}%"
    return [NAMES[algorithm], shown, *cells, said]


def verdict(name: str, algorithm: str, curves: Curves) -> str:
    """Say whether a method recovers in time, and with which half-life it is best."""
    changed = {
        key: recovered_after(key, curves) for key in curves if key[:2] == (algorithm, "changed")
    }
    if not changed or (algorithm, "restarted", None) not in curves:
        return ""
    best = min(changed, key=lambda key: error_at(curves[key], 0.5 + WITHIN))
    hoped = error_at(curves[algorithm, "restarted", None], 0.5 + WITHIN)
    in_time = [key for key, when in changed.items() if when is not None and when <= WITHIN]
    half_life = "no decay" if best[2] is None else f"a half-life of {best[2]:g} of the stream"
    return (
        f"**{name}**, {NAMES[algorithm]}: a tenth of the stream after the change the error is "
        f"{percent(error_at(curves[best], 0.5 + WITHIN))}% with {half_life}, the best of those "
        f"tried, where a restarted model has {percent(hoped)}%. "
        + (
            f"It recovers within a tenth of the stream with {_half_lives(in_time)}."
            if in_time
            else "With none of those tried does it recover within a tenth of the stream."
        )
    )


def _half_lives(keys: Sequence[tuple[Any, ...]]) -> str:
    names = ["no decay" if key[2] is None else f"{key[2]:g}" for key in keys]
    return f"half-lives of {', '.join(names)}" if names != ["no decay"] else "no decay"


def draw(figure: Any, curves: Curves) -> None:
    """Draw a panel per method: the error in each window."""
    shown = [a for a in ALGORITHMS if any(key[0] == a for key in curves)]
    figure.set_size_inches(7.5, 2.6 * len(shown))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False).ravel()
    for axes, algorithm in zip(panels, shown, strict=True):
        for key in order_of(curves):
            if key[0] != algorithm:
                continue
            ends, errors = window_error(curves[key])
            _, stream, half_life = key
            if stream == "changed":
                i = HALF_LIVES.index(half_life)
                label = "no decay" if half_life is None else f"half-life {half_life:g}"
                look = {"color": COLOURS[i]}
            else:
                label, look = stream, {"color": "#777777"}
                look["linestyle"] = "--" if stream == "restarted" else ":"
            axes.plot(100 * ends, 100 * errors, label=label, **look)
        axes.set(title=NAMES[algorithm], ylabel="progressive error, %", ylim=(0, 102))
    panels[-1].set_xlabel("part of the stream learned, %")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
