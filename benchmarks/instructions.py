"""Instructions per row of learning and predicting, counted by callgrind (valgrind).

Times depend on what else a machine does; these counts do not, so that two versions can be compared
on any machine. They say nothing of waiting for memory, and valgrind has no AVX-512.

With ``--against FOLDER``, where FOLDER is another checkout after ``make build``, or its virtual
environment, both are counted, and the ratio is this version's instructions over those of the other.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks import datasets, study
from benchmarks.counted import ALGORITHMS, LONG, SHORT
from benchmarks.measure import ONE_THREAD, ROOT

SETS = ("generated-sparse", "generated-dense")
INTERPRETERS = (".venv/bin/python", "bin/python")  # of a checkout, of a virtual environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--data-dir", type=Path, help="folder with one folder per set; without it: generated sets")
    sets = (*SETS, *datasets.DENSE_FILE_SETS)
    add("--sets", nargs="+", choices=sets, default=list(SETS), metavar="SET")
    add("--algorithms", nargs="+", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    add("--warm", type=int, default=4000, help="rows to learn before counting begins")
    add("--rows", type=int, default=400, help="count the work on twice this many rows")
    add("--against", type=Path, metavar="FOLDER", help="also count another checkout, and compare")
    add("--cache-dir", type=Path, default=datasets.default_cache_dir())
    add("--json", type=Path, help="also write the report here, whenever there is more of it")


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Count the chosen algorithms on the chosen sets, and print a table."""
    if shutil.which("valgrind") is None:
        raise FileNotFoundError("valgrind is not installed (its package has that name everywhere)")
    interpreters = {"instructions": Path(sys.executable)}
    if options.against:
        interpreters["against"] = interpreter_of(options.against)
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for name in options.sets:
        dataset = datasets.load(name, options.data_dir, options.cache_dir)
        arrays = datasets.arrays_path(dataset, options.cache_dir).resolve()
        for algorithm in options.algorithms:
            counted = {}
            for which, interpreter in interpreters.items():
                console.log(f"{name}: {algorithm}, {which}")
                counted[which] = count(interpreter, arrays, algorithm, options.warm, options.rows)
            for work in counted["instructions"]:
                found = {which: per_row[work] for which, per_row in counted.items()}
                results.append({"set": name, "algorithm": algorithm, "work": work, **found})
            content = study.publish(options, results, unit="instructions per row")
    Console(width=100).print(table(results))
    return content


def interpreter_of(folder: Path) -> Path:
    """Return the interpreter of a checkout or of a virtual environment."""
    for place in INTERPRETERS:
        if (folder / place).exists():
            return (folder / place).absolute()
    raise FileNotFoundError(
        f"--against {folder}: no {' or '.join(INTERPRETERS)} there; run `make build` in the other "
        "checkout first"
    )


def count(
    interpreter: Path, arrays: Path, algorithm: str, n_warm: int, n_rows: int
) -> dict[str, float]:
    """Return the instructions per row of one algorithm, by what it does with rows."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--quiet"]
        command += [f"--callgrind-out-file={folder}/counted", str(interpreter)]
        command += ["-m", "benchmarks.counted", str(arrays), algorithm, str(n_warm), str(n_rows)]
        environment = {**os.environ, **ONE_THREAD, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        finished = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True
        )
        if finished.returncode != 0:
            tail = "\n".join(finished.stderr.splitlines()[-15:])
            raise RuntimeError(f"exit code {finished.returncode} of: {' '.join(command)}\n{tail}")
        counted = read_counts([path.read_text() for path in Path(folder).glob("counted.*")])
    works = {name.rpartition(" ")[0]: None for name in counted}
    return {
        work: (counted[f"{work} {LONG}"] - counted[f"{work} {SHORT}"]) / ((LONG - SHORT) * n_rows)
        for work in works
    }


def read_counts(dumps: Sequence[str]) -> dict[str, int]:
    """Return the instructions in each of callgrind's files that bears a name, in their order.

    >>> read_counts(["desc: Trigger: Client Request: learn 1\\ntotals: 120\\n", "totals: 9\\n"])
    {'learn 1': 120}
    """
    found = []
    for dump in dumps:
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", dump, re.MULTILINE)
        total = re.search(r"^totals: (\d+)", dump, re.MULTILINE)
        part = re.search(r"^part: (\d+)", dump, re.MULTILINE)
        if name and total:
            found.append((int(part[1]) if part else 0, name[1], int(total[1])))
    return {name: total for _, name, total in sorted(found)}


def table(results: Sequence[dict[str, Any]]) -> Table:
    """Return one line per set, algorithm and work."""
    shown = Table(caption="instructions per row", caption_justify="left")
    compared = any("against" in result for result in results)
    for heading in ("set", "algorithm", "work"):
        shown.add_column(heading)
    for heading in ("instructions", *(("against", "ratio") if compared else ())):
        shown.add_column(heading, justify="right")
    for result in results:
        cells = [f"{result['instructions']:,.0f}"]
        if compared:
            ratio = result["instructions"] / result["against"]
            cells += [f"{result['against']:,.0f}", f"{ratio:.3f}"]
        shown.add_row(result["set"], result["algorithm"], result["work"], *cells)
    return shown
