"""Routers that learn with and without the example in the share of the side it would go to.

Figure 2b of the paper weights the entropy of a child by the examples that the child has, which
leaves out the one that is being routed. The package counts it. Only the NumPy reference can be
given the figure's rule, so that both are measured with it, on some of a set's classes.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from benchmarks import datasets, study
from benchmarks.choices import CHOICES
from recalltree.reference import RecallTreeReference


class FigureShares(RecallTreeReference):
    """The reference with the shares of figure 2b, line by line."""

    def entropy_difference(
        self, left: Any, right: Any, total: float, y: int, weight: float
    ) -> float:
        share_left, share_right = left.total / total, right.total / total
        entropy_if_left = share_left * left.entropy_with(y, weight) + share_right * right.entropy()
        entropy_if_right = share_left * left.entropy() + share_right * right.entropy_with(y, weight)
        return entropy_if_left - entropy_if_right


RULES = {"example counted": RecallTreeReference, "figure 2b": FigureShares}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder that holds glyphs/; without it: a generated set")
    add("--classes", type=int, default=100, help="use the rows of the first so many classes")
    add("--rows", type=int, help="use the first so many rows of each part only")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure both rules with every weighting of the routers, and print a table."""
    name = "glyphs" if options.data_dir else "generated-dense"
    dataset = datasets.load(name, options.data_dir, options.cache_dir, options.rows)
    parts = (dataset.X_train, dataset.y_train), (dataset.X_test, dataset.y_test)
    train, test = ((X[y < options.classes].astype(float), y[y < options.classes]) for X, y in parts)
    results = []
    for rule, reference in RULES.items():
        for weighting in CHOICES["router_weighting"]:
            console.log(f"{name}: {rule}, {weighting}")
            model = reference(dataset.n_features, router_weighting=weighting)
            for x, y in zip(*train, strict=True):
                model.learn(x, int(y), first_pass=False)
            wrong = [model.predict(x) != y for x, y in zip(*test, strict=True)]
            results.append(
                {
                    "shares": rule,
                    "router_weighting": weighting,
                    "error": float(np.mean(wrong)),
                    "n_nodes": len(model.nodes),
                }
            )
    content = study.publish(options, results, set=name, n_train=len(train[1]), n_test=len(test[1]))
    Console().print(table(results))
    return content


def table(results: list[dict[str, Any]]) -> Table:
    """Return one line per rule and weighting."""
    shown = Table()
    for heading in ("shares", "router weighting"):
        shown.add_column(heading)
    for heading in ("error %", "nodes"):
        shown.add_column(heading, justify="right")
    for result in results:
        error = f"{100 * result['error']:.1f}"
        shown.add_row(result["shares"], result["router_weighting"], error, str(result["n_nodes"]))
    return shown
