"""The core with other losses and steps for rows with several labels, compiled for an experiment.

The headers of ``core_losses`` take the place of the core's own when it is compiled. The core has no
switches for them, and the compiled variant is not part of the package: it is loaded by a process of
its own, ``python -m experiments.core_variant``, in place of ``recalltree._core``.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib.util
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

ROOT = Path(__file__).parents[1]
HEADERS = Path(__file__).parent / "core_losses"
FOLDER = ROOT / "build" / "core-losses"


@cache
def build() -> Path:
    """Compile the variant, as far as something has changed, and return the module's file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-build-isolation", "-q"]
    command += ["--disable-pip-version-check", "--upgrade", "--target", str(FOLDER / "package")]
    command += ["-C", f"build-dir={FOLDER / 'cmake'}"]
    command += ["-C", f"cmake.define.CMAKE_CXX_FLAGS=-iquote {HEADERS}", str(ROOT)]
    tools = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    with (FOLDER / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # units may run in several processes
        environment = {**os.environ, "PATH": tools, "CMAKE_GENERATOR": "Ninja"}
        finished = subprocess.run(command, capture_output=True, text=True, env=environment)
    if finished.returncode != 0:
        end = (finished.stdout + finished.stderr)[-2000:]
        raise ValueError(f"the core with other losses was not compiled:\n{end}")
    (module,) = (FOLDER / "package" / "recalltree").glob("_core*.so")
    return module


def learn(
    module: Path, X: Any, Y: Any, X_test: Any, loss: str, steps: str
) -> dict[str, np.ndarray]:
    """Learn in one pass, in a process of its own.

    Return the best five labels of every test row, as columns of ``Y``, and the CSR arrays of the
    marginal probabilities of its candidates.
    """
    with tempfile.TemporaryDirectory() as name:
        rows, answers = Path(name) / "rows.npz", Path(name) / "answers.npz"
        parts = {"X": X, "Y": Y, "X_test": X_test}
        np.savez(rows, **{f"{k}_{p}": getattr(v, p) for k, v in parts.items() for p in PARTS})
        command = [sys.executable, "-m", "experiments.core_variant", str(module), str(rows)]
        chosen = {"RECALLTREE_LABEL_LOSS": loss, "RECALLTREE_LABEL_STEPS": steps}
        finished = subprocess.run(
            [*command, str(answers)],
            cwd=ROOT,
            env={**os.environ, **chosen},
            capture_output=True,
            text=True,
        )
        if finished.returncode != 0:
            raise ValueError(f"learning with {loss!r} failed:\n{finished.stderr[-2000:]}")
        with np.load(answers) as found:
            return dict(found)


PARTS = ("data", "indices", "indptr", "shape")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("module", type=Path)
    parser.add_argument("rows", type=Path)
    parser.add_argument("answers", type=Path)
    options = parser.parse_args()
    specification = importlib.util.spec_from_file_location("recalltree._core", options.module)
    assert specification is not None
    assert specification.loader is not None
    core = importlib.util.module_from_spec(specification)
    sys.modules["recalltree._core"] = core
    specification.loader.exec_module(core)
    from recalltree import OneAgainstSomeClassifier

    with np.load(options.rows) as arrays:
        X, Y, X_test = (
            sp.csr_array(
                tuple(arrays[f"{name}_{part}"] for part in PARTS[:3]),
                shape=tuple(arrays[f"{name}_shape"]),
            )
            for name in ("X", "Y", "X_test")
        )
    clf = OneAgainstSomeClassifier(n_jobs=1, shuffle=False, random_state=0).fit(X, Y)
    best, _ = clf.predict_topk(X_test, k=5)
    said = clf.predict_proba(X_test, sparse=True)
    columns = clf.classes_[said.indices]
    np.savez(options.answers, best=best, said=said.data, columns=columns, indptr=said.indptr)


if __name__ == "__main__":
    main()
