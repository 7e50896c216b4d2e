"""The kernels of every instruction set compute the same bits, and a user can choose among them."""

import os
import subprocess
import sys

import pytest

from recalltree import _core

TRAIN = """
import hashlib
import numpy as np
from scipy.sparse import csr_array
from recalltree import _core

rng = np.random.default_rng(0)
X = rng.normal(size=(600, 75)).astype(np.float32)
X[rng.random(X.shape) < 0.5] = 0
y = rng.integers(40, size=600).astype(np.uint32)
S = csr_array(X)
digest = hashlib.sha256()
for make in (_core.RecallTree, _core.OneAgainstAll, _core.LOMTree):
    dense, sparse = _core.Rows.dense(X), _core.Rows.csr(S.indptr, S.indices, S.data, S.shape[1])
    for rows in (dense, sparse):
        for loss in ("logistic", "hinge", "squared"):
            model = make(n_features=X.shape[1], sparse=rows is sparse, loss=loss)
            model.learn(rows, y, None, None, 1, True)
            digest.update(model.predict_topk(rows, 3, 1)[1].tobytes())
            for name, values in sorted(model.state().items()):
                digest.update(name.encode() + np.ascontiguousarray(values).tobytes())
print(_core.simd(), digest.hexdigest())
"""


def run(code: str, simd: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"RECALLTREE_SIMD": simd},
        capture_output=True,
        text=True,
        timeout=120,
    )


def train(simd: str) -> tuple[str, str]:
    done = run(TRAIN, simd)
    assert done.returncode == 0, done.stderr
    used, digest = done.stdout.split()
    return used, digest


@pytest.fixture(scope="module")
def scalar_digest() -> str:
    used, digest = train("scalar")
    assert used == "scalar"
    return digest


@pytest.mark.parametrize("simd", ["avx2", "avx512"])
def test_models_are_bit_identical_across_instruction_sets(simd, scalar_digest):
    if simd not in _core.simd_levels():
        pytest.skip(f"this processor has no {simd}")
    assert train(simd) == (simd, scalar_digest)


def test_the_best_instruction_set_is_the_default(scalar_digest):
    assert train("") == (_core.simd_levels()[-1], scalar_digest)


def test_an_unknown_instruction_set_is_an_error_that_names_the_choices():
    done = run("from recalltree import _core; _core.simd()", "abacus")
    assert done.returncode != 0
    message = done.stderr.splitlines()[-1]
    assert "RECALLTREE_SIMD" in message
    assert "abacus" in message
    for simd in _core.simd_levels():
        assert simd in message
