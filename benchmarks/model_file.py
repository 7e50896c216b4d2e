"""Opening a large model file.

``python -m benchmarks.model_file [--gigabytes 1]`` writes a Recall Tree of the given size with
random weights, of 100,000 classes with string labels, and measures in new processes how long it
takes to load it and to predict one row with it, and how much memory that takes; for a file that the
system has in memory, and for one that it has to fetch.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

import numpy as np

from recalltree import RecallTreeClassifier
from recalltree.model_file.atomic import write_atomically
from recalltree.model_file.model import Model

N_CLASSES, N_FEATURES, N_CANDIDATES = 100_000, 2**18, 68
NONE = np.iinfo(np.uint32).max

MEASURE = """
import json, resource, sys, time
import numpy as np
from scipy.sparse import csr_array
import recalltree
x = csr_array((np.ones(75), (np.zeros(75, int), np.arange(75) * 997)), shape=(1, 2**18))
recalltree.RecallTreeClassifier().fit(x, ["warm"]).predict(x)
def resident():
    fields = open("/proc/self/statm").read().split()
    return (int(fields[1]) - int(fields[2])) * resource.getpagesize()
before, start, start_cpu = resident(), time.perf_counter(), time.process_time()
clf = recalltree.load(sys.argv[1])
loaded, loaded_cpu = time.perf_counter(), time.process_time()
clf.predict(x)
predicted = time.perf_counter()
print(json.dumps({"load_ms": 1e3 * (loaded - start), "load_cpu_ms": 1e3 * (loaded_cpu - start_cpu),
                  "first_predict_ms": 1e3 * (predicted - loaded),
                  "own_memory_mb": (resident() - before) / 2**20}))
"""


def sparse_weights(name, n_rows, n_weights, n_features, rng):
    """Return rows of random weights, spread evenly over the features."""
    per_feature = n_weights // n_features
    rows = np.sort(rng.integers(n_rows, size=(n_features, per_feature), dtype=np.uint32), axis=1)
    return {
        f"{name}.offsets": np.arange(n_features + 1, dtype=np.uint64) * np.uint64(per_feature),
        f"{name}.rows": rows.reshape(-1),
        f"{name}.weights": rng.random(n_features * per_feature, dtype=np.float32) - np.float32(0.5),
        f"{name}.accumulators": rng.random(n_features * per_feature, dtype=np.float32),
        f"{name}.bias": np.zeros(n_rows, dtype=np.float32),
        f"{name}.bias_accumulators": np.zeros(n_rows, dtype=np.float32),
    }


def large_model(n_bytes):
    """Return a model whose file has about this many bytes."""
    rng = np.random.default_rng(0)
    depth = 16
    n_nodes = 2**depth - 1
    nodes = np.arange(n_nodes, dtype=np.uint32)
    is_inner = nodes < 2 ** (depth - 1) - 1
    per_node = 2 * N_CANDIDATES
    counts = np.tile(np.arange(per_node, 0, -1.0), n_nodes)
    total = counts[:per_node].sum()
    labels = rng.integers(N_CLASSES, size=(n_nodes, per_node), dtype=np.uint32)
    state = {
        "tree.left": np.where(is_inner, 2 * nodes + 1, NONE).astype(np.uint32),
        "tree.right": np.where(is_inner, 2 * nodes + 2, NONE).astype(np.uint32),
        "tree.parent": np.where(nodes > 0, (nodes - np.uint32(1)) // np.uint32(2), NONE).astype(
            np.uint32
        ),
        "tree.depth": np.floor(np.log2(nodes + 1)).astype(np.uint32),
        "tree.router": np.where(is_inner, nodes, NONE).astype(np.uint32),
        "tree.max_candidates": np.array([N_CANDIDATES], dtype=np.uint32),
        "tree.decay_origin": np.zeros(1),
        "histograms.offsets": np.arange(n_nodes + 1, dtype=np.uint64) * np.uint64(per_node),
        "histograms.labels": labels.reshape(-1),
        "histograms.counts": counts,
        "histograms.arrivals": np.tile(np.arange(per_node, dtype=np.uint32), n_nodes),
        "histograms.sums": np.tile([total, total, 0.7 * total], (n_nodes, 1)),
        "interactions.node_and_class": np.zeros(0, dtype=np.uint64),
        "classes.seen": np.ones(N_CLASSES, dtype=np.uint32),
        "n_examples": np.array([10**7], dtype=np.uint64),
        "progress": np.array([1e7, 5e6]),
        "scale.features": np.ones(N_FEATURES, dtype=np.float32),
        "scale.sums": np.ones(2),
        **sparse_weights("routers", int(is_inner.sum()), 2_000_000, N_FEATURES, rng),
        **sparse_weights("path", N_CLASSES, n_nodes * 10, n_nodes, rng),
        **sparse_weights("interactions", 0, 0, 1, rng),
    }
    left = n_bytes - sum(array.nbytes for array in state.values())
    state |= sparse_weights("predictors", N_CLASSES, left // 12, N_FEATURES, rng)
    clf = RecallTreeClassifier()
    core = RecallTreeClassifier._core_type(
        n_features=N_FEATURES, sparse=True, **clf._model_config()
    )
    return Model(
        algorithm="recall-tree",
        parameters=clf.get_params(),
        config=core.config,
        state=state,
        classes=np.array([f"http://example.org/category/{i}" for i in range(N_CLASSES)], object),
        attributes={"n_iter_": 1, "curve": []},
    )


def forget(path):
    """Ask the system to drop what it remembers of a file."""
    descriptor = os.open(path, os.O_RDONLY)
    os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(descriptor)


def measure(path):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, str(path)], check=True, capture_output=True, text=True
    )
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--folder", default=None, help="where to write the file")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        path = Path(folder, "large.rt")
        size = write_atomically(path, large_model(int(arguments.gigabytes * 2**30)).parts())
        print(f"recalltree {version('recalltree')}, {size / 2**30:.2f} GiB, {N_CLASSES:,} classes")
        for where in ("memory", "memory", "memory", "disk"):
            if where == "disk":
                forget(path)
            print(f"from {where}:", {k: round(v, 1) for k, v in measure(path).items()})


if __name__ == "__main__":
    main()
