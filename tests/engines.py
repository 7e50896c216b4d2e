"""Engines that tests run for real; without one, they are skipped and say why."""

import os
import shutil
from importlib import import_module

import pytest

#: Engines whose absence is a failure: ``make test-engines`` installs them.
REQUIRED = os.environ.get("RECALLTREE_ENGINES", "").split()


def engine(name):
    """Return the module of an engine."""
    if name in REQUIRED:
        return import_module(name)
    if name == "pyspark" and shutil.which("java") is None:
        pytest.skip("there is no Java for Spark", allow_module_level=True)
    return pytest.importorskip(name, reason=f"{name} is not installed (make test-engines)")
