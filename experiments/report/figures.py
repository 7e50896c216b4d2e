"""Figures: SVG that is the same every time and readable in print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from experiments.report.section import Draw

#: Colours that people who see few colours can tell apart (Okabe and Ito), one per method.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "recalltree",  # names inside the file do not depend on the moment
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.grid": True,
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


def look(i: int) -> dict[str, Any]:
    """Return colour and marker of the i-th line of a figure."""
    return {"color": COLOURS[i % len(COLOURS)], "marker": MARKERS[i % len(MARKERS)]}
