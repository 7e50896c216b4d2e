"""Rows that every machine has: paragraphs of the standard library, and the module each is from."""

from __future__ import annotations

import random
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recalltree.demo.tokens import source_files

LINES = 8


def write_rows(folder: Path, n_files: int = 4, n_modules: int = 80) -> tuple[Path, Path]:
    """Write Parquet files of rows to learn, and one of rows to answer; return where they are."""
    rows = [row for path in islice(source_files(), n_modules) for row in paragraphs(path)]
    random.Random(0).shuffle(rows)  # what comes later should look like what came before
    table = pa.table(
        {
            "id": range(len(rows)),
            "module": [module for module, _ in rows],
            "text": [text for _, text in rows],
        }
    )
    is_test = pa.array([i % 10 == 0 for i in range(len(rows))])
    learned = table.filter(pc.invert(is_test))
    (folder / "train").mkdir(parents=True)
    size = -(-len(learned) // n_files)
    for i in range(n_files):
        pq.write_table(learned.slice(i * size, size), folder / "train" / f"{i}.parquet")
    pq.write_table(table.filter(is_test), folder / "test.parquet")
    return folder / "train", folder / "test.parquet"


def paragraphs(path: Path) -> list[tuple[str, str]]:
    """Return pairs of a module and some of its lines."""
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    starts = range(0, len(lines), LINES)
    return [(path.stem, "\n".join(lines[start : start + LINES])) for start in starts]
