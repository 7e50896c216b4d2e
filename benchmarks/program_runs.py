"""Runs of programs beside ours: one program, weighting and setting in a process of its own."""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from benchmarks import report
from benchmarks.measure import Times
from benchmarks.measure import run as run_command
from benchmarks.peer_programs import DEFAULTS, Peer

OURS = "recalltree"
LINE = ("set", "program", "weighting", "setting")
HELD_OUT_EVERY = 10  # of the training rows; settings are compared on them

Column = tuple[str, Callable[[dict[str, Any]], str]]

TIMES_AND_MEMORY: list[Column] = [
    ("train\nµs", lambda result: report.number(result["train"]["cpu"])),
    ("predict\nµs", lambda result: report.number(result["predict"]["cpu"])),
    ("peak\nMB", lambda result: f"{result['peak_rss'] / 1e6:.0f}"),
]


def require_installed(
    chosen: Sequence[str], programs: Mapping[str, type[Peer]], extras: str
) -> None:
    """Raise ValueError that names the programs that are not installed."""
    missing = [name for name in chosen if name in programs and not programs[name].is_available()]
    if missing:
        raise ValueError(
            f"{', '.join(missing)} not installed: pip install 'recalltree[{extras}]', or choose "
            "others with --programs"
        )


def hold_out(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are learned and those that are held out: every tenth."""
    is_held_out = np.arange(n_rows) % HELD_OUT_EVERY == 0
    return np.flatnonzero(~is_held_out), np.flatnonzero(is_held_out)


def in_child(
    module: str,
    arrays: Path,
    program: str,
    weighting: str,
    setting: str,
    *more: str,
    cpu_limit: float | None = None,
) -> dict[str, Any]:
    """Run ``module`` on the arrays in a child process and return what it found."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        arguments = ["--arrays", arrays.resolve(), "--program", program, "--weighting", weighting]
        arguments += ["--setting", setting, "--output", output, *more]
        run_command([sys.executable, "-m", module, *arguments], cpu_limit)
        found: dict[str, Any] = json.loads(output.read_text())
    return {**found, "train": Times(**found["train"]), "predict": Times(**found["predict"])}


def child_parser(description: str | None) -> argparse.ArgumentParser:
    """Return a parser of the arguments that :func:`in_child` passes on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--arrays", type=Path, required=True)
    parser.add_argument("--program", required=True)
    parser.add_argument("--weighting", required=True)
    parser.add_argument("--setting", default=DEFAULTS)
    parser.add_argument("--output", type=Path, required=True)
    return parser


def result_of(
    line: Sequence[str], n_train: int, n_test: int, found: dict[str, Any]
) -> dict[str, Any]:
    """Return the report's entry of a run: its line, its rows, and ``found`` per row."""
    return {
        **dict(zip(LINE, line, strict=True)),
        "n_train": n_train,
        "n_test": n_test,
        **found,
        "train": found["train"].per_example(n_train),
        "predict": found["predict"].per_example(n_test),
    }


def table(results: Sequence[dict[str, Any]], columns: Sequence[Column]) -> Table:
    """Return one line per set, program, weighting and setting.

    A result whose program was ended has a ``note`` instead of values.
    """
    shown = Table()
    for heading in LINE:
        shown.add_column(heading, no_wrap=True)
    for heading, _ in columns:
        shown.add_column(heading, justify="right")
    for result in results:
        line = [result[name] for name in LINE]
        if "note" in result:
            shown.add_row(*line, result["note"])
        else:
            shown.add_row(*line, *(cell(result) for _, cell in columns))
    return shown
