"""Losses that the core can be compiled with, beside those in NumPy."""

import os
import shutil
import subprocess
from functools import cache

import numpy as np
import pytest
from experiment_runs import ROOT
from experiments.core_variant import HEADERS
from experiments.label_losses import LOSSES, STEPS

COMPILER = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
PROGRAM = """
#include "recalltree/voting/label_loss.hpp"
#include <iostream>
using namespace recalltree;
int main() {  // candidates, those that are labels first; then their scores
  std::size_t n, n_labels;
  std::cin >> n >> n_labels;
  std::vector<float> scores(n);
  for (float& score : scores) std::cin >> score;
  std::vector<Role> roles(n, Role::other);
  std::fill_n(roles.begin(), n_labels, Role::label);
  std::vector<double> gradient;
  label_loss_gradients(scores, roles, 0.0, true, gradient);
  std::cout.precision(17);
  for (const double g : gradient) std::cout << g << ' ';
  std::cout << share_of_step(n_labels, 2.0);
}
"""


CORE = ROOT / "cpp" / "include"


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A function that runs the program, compiled with the headers of a folder."""
    if COMPILER is None:
        pytest.skip("no C++ compiler")

    @cache
    def binary(headers):
        folder = tmp_path_factory.mktemp("losses")
        (folder / "main.cpp").write_text(PROGRAM)
        options = ["-std=c++20", "-iquote", str(headers), "-I", str(CORE)]
        command = [COMPILER, *options, str(folder / "main.cpp"), "-o", str(folder / "main")]
        subprocess.run(command, check=True)
        return folder / "main"

    def run(headers, scores, n_labels, loss, steps):
        chosen = {"RECALLTREE_LABEL_LOSS": loss, "RECALLTREE_LABEL_STEPS": steps}
        finished = subprocess.run(
            [binary(headers)],
            input=f"{len(scores)} {n_labels} {' '.join(map(str, scores.tolist()))}",
            env={**os.environ, **chosen},
            capture_output=True,
            text=True,
            check=True,
        )
        return np.array(finished.stdout.split(), dtype=float)

    return run


@pytest.mark.parametrize(
    ("headers", "loss"), [*((HEADERS, loss) for loss in LOSSES), (CORE, "shared by roots")]
)
@pytest.mark.parametrize("n_labels", [0, 1, 3])
def test_gradients_are_those_in_numpy(compiled, headers, loss, n_labels):
    scores = np.random.default_rng(n_labels).normal(size=8).astype(np.float32)
    expected = LOSSES[loss](scores.astype(float), np.arange(8) < n_labels)
    # The core asks no loss about rows without labels.
    expected = expected if n_labels else 0 * expected
    found = compiled(headers, scores, n_labels, loss, STEPS[0])
    np.testing.assert_allclose(found[:-1], expected, atol=1e-12)


@pytest.mark.parametrize(
    ("headers", "steps", "expected"),
    [
        (CORE, "sqrt(n) / m", (0.5, np.sqrt(3) / 2)),
        (HEADERS, "sqrt(n) / m", (0.5, np.sqrt(3) / 2)),
        (HEADERS, "1", (1, 1)),
        (HEADERS, "0.7", (0.7, 0.7)),
        (HEADERS, "0.5", (0.5, 0.5)),
        (HEADERS, "0.5, several labels 0.75", (0.5, 0.75)),
        (HEADERS, "1, several labels 0.5", (1, 0.5)),
    ],
)
def test_steps_by_their_names(compiled, headers, steps, expected):
    assert steps in STEPS
    scores = np.zeros(8, dtype=np.float32)
    found = [compiled(headers, scores, n, "shared by roots", steps)[-1] for n in (1, 3)]
    assert found == pytest.approx(expected)
