"""The estimators of recalltree, by their public interface, in a process of their own.

The child loads the arrays, then times one ``fit`` (one pass in the rows' own order, one thread)
and one ``predict`` of all test rows. Nothing is taken off these times.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import datasets
from benchmarks.measure import Stopwatch, Times, peak_rss, run

ESTIMATORS = {
    "one-against-some": "OneAgainstSomeClassifier",
    "recall-tree": "RecallTreeClassifier",
    "one-against-all": "OneAgainstAllClassifier",
    "lom-tree": "LOMTreeClassifier",
}
CHOOSY = ("one-against-some", "recall-tree")  # they choose candidates


@dataclass(frozen=True)
class Result:
    """One repeat. Memory in bytes; ``candidate_recall`` is None where all classes are scored."""

    train: Times
    predict: Times
    error: float
    progressive_error: float
    peak_rss: int
    rss_before: int
    memory_bytes: int
    candidate_recall: float | None
    parameters: dict[str, Any]
    work: dict[str, dict[str, int]]  # that was counted, by phase


def measure(arrays: Path, algorithm: str, parameters: dict[str, Any] | None = None) -> Result:
    """Train and predict in a child process."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "result.json"
        arguments = ["--arrays", arrays.resolve(), "--algorithm", algorithm, "--output", output]
        options = ["--parameters", json.dumps(parameters or {})]
        run([sys.executable, "-m", "benchmarks.ours", *arguments, *options])
        fields = json.loads(output.read_text())
    fields["train"], fields["predict"] = Times(**fields["train"]), Times(**fields["predict"])
    return Result(**fields)


def train_and_predict(
    dataset: datasets.Dataset, algorithm: str, parameters: dict[str, Any] | None = None
) -> Result:
    """Train and predict in this process."""
    import recalltree

    once = {"n_passes": 1, "shuffle": False, "n_jobs": 1, "random_state": 0}
    model = getattr(recalltree, ESTIMATORS[algorithm])(**{**once, **(parameters or {})})
    rss_before = peak_rss()
    with Stopwatch() as training:
        model.fit(dataset.X_train, dataset.y_train)
    learning = model.work_
    with Stopwatch() as prediction:
        labels = model.predict(dataset.X_test)
    predicting = {name: count - learning[name] for name, count in model.work_.items()}
    return Result(
        train=training.times,
        predict=prediction.times,
        error=float(np.mean(labels != dataset.y_test)),
        progressive_error=float(model.progressive_error_),
        peak_rss=peak_rss(),
        rss_before=rss_before,
        memory_bytes=int(model.memory_bytes_),
        candidate_recall=candidate_recall(model, dataset) if algorithm in CHOOSY else None,
        parameters=model.get_params(),
        work={"train": learning, "predict": predicting},
    )


def candidate_recall(model: Any, dataset: datasets.Dataset) -> float:
    """Return the share of test rows whose label is among the candidates that were scored."""
    candidates = model.candidates(dataset.X_test)
    rows = np.repeat(np.arange(len(dataset.y_test)), np.diff(candidates.indptr))
    scored = model.classes_[candidates.indices]
    return float(np.sum(scored == dataset.y_test[rows]) / len(dataset.y_test))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--arrays", type=Path, required=True)
    parser.add_argument("--algorithm", choices=ESTIMATORS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--parameters", type=json.loads, default={})
    options = parser.parse_args()
    dataset = datasets.load_arrays(options.arrays)
    result = train_and_predict(dataset, options.algorithm, options.parameters)
    options.output.write_text(json.dumps(asdict(result)))


if __name__ == "__main__":
    main()
