"""Time of merging models, by their size and number, and the memory that it takes.

Models of one-against-some with pairs at random are written to a folder, and merged from there in
new processes. A line is fitted: seconds = a + b * gigabytes read + c * gigabytes of the result.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from scipy.sparse import csr_array

from benchmarks import report
from recalltree import OneAgainstSomeClassifier
from recalltree._core import rank_lists

N_FEATURES, PER_CLASS = 50_000, 400
#: Bytes of a pair in a file, and of its entry in the histogram of its feature.
PAIR_BYTES, ENTRY_BYTES = 16, 12

MEASURE = """
import json, sys, time
import recalltree
import recalltree.merging

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

base, n_jobs, *models = sys.argv[1:]
recalltree.load(base).get_params()
before, wall, cpu = peak(), time.perf_counter(), time.process_time()
merged = recalltree.merge(models, base=base, n_jobs=int(n_jobs))
print(json.dumps({"wall_seconds": time.perf_counter() - wall,
                  "cpu_seconds": time.process_time() - cpu,
                  "peak_bytes": peak() - before,
                  "bytes": merged._to_model().n_bytes()}))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    add = parser.add_argument
    add("--megabytes", type=int, nargs="+", default=[10, 100, 500, 2000], help="sizes of a model")
    add("--models", type=int, nargs="+", default=[2, 8], help="how many are merged")
    add("--n-jobs", type=int, default=1, help="threads")
    add("--repeats", type=int, default=3, help="repeats; the best is kept")
    add("--most-gigabytes", type=float, default=8, help="leave out what reads more than that")
    add("--json", type=Path, help="write the results to this file")


def random_model(n_bytes: int, seed: int, n_examples: int) -> OneAgainstSomeClassifier:
    """Return a model of about this many bytes: its pairs are random."""
    rng = np.random.default_rng(seed)
    n_classes = max(1, n_bytes // (PER_CLASS * (PAIR_BYTES + ENTRY_BYTES)))
    clf = OneAgainstSomeClassifier(max_labels=2**30, random_state=0)
    clf.fit(csr_array(([1.0], ([0], [0])), shape=(1, N_FEATURES)), [0])
    small = clf._to_model()
    width = N_FEATURES // PER_CLASS
    keys = np.arange(PER_CLASS, dtype=np.uint32) * width
    keys = keys + rng.integers(width, size=(n_classes, PER_CLASS), dtype=np.uint32)
    keys = keys.ravel()
    counts = rng.integers(1, 5, size=len(keys)).astype(np.float32)
    weights = rng.random(len(keys), dtype=np.float32) - np.float32(0.5)
    offsets = np.arange(n_classes + 1, dtype=np.uint64) * np.uint64(PER_CLASS)
    features = np.arange(N_FEATURES, dtype=np.uint32)
    lists = rank_lists(offsets, keys, counts, weights, features, 2**30)
    ones = np.ones(n_classes, dtype=np.float32)
    ones_of_keys = np.ones(N_FEATURES, dtype=np.float32)
    state = {
        **small.state,
        "pairs.offsets": offsets,
        "pairs.keys": keys,
        "pairs.counts": counts,
        "pairs.weights": weights,
        "pairs.accumulators": np.abs(weights),
        "keys.offsets": lists[0],
        "keys.labels": lists[1],
        "keys.roots": lists[2],
        "keys.predictors": lists[3],
        "keys.features": features,
        "keys.examples": ones_of_keys.astype(np.float64),
        "keys.weights": ones_of_keys,
        "keys.accumulators": ones_of_keys,
        "classes.seen": np.ones(n_classes, dtype=np.uint32),
        "classes.sums": np.ones((n_classes, 2)),
        "classes.bias": ones,
        "classes.bias_accumulators": ones,
        "scale.features": ones_of_keys,
        "n_examples": np.array([n_examples], dtype=np.uint64),
        "counted.n": np.array([n_examples], dtype=np.uint64),
    }
    clf._take_model(replace(small, state=state, classes=np.arange(n_classes)), None, mapped=True)
    return clf


def measure(folder: Path, megabytes: int, n_models: int, n_jobs: int, repeats: int) -> dict:
    """Merge models of one size; return the best of some times."""
    paths = [folder / f"{i}.rt" for i in range(n_models + 1)]
    model = random_model(megabytes * 1_000_000, 0, 2**30)
    model.save(paths[0])
    for path in paths[1:]:
        path.unlink(missing_ok=True)
        os.link(paths[0], path)
    command = [sys.executable, "-c", MEASURE, str(paths[0]), str(n_jobs), *map(str, paths[1:])]
    found = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(repeats)
    ]
    size = paths[0].stat().st_size
    best = min(found, key=lambda one: one["cpu_seconds"])
    return {"model_bytes": size, "read_bytes": size * (n_models + 1), "n_models": n_models, **best}


def fit(results: list[dict]) -> tuple[float, float, float]:
    """Return a, b and c of the line, in seconds and seconds per gigabyte."""
    A = [[1.0, one["read_bytes"] / 1e9, one["bytes"] / 1e9] for one in results]
    weights = 1 / np.array([one["cpu_seconds"] for one in results])  # relative errors count
    y = np.ones(len(results))
    found, *_ = np.linalg.lstsq(np.array(A) * weights[:, np.newaxis], y, rcond=None)
    return tuple(found.tolist())


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all sizes and numbers."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for megabytes in options.megabytes:
            for n_models in options.models:
                if megabytes * (n_models + 1) > 1000 * options.most_gigabytes:
                    continue
                found = measure(Path(folder), megabytes, n_models, options.n_jobs, options.repeats)
                results.append(found)
                console.print(
                    f"{n_models} models and a base of {found['model_bytes'] / 1e6:,.0f} MB: "
                    f"{found['cpu_seconds']:.2f} s of CPU, {found['wall_seconds']:.2f} s, "
                    f"{found['peak_bytes'] / found['model_bytes']:.2f} models of memory"
                )
    a, b, c = fit(results)
    console.print(f"seconds of CPU = {a:.3f} + {b:.2f} per GB read + {c:.2f} per GB of the result")
    content = {"machine": report.machine(), "n_jobs": options.n_jobs, "results": results}
    content["fit"] = {"seconds": a, "per_gb_read": b, "per_gb_of_the_result": c}
    if options.json is not None:
        report.write_json(options.json, content)
    return content
