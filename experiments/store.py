"""Results: one JSON file per finished unit of work, named by the unit's parameters."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from benchmarks.report import write_json

RESULTS = Path(__file__).parent / "results"

Unit = Mapping[str, Any]  # the parameters of a piece of work, as JSON has them
Record = dict[str, Any]  # {"unit": Unit, "result": {...}, and the circumstances}


def canonical(unit: Unit) -> str:
    """Return the parameters as text that does not depend on their order."""
    return json.dumps(dict(unit), sort_keys=True)


class Store:
    """The results of one experiment.

    A result is written at once and under its final name only when complete, so an interrupted run
    loses no more than the unit in progress.

    >>> import tempfile
    >>> store = Store("theory", Path(tempfile.mkdtemp()))
    >>> store.put({"seed": 0}, {"result": {"error": 0.5}})
    >>> {"seed": 0} in store, {"seed": 1} in store
    (True, False)
    >>> [record["result"]["error"] for record in store]
    [0.5]
    """

    def __init__(self, experiment: str, results: Path = RESULTS) -> None:
        self.experiment = experiment
        self.folder = results / experiment

    def path(self, unit: Unit) -> Path:
        """Return the file of a unit: what it is about, and a hash of everything."""
        words = [str(unit[name]) for name in ("kind", "set", "algorithm") if name in unit]
        digest = hashlib.sha256(canonical(unit).encode()).hexdigest()[:12]
        return self.folder / ("-".join([*words, digest]).replace("/", "-") + ".json")

    def __contains__(self, unit: Unit) -> bool:
        return self.path(unit).exists()

    def put(self, unit: Unit, record: Record) -> None:
        """Write the record of a finished unit."""
        write_json(self.path(unit), {"experiment": self.experiment, "unit": dict(unit), **record})

    def get(self, unit: Unit) -> Record:
        """Return the record of a finished unit."""
        return json.loads(self.path(unit).read_text())

    def __iter__(self) -> Iterator[Record]:
        """Yield all records, in the order of their parameters."""
        records = [json.loads(path.read_text()) for path in self.folder.glob("*.json")]
        return iter(sorted(records, key=lambda record: canonical(record["unit"])))
