"""Dependencies point one way, in C++ and from Python to C++.

Imports between Python modules are import-linter's business (pyproject.toml); it cannot see the
compiled module, nor C++.
"""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "recalltree"
HEADERS = sorted((ROOT / "cpp" / "include" / "recalltree").glob("*.hpp"))
SOURCES = sorted((ROOT / "cpp" / "src").glob("*.cpp"))

MAY_IMPORT_CORE = {"estimators", "labels", "model_file", "tree", "validation"}


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
