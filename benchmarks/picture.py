"""Draw README's picture, error against time per prediction, from stored results.

One panel for text (webdirectory), one for embeddings (passages). The SVG has the colours of the
reader's page, light or dark.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console

RESULTS = Path(__file__).parent / "results"
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
    """A program's error in per cent and microseconds to predict a row."""

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


def load(name: str) -> list[dict[str, Any]]:
    return json.loads((RESULTS / f"{name}.json").read_text())["results"]


def text_panel() -> Panel:
    """Return the programs of the text, each with its defaults and best weighting."""
    names = {"pecos": "PECOS", "omikuji": "omikuji", "napkinxc": "napkinXC", "fasttext": "fastText"}
    best: dict[str, dict[str, Any]] = {}
    for result in load("peers-webdirectory"):
        kept = best.setdefault(result["program"], result)
        if result["error"] < kept["error"]:
            best[result["program"]] = result
    points = [
        Point(
            names.get(program, "OneAgainstSomeClassifier"),
            100 * result["error"],
            result["predict"]["cpu"],
            ours=program == "recalltree",
            label_left=program == "omikuji",
        )
        for program, result in best.items()
    ]
    return Panel("Text, 11,156 classes: test error", points, (10, 4000), (55, 100), 10)


def embeddings_panel() -> Panel:
    """Return the programs of the embeddings, each with its better weighting."""
    names = {
        "recalltree": "OneAgainstSomeClassifier",
        "class means, BLAS": "class means, BLAS",
        "hnswlib, means, ef=24": "hnswlib, ef = 24",
        "hnswlib, means, ef=100": "hnswlib, ef = 100",
        "faiss HNSW, means": "faiss HNSW",
        "full softmax": "full softmax",
    }
    best: dict[str, dict[str, Any]] = {}
    for result in load("dense") + load("dense-softmax"):
        program = result["program"]
        if result["set"] == "passages" and program in names:
            kept = best.setdefault(program, result)
            if result["error"] < kept["error"]:
                best[program] = result
    points = [
        Point(
            names[program],
            100 * result["error"],
            result["answers"]["1"]["times"]["cpu"],
            ours=program == "recalltree",
            label_left=program in ("class means, BLAS", "faiss HNSW, means"),
        )
        for program, result in best.items()
    ]
    return Panel("Embeddings, 17,000 classes: test error", points, (10, 400), (49, 52), 1)


def ticks_of_time(panel: Panel) -> list[int]:
    low, high = panel.times
    return [10**power for power in range(5) if low <= 10**power <= high]


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
            f'<text class="tick" x="{x:.1f}" y="{HEIGHT + 16}" text-anchor="middle">{time:,}</text>'
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
        "microseconds to predict a row, one thread</text></g>"
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
