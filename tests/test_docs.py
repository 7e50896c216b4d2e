"""Names in the documents exist."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [
    *ROOT.glob("*.md"),
    *ROOT.glob("docs/**/*.md"),
    ROOT / "benchmarks" / "README.md",
    ROOT / "experiments" / "README.md",
]
ALGORITHM = (ROOT / "docs" / "algorithm.md").read_text()
MODULES = [
    importlib.import_module(name)
    for name in (
        "recalltree.reference",
        "recalltree.reference.recall_tree",
        "recalltree.reference.linear_learner",
    )
]

CPP_NAMES = sorted(set(re.findall(r"`(\w+\.[ch]pp)(?:::([\w:]+))?`", ALGORITHM)))
PYTHON_NAMES = sorted(set(re.findall(r"`((?:\w+\.)*[A-Z]\w+\.\w+)`", ALGORITHM)))


def python_of(page):
    """Yield the lines of code in a page's examples."""
    for line in page.read_text().splitlines():
        if line.startswith((">>> ", "... ")):
            yield line[4:] + "\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_pages_use_what_is_public(page):
    assert not re.search(r"\w\._(?!core`)[a-z]\w*", "".join(python_of(page)))


def test_every_page_has_its_place_in_the_order_of_reading():
    index = ROOT / "docs" / "index.md"
    blocks = re.findall(r"^```{toctree}\n(.*?)^```$", index.read_text(), re.S | re.M)
    entries = [line for block in blocks for line in block.splitlines() if line and line[0] != ":"]
    pages = [(index.parent / f"{entry}.md").resolve() for entry in entries]
    assert len(pages) == len(set(pages))
    assert {page for page in PAGES if page.is_relative_to(ROOT / "docs")} - {index} <= set(pages)


def test_the_version_is_the_same_everywhere():
    patterns = {
        "pyproject.toml": r'^version = "(.*)"$',
        "CITATION.cff": r"^version: (.*)$",
        "CHANGELOG.md": r"^## \[(.*?)\]",
    }
    found = {
        re.search(pattern, (ROOT / name).read_text(), re.M)[1] for name, pattern in patterns.items()
    }
    assert len(found) == 1


@pytest.mark.parametrize(
    "page", sorted(ROOT.glob("docs/tutorials/*.md")), ids=lambda page: page.stem
)
def test_tutorials_draw_plots_and_download_nothing(page):
    code = "".join(python_of(page))
    assert "plt.subplots(" in code
    assert not re.search(r"\bfetch_|urlopen|requests|https?://", code)


@pytest.mark.parametrize("folder", ["benchmarks", "experiments"])
def test_studies_ask_estimators_not_their_core(folder):
    for path in (ROOT / folder).rglob("*.py"):
        assert not re.search(r"(?<!recalltree)\._core\b(?!_type)", path.read_text()), path


@pytest.mark.parametrize(("file", "function"), CPP_NAMES)
def test_cpp_functions_of_the_map_exist(file, function):
    folders = (ROOT / "cpp" / "src", ROOT / "cpp" / "include")
    found = [path for folder in folders for path in folder.rglob(file)]
    assert found
    assert not function or re.search(rf"\b{function}\(", found[0].read_text())


@pytest.mark.parametrize("name", PYTHON_NAMES)
def test_python_names_of_the_map_exist(name):
    *_, owner, attribute = name.split(".")
    classes = [getattr(module, owner) for module in MODULES if hasattr(module, owner)]
    assert classes, owner
    if not hasattr(classes[0], attribute):  # made by the constructor
        module = importlib.import_module(classes[0].__module__)
        assert f"self.{attribute} = " in Path(module.__file__).read_text()


def test_the_map_is_not_empty():
    assert len(CPP_NAMES) > 20
    assert len(PYTHON_NAMES) > 20


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
