"""Prediction inside engines, as a share of its speed in a process without one.

Rows and answers are Parquet files. Each engine answers the same files with two workers, once a few
rows and once all of them, in one session: the difference is what rows cost, without starting.
CPU time is that of all processes of the engine, its reading and writing among them. Every engine
also runs a function that answers without a model, always the same: what that takes is the engine's
own, and the difference is our part. The memory is
the proportional share (PSS) of processes that answer rows from one mapped file: a one-against-all
model with all of its weights in use, of 262 MB with what learning needs.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import recalltree
from benchmarks import datasets, report, study

ENGINES = ("in-process", "duckdb", "ray", "spark")
KEEP, ANSWERS = {"id": "int64"}, ("labels", "probabilities")
#: How files hold sparse rows: a list of structs, or two lists.
FEATURES: dict[str, Any] = {"structs": "x", "columns": ("indices", "values")}
#: Rows that are answered at a time.
BATCH = 10_000
WORKERS = 2
#: Their workers end before the CPU time that they took can be read.
WITHOUT_CPU = ("ray",)
_TICK = os.sysconf("SC_CLK_TCK")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    study.add_arguments(parser)
    add = parser.add_argument
    add("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    add(
        "--answered",
        type=int,
        default=200_000,
        help="how many rows, from the test rows",
    )
    add("--layout", choices=list(FEATURES), default="structs", help="of sparse rows in the files")
    add("--repeats", type=int, default=3, help="repeats; the best is kept")
    add("--k", type=int, default=5)


def run(options: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure all engines on all chosen sets, and print a table."""
    results: list[dict[str, Any]] = []
    content: dict[str, Any] = {}
    for dataset in study.load_sets(options, ("webdirectory",), ("generated-sparse",)):
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(dataset, options, Path(folder), console))
        content = study.publish(
            options,
            results,
            time_unit="microseconds per row; cpu: of all processes; wall: on the clock",
            ratio="cpu: in-process / engine; wall: in-process / (workers x engine)",
        )
    shown = Console(width=100)
    for result in results:
        shown.print(table(result))
    return content


def measure(
    dataset: datasets.Dataset, options: argparse.Namespace, folder: Path, console: Console
) -> dict[str, Any]:
    clf = recalltree.OneAgainstSomeClassifier(random_state=0).fit(dataset.X_train, dataset.y_train)
    model = folder / "model.rt"
    clf.save(model)
    sizes = {"few": options.answered // 10, "all": options.answered}
    for name, n_rows in sizes.items():
        write_rows(folder / name, dataset.X_test, n_rows, options.layout)
    n_rows = sizes["all"] - sizes["few"]
    times: dict[str, dict[str, float]] = {}
    for engine in options.engines:
        marginal: dict[str, list[dict[str, float]]] = {"": [], "own_": []}
        jobs, close = _JOBS[engine](
            model, {"k": options.k, "features": FEATURES[options.layout], "keep": KEEP}
        )
        for part, job in jobs.items():
            console.log(f"{dataset.name}: {engine} {part}")
            job(folder / "few")  # workers start, caches fill
            for _ in range(options.repeats):
                few, every = timed(job, folder / "few"), timed(job, folder / "all")
                one = {kind: 1e6 * (every[kind] - few[kind]) / n_rows for kind in few}
                marginal[part].append(one)
        close()
        clock = "wall" if engine in WITHOUT_CPU else "cpu"
        times[engine] = {
            part + kind: value
            for part, found in marginal.items()
            for kind, value in min(found, key=lambda t: t[clock]).items()
            if kind == "wall" or engine not in WITHOUT_CPU
        }
    return {
        "set": dataset.name,
        "n_classes": dataset.n_classes,
        "model_bytes": model.stat().st_size,
        "workers": WORKERS,
        "layout": options.layout,
        "times": times,
        **memory_of_large_model(folder, options.k),
    }


def write_rows(folder: Path, X: Any, n_rows: int, layout: str) -> None:
    """Write the rows of a matrix, again and again, as eight Parquet files."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for part, ids in enumerate(np.array_split(np.arange(n_rows), 8)):
        rows = X[ids % X.shape[0]]
        offsets = pa.array(rows.indptr.astype(np.int32))
        both = [pa.array(rows.indices.astype(np.int32)), pa.array(rows.data)]
        if layout == "structs":
            both = [pa.StructArray.from_arrays(both, names=["index", "value"])]
        lists = [pa.ListArray.from_arrays(offsets, values) for values in both]
        names = [FEATURES[layout]] if len(lists) == 1 else list(FEATURES[layout])
        columns = dict(zip(names, lists, strict=True))
        pq.write_table(pa.table({"id": ids, **columns}), folder / f"{part}.parquet")


# --- jobs -----------------------------------------------------------------------------------------

#: Answers the files of a folder into a new file or folder.
Job = Callable[[Path], None]
#: One that answers by the model (""), and one that answers without ("own_"); what ends both.
Jobs = tuple[dict[str, Job], Callable[[], None]]


class Echo:
    """Answers all rows alike, without a model; called as a predictor is."""

    def __init__(self, model: Path, **options: Any) -> None:
        import pyarrow as pa

        from recalltree.arrow import Predictor

        answer = Predictor(model, **options)
        self.arrow_schema, self.schema = answer.arrow_schema, answer.schema
        types = [self.arrow_schema.field(name).type.value_type for name in ANSWERS]
        values = [pa.array([1] * options["k"] * BATCH).cast(kind) for kind in types]
        offsets = pa.array(np.arange(0, len(values[0]) + 1, options["k"]).astype(np.int32))
        self._lists = [pa.ListArray.from_arrays(offsets, of_kind) for of_kind in values]

    def __call__(self, batch: Any) -> Any:
        columns = [batch.column("id"), *(lists[: batch.num_rows] for lists in self._lists)]
        return type(batch).from_arrays(columns, names=["id", *ANSWERS])

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        return map(self, batches)


def both(make: Callable[[Any], Job], model: Path, **options: Any) -> dict[str, Job]:
    """Return the jobs of a predictor, and of one that does nothing."""
    from recalltree.arrow import Predictor

    return {"": make(Predictor(model, **options)), "own_": make(Echo(model, **options))}


def in_process(model: Path, options: dict[str, Any]) -> Jobs:
    import pyarrow.parquet as pq

    def make(answer: Any) -> Job:
        return lambda folder: job(answer, folder)

    def job(answer: Any, folder: Path) -> None:
        with (
            tempfile.TemporaryDirectory() as out,
            pq.ParquetWriter(Path(out, "answers"), answer.arrow_schema) as writer,
        ):
            for path in sorted(folder.glob("*.parquet")):
                with pq.ParquetFile(path) as rows:
                    for batch in answer.batches(rows.iter_batches(BATCH)):
                        writer.write_batch(batch)

    return both(make, model, **options), lambda: None


def in_duckdb(model: Path, options: dict[str, Any]) -> Jobs:
    import duckdb
    import pyarrow as pa

    connection = duckdb.connect(config={"threads": WORKERS})

    def make(answer: Any) -> Job:
        return lambda folder: job(answer, folder)

    def job(answer: Any, folder: Path) -> None:
        rows = connection.sql(f"select * from '{folder}/*.parquet'").to_arrow_reader(BATCH)
        answers = pa.RecordBatchReader.from_batches(answer.arrow_schema, answer.batches(rows))
        with tempfile.TemporaryDirectory() as out:
            connection.cursor().from_arrow(answers).write_parquet(f"{out}/answers.parquet")

    jobs = both(make, model, **options, n_jobs=WORKERS)
    return jobs, connection.close


def in_ray(model: Path, options: dict[str, Any]) -> Jobs:
    import ray

    import recalltree.ray

    ray.init("local", num_cpus=WORKERS + 2, include_dashboard=False, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False

    def job(kind: Any, folder: Path) -> None:
        answers = ray.data.read_parquet(str(folder), override_num_blocks=8).map_batches(
            kind,
            fn_constructor_args=(model,),
            fn_constructor_kwargs=options,
            batch_format="pyarrow",
            batch_size=BATCH,
            compute=ray.data.ActorPoolStrategy(size=WORKERS),
        )
        with tempfile.TemporaryDirectory() as out:
            answers.write_parquet(out)

    jobs: dict[str, Job] = {
        "": lambda folder: job(recalltree.ray.Predictor, folder),
        "own_": lambda folder: job(Echo, folder),
    }
    return jobs, ray.shutdown


def in_spark(model: Path, options: dict[str, Any]) -> Jobs:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master(f"local[{WORKERS}]")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", str(BATCH))
        .getOrCreate()
    )

    def make(answer: Any) -> Job:
        return lambda folder: job(answer, folder)

    def job(answer: Any, folder: Path) -> None:
        with tempfile.TemporaryDirectory() as out:
            rows = session.read.parquet(str(folder))
            rows.mapInArrow(answer.batches, answer.schema).write.parquet(f"{out}/answers")

    return both(make, model, **options), session.stop


_JOBS = {"in-process": in_process, "duckdb": in_duckdb, "ray": in_ray, "spark": in_spark}


# --- time and memory ------------------------------------------------------------------------------


def timed(job: Callable[[Path], None], folder: Path) -> dict[str, float]:
    """Return the seconds of a job on the clock, and of CPU in this process and all below it."""
    cpu, wall = cpu_of_all(), time.perf_counter()
    job(folder)
    return {"wall": time.perf_counter() - wall, "cpu": cpu_of_all() - cpu}


def cpu_of_all() -> float:
    """Return the CPU seconds of this process and its descendants, those that ended among them."""
    stats = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    ours = {os.getpid()}
    while more := {pid for pid, (parent, _) in stats.items() if parent in ours} - ours:
        ours |= more
    return sum(stats[pid][1] for pid in ours if pid in stats) / _TICK


_HOLD = """
import sys
import pyarrow.parquet as pq
from recalltree.arrow import Predictor
answer = Predictor(sys.argv[1], k=int(sys.argv[3]), features="x")
print(answer(pq.read_table(sys.argv[2])).num_rows, flush=True)
sys.stdin.read()
"""


def memory_of_large_model(folder: Path, k: int) -> dict[str, Any]:
    """Return the size of a generated model, and the memory of one process and of four with it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_classes, n_features = 4000, 8192
    X = np.random.default_rng(0).normal(size=(n_classes, n_features)).astype(np.float32)
    clf = recalltree.OneAgainstAllClassifier(negative_samples=1, random_state=0)
    model, rows = folder / "large.rt", folder / "large.parquet"
    clf.partial_fit(X, np.arange(n_classes)).save(model)
    lists = pa.FixedSizeListArray.from_arrays(pa.array(X[:8].reshape(-1)), n_features)
    pq.write_table(pa.table({"x": lists}), rows)
    return {
        "large_model_bytes": model.stat().st_size,
        "pss": {n: shared_memory(model, rows, k, n) for n in (1, 4)},
    }


def shared_memory(model: Path, folder: Path, k: int, n: int) -> dict[str, int]:
    """Return what `n` processes take in bytes, after they have answered all rows of a folder."""
    command = [sys.executable, "-c", _HOLD, model, folder, str(k)]
    processes = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(n)
    ]
    try:
        for process in processes:
            assert process.stdout is not None
            process.stdout.readline()
        rollups = [Path(f"/proc/{p.pid}/smaps_rollup").read_text() for p in processes]
        mapped = [Path(f"/proc/{p.pid}/smaps").read_text() for p in processes]
    finally:
        for process in processes:
            process.communicate()
    return {
        "all": sum(_kilobytes(text, "Pss:") for text in rollups) * 1024,
        "model": sum(_kilobytes(_of_file(text, str(model)), "Pss:") for text in mapped) * 1024,
    }


def _kilobytes(text: str, name: str) -> int:
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith(name))


def _of_file(text: str, path: str) -> str:
    """Return the part of a process's map that is about a file."""
    kept, inside = [], False
    for line in text.splitlines():
        if not line.split(":")[0].isalpha() and "-" in line.split()[0]:
            inside = line.endswith(path)
        if inside:
            kept.append(line)
    return "\n".join(kept)


def table(result: dict[str, Any]) -> Table:
    """Return one line per engine; the sizes stand above."""
    pss = result["pss"]
    shown = Table(
        title=f"{result['set']}; a model of {result['large_model_bytes'] / 1e6:,.0f} MB takes "
        f"{pss[1]['model'] / 1e6:,.1f} MB of the memory of 1 process, and "
        f"{pss[4]['model'] / 1e6:,.1f} MB of that of 4 together; in all "
        f"{pss[1]['all'] / 1e6:,.0f} and {pss[4]['all'] / 1e6:,.0f} MB"
    )
    shown.add_column("engine")
    for heading in ("cpu µs", "share", "own µs", "our part", "share", "wall µs", "share"):
        shown.add_column(heading, justify="right")
    one = result["times"].get("in-process")
    for engine, found in result["times"].items():
        is_other = one is not None and engine != "in-process"
        cells = [""] * 5
        if "cpu" in found:
            ours = found["cpu"] - found["own_cpu"]
            of_all, own, of_us = map(report.number, (found["cpu"], found["own_cpu"], ours))
            cells = [of_all, "", own, of_us, ""]
            if is_other:
                cells[1] = f"{100 * one['cpu'] / found['cpu']:.0f}%"
                cells[4] = f"{100 * (one['cpu'] - one['own_cpu']) / ours:.0f}%"
        cells.append(report.number(found["wall"]))
        if is_other:
            cells.append(f"{100 * one['wall'] / (result['workers'] * found['wall']):.0f}%")
        shown.add_row(engine, *cells)
    return shown
