"""Running the scripts of examples/."""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"


def run_example(name, folder):
    """Run a script in a folder; check that it says how many of how many answers are right."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / name],
        cwd=folder,
        # The sockets of Ray need a short path.
        env={**os.environ, "TMPDIR": str(folder), "RAY_TMPDIR": tempfile.gettempdir()},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    right, of = map(int, re.search(r"(\d+) of (\d+) paragraphs", done.stdout).groups())
    assert of > 400
    assert right > 0.4 * of
