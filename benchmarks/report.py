"""Reports: a table for people, and a JSON document with the circumstances for everything else."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

PACKAGES = (
    "recalltree",
    "vowpalwabbit",
    "libpecos",
    "omikuji",
    "napkinxc",
    "fasttext-wheel",
    "hnswlib",
    "faiss-cpu",
    "torch",
    "numpy",
    "scipy",
    "scikit-learn",
)
UNITS = (
    "µs per example: CPU time, user and system, best of the repeats. Vowpal Wabbit's are net of "
    "starting, loading the model and reading the cache; (raw) is the whole command. Ratios are of "
    "the net times. Memory is the peak of the process."
)


def machine() -> dict[str, Any]:
    """Describe the machine: processor, cores, memory, system, instruction set in use."""
    described: dict[str, Any] = {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": f"{platform.system()} {platform.machine()}",
    }
    try:
        from recalltree import simd
    except ImportError:
        return described
    return {**described, "simd": simd()}


def processor(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Return the processor's name, as exactly as the system tells."""
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that matter."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def write_json(path: Path, content: dict[str, Any]) -> None:
    """Write the report; a partial file is never left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(content, indent=2) + "\n")
    partial.replace(path)


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set, algorithm and program."""
    from rich.table import Table

    shown = Table(caption=UNITS, caption_justify="left")
    for heading in ("set", "algorithm", "program"):
        shown.add_column(heading)
    headings = ("error %", "train µs", "(raw)", "ratio", "predict µs", "(raw)", "ratio", "peak MB")
    for heading in (*headings, "model MB", "recall %"):
        shown.add_column(heading, justify="right")
    for result in results:
        for program in ("vowpal", "recalltree"):
            if result[program] is not None:
                shown.add_row(*cells(result, program))
        shown.add_section()
    return shown


def cells(result: dict[str, Any], program: str) -> list[str]:
    """Return the cells of one line of the table."""
    measured, ratios = result[program], result["ratios"]
    line = [result["set"], result["algorithm"], program, f"{100 * measured['error']:.1f}"]
    for phase in ("train", "predict"):
        if program == "vowpal":
            line += [number(measured[phase][part]["cpu"]) for part in ("net", "raw")] + [""]
        else:
            line += [number(measured[phase]["cpu"]), ""]
            line += [f"{number(ratios[phase]['cpu'])}x" if ratios else ""]
    line.append(f"{measured['peak_rss'] / 1e6:.0f}")
    model, recall = measured.get("memory_bytes"), measured.get("candidate_recall")
    line.append("" if model is None else f"{model / 1e6:.1f}")
    line.append("" if recall is None else f"{100 * recall:.1f}")
    return line


def number(value: float | None) -> str:
    """Return three significant digits, thousands grouped.

    >>> number(0.01234), number(4.5678), number(125.4), number(1680.2), number(None)
    ('0.0123', '4.57', '125', '1,680', '?')
    """
    if value is None:
        return "?"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def print_table(
    results: Sequence[dict[str, Any]], skipped: Sequence[str] = (), console: Console | None = None
) -> None:
    """Print the table and what was left out."""
    from rich.console import Console

    console = console or Console()
    if not console.is_terminal:
        console.width = max(console.width, 160)
    console.print(table(results))
    for note in skipped:
        console.print(f"left out: {note}")
