"""A comparison of both programs on one set with one algorithm, as plain data for a report.

The programs take turns (A B A B), so that a busy minute of the machine falls on both. Of the
repeats the best is kept.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import ours, vowpal
from benchmarks.datasets import Dataset, arrays_path
from benchmarks.measure import Times, best

PROGRAMS = ("recalltree", "vowpal")
ALGORITHMS = tuple(ours.ESTIMATORS)


def compare(
    dataset: Dataset,
    algorithm: str,
    cache_dir: Path,
    *,
    programs: Collection[str] = PROGRAMS,
    repeats: int = 3,
    once_above: float = 60.0,
    parameters: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Measure ``programs`` in turns.

    Training that takes longer than ``once_above`` seconds is not repeated. ``parameters`` go to
    the estimator of recalltree; without them it has its defaults.
    """
    arrays = arrays_path(dataset, cache_dir)
    theirs = _Vowpal(dataset, algorithm, cache_dir) if "vowpal" in programs else None
    mine: list[ours.Result] = []
    for _ in range(repeats):
        if theirs is not None:
            theirs.repeat(once_above)
        if "recalltree" in programs and not (mine and mine[0].train.wall > once_above):
            mine.append(ours.measure(arrays, algorithm, parameters))
    result: dict[str, Any] = {
        "set": dataset.name,
        "algorithm": algorithm,
        "n_classes": dataset.n_classes,
        "n_features": dataset.n_features,
        "n_train": len(dataset.y_train),
        "n_test": len(dataset.y_test),
        "vowpal": theirs.summary() if theirs is not None else None,
        "recalltree": _summary(mine, dataset) if mine else None,
    }
    result["ratios"] = ratios(result["vowpal"], result["recalltree"])
    return result


def ratios(theirs: dict[str, Any] | None, mine: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return how many times more Vowpal Wabbit's net figures are than ours, by kind of time.

    None stands where its net time is within the noise, that is, not above zero.
    """
    if theirs is None or mine is None:
        return None

    def times(phase: str) -> dict[str, float | None]:
        net, own = theirs[phase]["net"], mine[phase]
        return {
            kind: net[kind] / own[kind] if net[kind] > 0 and own[kind] > 0 else None for kind in net
        }

    return {
        "train": times("train"),
        "predict": times("predict"),
        "peak_rss": theirs["peak_rss"] / mine["peak_rss"],
        "error_points": 100 * (mine["error"] - theirs["error"]),
    }


class _Vowpal:
    """The repeats of one algorithm in Vowpal Wabbit."""

    def __init__(self, dataset: Dataset, algorithm: str, cache_dir: Path) -> None:
        self.dataset = dataset
        self.algorithm = algorithm
        self.program = vowpal.VowpalWabbit(dataset, cache_dir)
        self.program.prepare()
        self.training: list[vowpal.Phase] = []
        self.prediction: list[vowpal.Phase] = []
        self.peak_rss = {"train": 0, "predict": 0}
        self.labels = np.empty(0, dtype=np.int64)

    def repeat(self, once_above: float) -> None:
        if not (self.training and self.training[0].raw.wall > once_above):
            phase, rss = self.program.train(self.algorithm)
            self.training.append(phase)
            self.peak_rss["train"] = max(self.peak_rss["train"], rss)
        phase, rss, self.labels = self.program.predict(self.algorithm)
        self.prediction.append(phase)
        self.peak_rss["predict"] = max(self.peak_rss["predict"], rss)

    def summary(self) -> dict[str, Any]:
        def phase(repeats: list[vowpal.Phase], n_examples: int) -> dict[str, Any]:
            whole = vowpal.Phase.best(repeats)
            parts = ("raw", "start", "reading", "net")
            return {p: getattr(whole, p).per_example(n_examples) for p in parts}

        return {
            "error": float(np.mean(self.labels != self.dataset.y_test)),
            "train": phase(self.training, len(self.dataset.y_train)),
            "predict": phase(self.prediction, len(self.dataset.y_test)),
            "peak_rss": max(self.peak_rss.values()),
            "peak_rss_by_phase": self.peak_rss,
            "repeats": {"train": len(self.training), "predict": len(self.prediction)},
            "commands": self.program.commands,
        }


def _summary(repeats: list[ours.Result], dataset: Dataset) -> dict[str, Any]:
    def fastest(times: list[Times], n_examples: int) -> dict[str, float]:
        return best(times).per_example(n_examples)

    last = repeats[-1]
    return {
        "error": last.error,
        "progressive_error": last.progressive_error,
        "candidate_recall": last.candidate_recall,
        "train": fastest([r.train for r in repeats], len(dataset.y_train)),
        "predict": fastest([r.predict for r in repeats], len(dataset.y_test)),
        "peak_rss": max(r.peak_rss for r in repeats),
        "rss_before": last.rss_before,
        "memory_bytes": last.memory_bytes,
        "repeats": len(repeats),
        "parameters": last.parameters,
    }
