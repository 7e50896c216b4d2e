"""Figures: SVG that is the same every time and readable in print."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from experiments.report.section import Draw, values
from experiments.statistics import mean_and_error
from experiments.store import Record

#: Colours that people who see few colours can tell apart (Okabe and Ito), one per method.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
#: In print without colours, bars are told apart by these.
HATCHES = ("", "///", "...", "xxx", "---", "+++", "ooo")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recalltree",  # names inside the file do not depend on the moment
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
    "axes.axisbelow": True,
    "hatch.linewidth": 0.5,
    "grid.linewidth": 0.4,
    "grid.color": "#cccccc",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4,
}


def write_figure(path: Path, draw: Draw) -> None:
    """Draw into an SVG file."""
    import matplotlib
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context({**matplotlib.rcParamsDefault, **STYLE}):
        figure = Figure(figsize=(6.0, 3.6), layout="constrained")
        draw(figure)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})
    # Trailing spaces are of no use, and trouble in version control.
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(line.rstrip() for line in lines) + "\n", encoding="utf-8")


def means_and_errors(
    found: Sequence[Sequence[Record] | None], name: str, scale: float = 1.0
) -> tuple[list[float], list[float]]:
    """Return the mean over seeds of each group of records, and its standard error; 0 of one seed.

    A group without records has no mean: a gap in the figure.
    """
    summed = [mean_and_error(values(same, name)) if same else (np.nan, None) for same in found]
    return [scale * mean for mean, _ in summed], [scale * (error or 0.0) for _, error in summed]


def line(
    axes: Any, x: Sequence[float], found: Sequence[Sequence[Record]], name: str, **style: Any
) -> None:
    """Draw a line through the means of groups of records, with error bars; shares in per cent."""
    means, errors = means_and_errors(found, name, style.pop("scale", 100.0))
    axes.errorbar(x, means, yerr=errors, capsize=2, **style)


def bars(
    axes: Any,
    place: tuple[int, int],
    found: Sequence[Sequence[Record] | None],
    name: str,
    label: str,
    scale: float = 100.0,
) -> np.ndarray:
    """Draw one bar per group of records, the i-th of n side by side; return where they stand."""
    i, n = place
    means, errors = means_and_errors(found, name, scale)
    width = 0.8 / n
    x = np.arange(len(means)) + (i - (n - 1) / 2) * width
    print_style = {"color": COLOURS[i], "hatch": HATCHES[i], "edgecolor": "white", "linewidth": 0}
    axes.bar(x, means, width, yerr=errors, label=label, **print_style)
    axes.grid(axis="x", visible=False)
    return x


def look(i: int) -> dict[str, Any]:
    """Return colour and marker of the i-th line of a figure."""
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
