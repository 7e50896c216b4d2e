"""How far one-against-some is from the limits of memory: what an example touches, and its time.

The core counts what it does; from that follows how much an example touches: so many bytes in
sequence and so many cache lines at places of their own. Over the speed of memory, measured in the
same run, this is the time that memory alone would take if nothing else took any.

A line counts once in an example, whether it is read or also written, though lines that look-ups
share count for each of them. Not counted is what stays in the nearest caches: the work space of a
thread and the 8 bytes of every class by which candidates are ranked; nor, where trees vote, in
training, the table of the leaves that a class has reached.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import scipy.sparse as sp
from rich.console import Console
from rich.table import Table

from benchmarks import datasets, ours, report, study
from benchmarks.measure import best
from benchmarks.memory_speed import MemorySpeed

SETS = ("webdirectory", "glyphs")
PHASES = ("train", "predict")
NUMBER_BYTES = 4
FEATURE_ENTRY_BYTES, NODE_ENTRY_BYTES = 12, 8  # of the histograms of features, of nodes


@dataclass(frozen=True)
class Touched:
    """Memory that one example touches on average."""

    bytes_in_sequence: float
    lines_at_random: float

    @classmethod
    def by_features(cls, work: dict[str, float], n_keys: float) -> Touched:
        """Features vote, for rows with this many of them that are not zero.

        At random are the record of a key, the first line of its histogram, the record of a
        candidate, that of its table and the tags in it, and what it knows of a key that it has met.
        """
        row = n_keys * 2 * NUMBER_BYTES
        return cls(
            row + work["histogram_touches"] * FEATURE_ENTRY_BYTES,
            2 * n_keys + 3 * work["predictor_evaluations"] + work["pairs_found"],
        )

    @classmethod
    def by_trees(cls, work: dict[str, float], n_features: int, n_nodes: int) -> Touched:
        """Trees vote, this many nodes of them, for dense rows.

        Rows of weights are read in sequence. At random are their first lines and those of their
        records, and as much of the nodes and of their histograms.
        """
        rows = work["router_evaluations"] + work["predictor_evaluations"]
        return cls(
            (1 + rows) * n_features * NUMBER_BYTES + work["histogram_touches"] * NODE_ENTRY_BYTES,
            2 * rows + work["router_evaluations"] + 2 * n_nodes,
        )

    def limits(self, speed: MemorySpeed, microseconds: float) -> dict[str, float]:
        """Return microseconds that memory of this speed takes, and what the example takes of it.

        ``one_by_one`` would be the time at random if every line had to wait for the one before it.
        """
        sequence = self.bytes_in_sequence / speed.gb_per_second / 1e3
        random = self.lines_at_random * speed.line / 1e3
        return {
            "sequence": sequence,
            "random": random,
            "one_by_one": self.lines_at_random * speed.latency / 1e3,
            "ratio": microseconds / (sequence + random),
        }


def touched(work: dict[str, float], X: datasets.Rows, parameters: dict[str, Any]) -> Touched:
    """Return what an example of X touches, by the work that was counted for one."""
    if sp.issparse(X):
        return Touched.by_features(work, X.nnz / X.shape[0])
    return Touched.by_trees(work, X.shape[1], 2 * parameters["n_trees"])


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--repeats", type=int, default=5, help="repeats; the best is kept")
    add("--large-megabytes", type=int, default=512, help="of an array far larger than the caches")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all chosen sets and the memory of the machine, and print a table."""
    large = MemorySpeed.measure(options.large_megabytes * 2**20, options.repeats)
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, SETS):
        results += measure(dataset, options.cache_dir, options.repeats, large, console)
        content = study.publish(
            options,
            results,
            time_unit="microseconds per example: CPU time, best of the repeats",
            ratio="time / (time of memory in sequence + time of memory at random)",
        )
    Console(width=140).print(table(results))
    return content


def measure(
    dataset: datasets.Dataset, cache_dir: Path, repeats: int, large: MemorySpeed, console: Console
) -> list[dict[str, Any]]:
    """Return what training and prediction take on one set."""
    arrays = datasets.arrays_path(dataset, cache_dir)
    found = []
    for repeat in range(repeats):
        console.log(f"{dataset.name}: {repeat + 1} of {repeats}")
        found.append(ours.measure(arrays, "one-against-some"))
    model = MemorySpeed.measure(found[0].memory_bytes, repeats)
    rows = {"train": dataset.X_train, "predict": dataset.X_test}
    results = []
    for phase in PHASES:
        n_examples = rows[phase].shape[0]
        time = best(getattr(f, phase) for f in found).per_example(n_examples)["cpu"]
        work = {name: count / n_examples for name, count in found[0].work[phase].items()}
        example = touched(work, rows[phase], found[0].parameters)
        results.append(
            {
                "set": dataset.name,
                "phase": phase,
                "n_examples": n_examples,
                "time": time,
                "work": work,
                **asdict(example),
                "memory": {
                    array: {**asdict(speed), **example.limits(speed, time)}
                    for array, speed in (("model", model), ("large", large))
                },
            }
        )
    return results


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return two lines per set and phase: for an array as large as the model, and a larger one."""
    shown = Table(
        caption="Per example. The limit is the time of the bytes in sequence and that of the lines "
        "at random, together; ratio: the time over it.",
        caption_justify="left",
    )
    for heading in ("set", "phase", "array"):
        shown.add_column(heading)
    headings = ("µs", "KB in\nsequence", "lines at\nrandom", "GB/s", "ns per\nline", "latency\nns")
    for heading in (*headings, "sequence\nµs", "random\nµs", "one by\none µs", "ratio"):
        shown.add_column(heading, justify="right")
    for result in results:
        for memory in result["memory"].values():
            figures = (
                result["time"],
                result["bytes_in_sequence"] / 1e3,
                result["lines_at_random"],
                *(memory[name] for name in ("gb_per_second", "line", "latency")),
                *(memory[name] for name in ("sequence", "random", "one_by_one", "ratio")),
            )
            shown.add_row(
                result["set"],
                result["phase"],
                f"{memory['array_bytes'] / 1e6:.0f} MB",
                *map(report.number, figures),
            )
    return shown
