"""The examples of engines run."""

import pytest
from engines import engine
from example_runs import run_example

NEEDED = {
    "duckdb_rows.py": "duckdb",
    "spark_rows.py": "pyspark",
    "ray_rows.py": "ray",
    "ray_training.py": "ray",
}


@pytest.mark.parametrize("name", NEEDED)
def test_an_example(name, tmp_path):
    engine(NEEDED[name])
    run_example(name, tmp_path)
