"""Docstrings and help texts as reStructuredText: ``X_`` and ``|x|`` are no markup there."""

import re

#: ``X : array-like of shape (n_samples, n_features_in_)``
TYPE_LINE = re.compile(r"^\s*[\w*, ]+ : ")
#: References to the manual of scikit-learn, in docstrings that are inherited.
FOREIGN_REFERENCE = re.compile(r":ref:`([^<`]*?)\s*<[^`]*>`")


def escape_types(app, what, name, obj, options, lines):
    """Escape the attributes of estimators in the types of parameters."""
    for i, line in enumerate(lines):
        if TYPE_LINE.match(line):
            line = re.sub(r"(?<=\w)_(?=\W|$)", r"\\_", line)
        lines[i] = FOREIGN_REFERENCE.sub(r"\1", line)


def escape_bars(app, context, lines):
    """Escape absolute values such as ``|x|``."""
    lines[:] = [re.sub(r"\|(\w+)\|", r"\\|\1\\|", line) for line in lines]


def setup(app):
    """Connect both to what Sphinx reads."""
    app.connect("autodoc-process-docstring", escape_types, priority=400)  # before napoleon
    app.connect("sphinx-click-process-options", escape_bars)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
