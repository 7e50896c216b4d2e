"""Draw README's picture, error against time per prediction, from stored results.

One panel for text (webdirectory), one for embeddings (passages). The SVG has the colours of the
reader's page, light or dark.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from rich.console import Console

from benchmarks.stored import OURS
from benchmarks.tables import SETS

PICTURE = Path(__file__).parents[1] / "docs" / "results" / "error-and-time.svg"

# Size of a panel's axes and where they begin, in pixels.
WIDTH, HEIGHT, LEFT, TOP, GAP = 330, 250, 52, 44, 84

STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 13px } .tick { fill: #656d76; font-size: 11px }
.axis { stroke: #8c959f } .grid { stroke: #d0d7de; stroke-width: .6 }
.peer { fill: #8c959f } .ours { fill: #0969da } text.ours { font-weight: 600 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .tick { fill: #8d96a0 } .axis { stroke: #6e7681 } .grid { stroke: #30363d }
  .peer { fill: #8d96a0 } .ours { fill: #58a6ff }
}
"""


@dataclass(frozen=True)
class Point:
    """A program's error in per cent and time to predict a row, as a multiple of ours."""

    name: str
    error: float
    time: float
    ours: bool = False
    label_left: bool = False


@dataclass(frozen=True)
class Panel:
    """A data set: its points and what the axes show."""

    title: str
    points: Sequence[Point]
    times: tuple[float, float]
    errors: tuple[float, float]
    error_step: float

    def x(self, time: float) -> float:
        low, high = map(math.log, self.times)
        return WIDTH * (math.log(time) - low) / (high - low)

    def y(self, error: float) -> float:
        low, high = self.errors
        return HEIGHT * (high - error) / (high - low)


#: Names on the picture, where they are shorter than in the tables; those left of their points.
SHORT = {
    "class means, all compared (BLAS)": "class means, BLAS",
    "hnswlib over class means, ef = 24": "hnswlib, ef = 24",
    "hnswlib over class means, ef = 100": "hnswlib, ef = 100",
    "faiss over class means, HNSW": "faiss HNSW",
    "full softmax in PyTorch": "full softmax",
    "Vowpal Wabbit, `--recall_tree`": "Vowpal Wabbit's Recall Tree",
}
ON_TEXT = (OURS, "omikuji", "PECOS", "napkinXC", "fastText", "Vowpal Wabbit, `--recall_tree`")
ON_EMBEDDINGS = (OURS, *SHORT)
LEFT_OF_POINT = frozenset({"omikuji", "class means, BLAS", "faiss HNSW"})


def points(name: str, shown: Sequence[str]) -> list[Point]:
    """Return the methods of a set that are shown, as in the tables."""
    chosen = [method for method in SETS[name].methods() if method.name in shown]
    return [
        Point(
            SHORT.get(method.name, method.name),
            method.error,
            method.times_predict,
            ours=method.is_ours,
            label_left=SHORT.get(method.name, method.name) in LEFT_OF_POINT,
        )
        for method in chosen
    ]


def text_panel() -> Panel:
    found = points("webdirectory", ON_TEXT)
    return Panel("Text, 11,156 classes: test error", found, (0.5, 200), (55, 100), 10)


def embeddings_panel() -> Panel:
    found = points("passages", ON_EMBEDDINGS)
    return Panel("Embeddings, 17,000 classes: test error", found, (0.5, 20), (49, 52), 1)


def ticks_of_time(panel: Panel) -> list[int]:
    low, high = panel.times
    ticks = (1, 2, 5, 10, 20, 50, 100) if high < 50 * low else (1, 10, 100)
    return [tick for tick in ticks if low <= tick <= high]


def draw_panel(panel: Panel, left: float) -> list[str]:
    """Return the elements of a panel whose axes begin at ``left``."""
    out = [f'<g transform="translate({left:.0f},{TOP})">']
    out.append(f'<text class="title" x="0" y="-20">{escape(panel.title)}</text>')
    error = panel.errors[0]
    while error <= panel.errors[1]:
        y = panel.y(error)
        out.append(f'<line class="grid" x1="0" x2="{WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>')
        out.append(f'<text class="tick" x="-8" y="{y + 4:.1f}" text-anchor="end">{error:g}%</text>')
        error += panel.error_step
    for time in ticks_of_time(panel):
        x = panel.x(time)
        out.append(f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{HEIGHT}"/>')
        out.append(
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{time}x</text>'
        )
    out.append(f'<path class="axis" d="M0 0V{HEIGHT}H{WIDTH}" fill="none"/>')
    for point in panel.points:
        x, y = panel.x(point.time), panel.y(point.error)
        kind = "ours" if point.ours else "peer"
        radius = 6 if point.ours else 4.5
        shift, anchor = (-9, "end") if point.label_left else (9, "start")
        out.append(f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>')
        out.append(
            f'<text class="{kind if point.ours else ""}" x="{x + shift:.1f}" y="{y + 4:.1f}" '
            f'text-anchor="{anchor}">{escape(point.name)}</text>'
        )
    out.append(
        f'<text class="tick" x="{WIDTH / 2}" y="{HEIGHT + 34}" text-anchor="middle">'
        f"time to predict a row (1x: {OURS})</text></g>"
    )
    return out


def draw(panels: Sequence[Panel]) -> str:
    """Return the picture as SVG."""
    width = LEFT + len(panels) * (WIDTH + GAP)
    height = TOP + HEIGHT + 44
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        "<title>Test error against time per prediction</title>",
        f"<style>{STYLE}</style>",
    ]
    for position, panel in enumerate(panels):
        lines += draw_panel(panel, LEFT + position * (WIDTH + GAP))
    return "\n".join([*lines, "</svg>", ""])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, default=PICTURE, metavar="FILE")


def run(options: argparse.Namespace, console: Console) -> None:
    options.output.write_text(draw([text_panel(), embeddings_panel()]))
    console.log(f"wrote {options.output}")
