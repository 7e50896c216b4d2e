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
HEADERS = sorted((ROOT / "cpp" / "include" / "recalltree").glob("*.hpp"))
SOURCES = sorted((ROOT / "cpp" / "src").glob("*.cpp"))

# From the bottom up; a file may include files of its own layer and of those below.
LAYERS = [
    "arena config distinct example group_of_ids group_of_tags half inlining intended_race prefetch"
    " random_bits rows spin_lock stable_vector state state_checks thread_team types",
    "kernels kernels_impl",
    "class_matrix class_nodes class_pairs criteria dense_weights descent feature_centring"
    " feature_dropout feature_scale feature_weighting forest_rules found key_forest key_histograms"
    " label_histogram label_sums linear_learner mapped_key_forest mapped_tree mapped_weights"
    " narrow_numbers occurrences packed_counts pair_rank ranked_labels reading recall_rules"
    " saved_tree sparse_column sparse_weights tree voted_rows votes voting voting_in_blocks"
    " voting_rules voting_workspace weights workspace",
    "explanation learner lom_tree mapped_lom_tree mapped_model mapped_one_against_all"
    " mapped_one_against_some mapped_recall_tree one_against_all one_against_some predictor"
    " recall_tree",
]
# Readers of text know nothing of the learners: all their layers are below.
READER_LAYERS = [
    "bad_row numbers row utf8",
    "document_frequencies feature_hash line_scanner row_batch",
    "feature_dictionary",
    "feature_space",
    "word_features",
    "line_format svmlight_format vowpal_format fasttext_format",
    "text_column text_parser",
]
LAYER_OF = {
    name: level + offset
    for offset, layers in ((0, LAYERS), (-len(READER_LAYERS), READER_LAYERS))
    for level, names in enumerate(layers)
    for name in names.split()
}

MAY_IMPORT_CORE = {"estimators", "labels", "model_file", "readers", "tree", "validation"}


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


def layer(path: Path) -> int:
    """Layer of a header, or of a source file by the header whose name its own contains."""
    named = [name for name in LAYER_OF if name in path.stem and path.suffix == ".cpp"]
    name = path.stem if path.stem in LAYER_OF else max(named, key=len, default="")
    assert name, f"say in LAYERS where {path.name} belongs"
    return LAYER_OF[name]


@pytest.mark.parametrize("path", [*HEADERS, *SOURCES], ids=lambda path: path.name)
def test_no_include_goes_up_a_layer(path):
    own = {Path(name).name for name in includes(path)} & {header.name for header in HEADERS}
    assert not [name for name in own if layer(Path(name)) > layer(path)]


def test_headers_include_each_other_without_cycles():
    graph = {
        header.name: {Path(name).name for name in includes(header)} & {h.name for h in HEADERS}
        for header in HEADERS
    }
    tuple(TopologicalSorter(graph).static_order())  # raises CycleError
