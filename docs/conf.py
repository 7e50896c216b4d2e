"""How Sphinx makes the site: ``make docs`` writes it to build/docs/html.

The source folder is the whole repository, so that links between pages, the changelog and the notes
of the benchmarks are the same on the site as in the repository.
"""

import re
import sys
import tempfile
from importlib.metadata import metadata
from importlib.metadata import version as version_of
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_site"))

project = "recalltree"
author = "recalltree developers"
copyright = author
version = release = version_of("recalltree")

root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "experiments/README.md",
]
_folders = {pattern.split("/")[0] for pattern in include_patterns}
exclude_patterns = [
    path.name for path in Path(__file__).parents[1].iterdir() if path.name not in _folders
]
exclude_patterns += ["**/results", "docs/_site"]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_copybutton",
    "matplotlib.sphinxext.plot_directive",
    "docstrings",
    "drawn_examples",
    "mathml",
]

# --- pages ---------------------------------------------------------------------------------------

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# A page is part of the site before it has found its place in the order of reading.
suppress_warnings = ["toc.not_included"]

# --- docstrings ----------------------------------------------------------------------------------

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc has them in words
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
default_role = "py:obj"

# --- plots: drawn while the site is built --------------------------------------------------------

plot_formats = ["svg"]
plot_include_source = True
plot_working_directory = tempfile.mkdtemp(prefix="recalltree-docs-")
plot_html_show_formats = False
plot_html_show_source_link = False
plot_rcparams = {
    "figure.figsize": (7, 3.6),
    "figure.constrained_layout.use": True,
    "svg.hashsalt": "recalltree",
    "svg.fonttype": "none",
}
plot_apply_rcparams = True

# --- looks ---------------------------------------------------------------------------------------

html_theme = "furo"
html_title = f"recalltree {version}"
html_math_renderer = "mathml"
html_extra_path = ["_site/index.html"]
html_static_path = ["_site/site.css"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ |> "
copybutton_prompt_is_regexp = True

# Badges and arXiv answer robots with errors now and then.
linkcheck_retries = 2
linkcheck_timeout = 20
# The project's own addresses, as pyproject.toml has them, exist once it is published.
_urls = dict(url.split(", ") for url in metadata("recalltree").get_all("Project-URL"))
linkcheck_ignore = [re.escape(_urls[name]) for name in ("Homepage", "Documentation")]
