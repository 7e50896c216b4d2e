"""Running the benchmarks in tests: in this process, with reports and caches in a folder."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # `benchmarks` is run from the repository and never installed

from benchmarks import __main__ as command_line  # noqa: E402


def report_of(command: str, folder: Path, *options: str) -> dict[str, Any]:
    """Run a command and return its report, which does not tell where it was run."""
    output = folder / "results" / f"{command}.json"
    places = ["--cache-dir", str(folder / "cache"), "--json", str(output)]
    command_line.main([command, *places, *options])
    text = output.read_text()
    assert str(folder) not in text
    content = json.loads(text)
    assert content["command"].startswith(f"python -m benchmarks {command}")
    return content
