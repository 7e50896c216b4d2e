"""The example that needs no engine runs; ``test_engine_examples.py`` runs the others."""

import pytest
from example_runs import EXAMPLES, run_example

pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra: arrow)")


def test_the_example_of_plain_arrow(tmp_path):
    run_example("arrow_parquet.py", tmp_path)


def test_all_examples_are_listed():
    listed = (EXAMPLES / "README.md").read_text()
    scripts = {path.name for path in EXAMPLES.glob("*.py")} - {"library_rows.py", "train_model.py"}
    assert all(f"| `{name}` |" in listed for name in scripts)
