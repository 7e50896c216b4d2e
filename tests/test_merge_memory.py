"""Merging of mapped files takes the memory of the merged model and half of it more, at most."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from test_merge import new, sparse_rows

import recalltree
from recalltree._core import rank_lists

N_CLASSES, N_FEATURES, PER_CLASS = 16_000, 8_000, 400

#: Merges the files that are named and prints the growth of the most memory the process had.
SCRIPT = """
import json, sys
import recalltree
from recalltree.merging.sources import open_source

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))

base, *models = sys.argv[1:]
recalltree.load(base).get_params()
before = peak()
merged = recalltree.merge(models, base=base)
print(json.dumps([peak() - before, merged.n_examples_]))
"""


def large_model(path, seed):
    """Write a model of a hundred megabytes or so: pairs at random, all else from a small one."""
    X, _ = sparse_rows()
    X.resize((600, N_FEATURES))
    small = new().fit(X, np.arange(600) % 30)._to_model()
    rng = np.random.default_rng(seed)
    keys = np.argsort(rng.random((N_CLASSES, N_FEATURES // 8), dtype=np.float32), axis=1)
    keys = np.sort(keys[:, :PER_CLASS], axis=1) * 8 + rng.integers(8, size=(N_CLASSES, 1))
    n = keys.size
    offsets = np.arange(N_CLASSES + 1, dtype=np.uint64) * np.uint64(PER_CLASS)
    keys = keys.ravel().astype(np.uint32)
    counts = rng.integers(1, 5, size=n).astype(np.float32)
    weights = rng.normal(size=n).astype(np.float32)
    features = np.arange(N_FEATURES, dtype=np.uint32)
    limit = small.config["max_labels"]
    ranked = rank_lists(offsets, keys, counts, weights, features, limit)
    ones = np.ones(N_CLASSES, dtype=np.float32)
    state = {
        **small.state,
        "pairs.offsets": offsets,
        "pairs.keys": keys,
        "pairs.counts": counts,
        "pairs.weights": weights,
        "pairs.accumulators": np.abs(weights),
        **dict(zip(("keys.offsets", "keys.labels", "keys.roots"), ranked, strict=False)),
        "keys.predictors": ranked[3],
        "keys.features": features,
        "keys.examples": np.full(N_FEATURES, 5.0),
        "keys.weights": np.ones(N_FEATURES, dtype=np.float32),
        "keys.accumulators": np.ones(N_FEATURES, dtype=np.float32),
        "classes.seen": np.ones(N_CLASSES, dtype=np.uint32),
        "classes.sums": np.ones((N_CLASSES, 2)),
        "classes.bias": 0 * ones,
        "classes.bias_accumulators": ones,
        "n_examples": np.array([N_CLASSES], dtype=np.uint64),
        "counted.n": np.array([N_CLASSES], dtype=np.uint64),
        "scale.features": np.ones(N_FEATURES, dtype=np.float32),
    }
    clf = new()
    model = replace(small, state=state, classes=np.arange(N_CLASSES))
    clf._take_model(model, None, mapped=True)
    clf._core.check()
    clf.save(path)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
def test_one_model_and_a_half(tmp_path):
    paths = [tmp_path / f"{i}.rt" for i in range(4)]
    large_model(paths[0], seed=0)
    for path in paths[1:]:  # they continued from the first, and learned nothing that shows
        path.write_bytes(paths[0].read_bytes())
    size = paths[0].stat().st_size
    assert size > 100_000_000
    found = subprocess.run(
        [sys.executable, "-c", SCRIPT, *map(str, paths)], capture_output=True, text=True, check=True
    )
    grown, n_examples = json.loads(found.stdout)
    assert n_examples == N_CLASSES
    assert recalltree.load(paths[0]).n_examples_ == n_examples
    assert grown < 1.5 * size, f"{grown:,} bytes for models of {size:,}"
