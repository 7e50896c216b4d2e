"""Learning and predicting under callgrind, with the recalltree of whatever interpreter runs this.

It therefore imports nothing that the package itself does not need.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recalltree
from benchmarks import compiled, datasets

ALGORITHMS = {
    "one-against-some": recalltree.OneAgainstSomeClassifier,
    "recall-tree": recalltree.RecallTreeClassifier,
    "one-against-all": recalltree.OneAgainstAllClassifier,
    "lom-tree": recalltree.LOMTreeClassifier,
}

#: Calls are counted in pairs, one with this many times the rows of the other: the difference is
#: the work on rows, without what a call costs by itself.
SHORT, LONG = 1, 3


def main(arrays: str, algorithm: str, n_warm: int, n_rows: int) -> None:
    """Count two lengths of learning, of predicting in memory and of predicting from a file."""
    counter = compiled.library(Path(__file__).with_name("callgrind.c"))
    dataset = datasets.load_arrays(Path(arrays))
    X, y = dataset.X_train, dataset.y_train

    def count(name: str, times: int, call: Callable[..., Any], *arguments: Any) -> None:
        counter.start_counting()
        call(*arguments)
        counter.stop_counting(f"{name} {times}".encode())

    clf = ALGORITHMS[algorithm](random_state=0)
    clf.partial_fit(X[:n_warm], y[:n_warm])
    start = n_warm
    for times in (SHORT, LONG):
        stop = start + times * n_rows
        count("learn", times, clf.partial_fit, X[start:stop], y[start:stop])
        start = stop
    with tempfile.TemporaryDirectory() as folder:
        clf.save(Path(folder) / "model.rt")
        mapped = recalltree.load(Path(folder) / "model.rt")
        for name, model in (("predict", clf), ("predict, mapped", mapped)):
            model.predict(dataset.X_test[:n_rows])  # labels are decoded, pages are there
            for times in (SHORT, LONG):
                count(name, times, model.predict, dataset.X_test[: times * n_rows])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
