"""Dependencies point one way, in C++ and from Python to C++.

Imports between Python modules are import-linter's business (pyproject.toml); it cannot see the
compiled module, nor C++.
"""

import ast
import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "recalltree"
HEADERS = sorted((ROOT / "cpp" / "include" / "recalltree").rglob("*.hpp"))
SOURCES = sorted((ROOT / "cpp" / "src").rglob("*.cpp"))

# A folder may include itself and these. docs/architecture.md draws the same picture.
MAY_INCLUDE = {
    "base": set(),
    "text": {"base"},
    "kernels": {"base"},
    "linear": {"base", "kernels"},
    "cells": {"base", "kernels", "linear"},
    "model": {"base", "kernels", "linear"},
    "paper": {"base", "kernels", "linear", "model"},
    "voting": {"base", "cells", "kernels", "linear", "model", "paper"},
    "file": {"base", "cells", "kernels", "linear", "model", "paper", "voting"},
}

MAY_IMPORT_CORE = {
    "__init__",
    "estimators",
    "labels",
    "merging",
    "model_file",
    "readers",
    "tree",
    "validation",
}


def imported_names(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_only_the_estimators_and_what_they_stand_on_import_the_core():
    importers = {
        path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for path in PACKAGE.rglob("*.py")
        if any("_core" in name.split(".") for name in imported_names(path))
    }
    assert importers <= MAY_IMPORT_CORE


def includes(path: Path) -> list[str]:
    return re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", [*HEADERS, *SOURCES], ids=lambda path: path.name)
def test_no_python_header_below_the_bindings(path):
    assert not [name for name in includes(path) if name.startswith(("nanobind", "Python.h"))]


def test_both_halves_of_the_core_have_these_folders():
    for paths in (HEADERS, SOURCES):
        assert {path.parent.name for path in paths} <= set(MAY_INCLUDE)


@pytest.mark.parametrize("path", [*HEADERS, *SOURCES], ids=lambda path: path.name)
def test_a_folder_includes_only_those_below(path):
    own = path.parent.name
    included = re.findall(r"^recalltree/(\w+)/", "\n".join(includes(path)), re.MULTILINE)
    assert set(included) <= {own} | MAY_INCLUDE[own]


def header_name(path: Path) -> str:
    return path.relative_to(ROOT / "cpp" / "include").as_posix()


def test_headers_include_each_other_without_cycles():
    graph = {
        header_name(header): set(includes(header)) & {header_name(h) for h in HEADERS}
        for header in HEADERS
    }
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError
