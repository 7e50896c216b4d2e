"""Running the experiments in tests: tiny budgets, folders of their own."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # `experiments` is run from the repository and never installed

from benchmarks import vowpal  # noqa: E402
from experiments import __main__ as command_line  # noqa: E402

#: A short run of every experiment: name -> options.
SHORT_RUNS = {
    "table2": "--sets generated-dense generated-sparse --rows 300 --test-rows 100 --seeds 1 "
    "--probes 2 --passes 2 --full-updates 5e4",
    "online": "--sets standard-library --rows 1500 --test-rows 100 --seeds 2",
    "path-features": "--sets generated-dense --rows 300 --test-rows 100 --seeds 1 --passes 1",
    "bernstein": "--sets generated-sparse --rows 500 --test-rows 200 --max-classes 100 --seeds 2",
    "cost": "--sets generated-sparse gaussians --rows 500 --max-classes 1000 --full-updates 3e5",
    "theory": "--sets generated-dense --rows 300 --test-rows 100 --seeds 1",
    "ablation": "--sets generated-dense standard-library --rows 300 --test-rows 100 --seeds 1",
    "choices": "--sets generated-dense --rows 1000 --test-rows 0 --max-classes 5",
    "one-against-some": "--sets generated-dense generated-sparse standard-library --rows 400 "
    "--test-rows 100 --seeds 1 --probes 2 --full-updates 5e4",
    "late-classes": "--sets generated-dense --rows 600 --test-rows 500 --seeds 2",
    "drift": "--sets generated-dense --rows 600 --seeds 1",
    "memory-budget": "--sets generated-sparse --rows 1500 --test-rows 200 --seeds 1",
    "sharding": "--sets generated-dense generated-sparse --rows 700 --test-rows 100 --seeds 1 "
    "--variants 1x1 2x1 8x3 8x10-mass",
    "several-labels": "--sets topics --rows 700 --test-rows 200 --seeds 1",
    "scaling": "--sets generated-sparse documents --rows 600 --max-classes 1000",
    "cells-ablation": "--sets generated-dense --rows 250 --test-rows 50 --seeds 1 --variants "
    "keys re-placement copies AdaGrad",
    "one-against-some-ablation": "--sets generated-dense generated-sparse --rows 250 "
    "--test-rows 50 --seeds 1",
}
#: Vowpal Wabbit is not needed for the tests; where it is there, it is tested.
if vowpal.is_available():
    SHORT_RUNS["vowpal"] = "--sets generated-dense --rows 500 --passes 2"


def run(name: str, folder: Path, *more: str) -> None:
    """Run an experiment as the command line does, with results and cache in a folder."""
    places = ["--cache-dir", str(folder / "cache")]
    options = [*SHORT_RUNS[name].split(), *places, *more]
    command_line.main(["--results", str(folder / "results"), "run", name, *options])
