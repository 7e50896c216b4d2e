"""The report: one self-contained page on which to look at a model."""

from __future__ import annotations

import html
import os
import re
from collections.abc import Sequence
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from recalltree.inspection.evaluation import Evaluation
from recalltree.inspection.list_evaluation import ListEvaluation, evaluation_for
from recalltree.inspection.report_data import pack, report_data, sha256
from recalltree.label_lists import are_label_lists
from recalltree.model_file.atomic import check_target

#: Parts of the page's script, in the order in which they are joined.
_SCRIPTS = (
    *("page", "charts", "tree", "cells", "details", "search", "votes"),
    *("sections", "lists", "main"),
)


def html_report(
    clf: Any,
    path: str | os.PathLike[str],
    confusion: Evaluation | ListEvaluation | tuple[Any, Any] | None = None,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
) -> Path:
    """Write a page on which to look at a model: one file, which needs no network.

    The tree as a picture to explore (width: examples, colour: recall bound), where routes end and
    what recall they have, the progressive error over time, classes that are confused, candidate
    sets, class frequencies, memory; and a box to find a class and the nodes that hold it. Of a
    model with cells a map of the vectors of its classes, on which the classes of a cell stand out.
    For one-against-some over words, a box to type a row or a word in: who votes for what.

    Of rows with several labels it shows precision, recall and nDCG, which labels are missed and
    which are answered in their place, how many labels rows have, and the rows with the worst
    results.

    The page stays within some megabytes: of a very large model it draws the 20,000 nodes with the
    most examples, lists the 100,000 most frequent classes, has the votes of the 5,000 most frequent
    features, and says so.

    Parameters
    ----------
    clf : fitted estimator
    path : path-like
        Where to write the page.
    confusion : (X, y), Evaluation or ListEvaluation, default=None
        Labelled rows on which to measure errors and confusions, or an evaluation that was made of
        the same model. ``y`` may have lists of labels. None leaves this part out.
    title : str, default=None
        Heading of the page; None is the name of the algorithm.
    feature_names : sequence of str, default=None
        Names of the features, such as a vectorizer's ``get_feature_names_out()``. None is
        ``feature_names_in_``; words of rows that ``recalltree train`` has read need no names.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from recalltree import RecallTreeClassifier
    >>> from recalltree.inspection import html_report
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> clf = RecallTreeClassifier(max_candidates=3, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = html_report(clf, f"{folder}/report.html", confusion=(X, y))
    ...     page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    target = Path(path)
    check_target(target)
    page = report_page(clf, confusion, title, feature_names)
    target.write_text(page, encoding="utf-8")
    return target


def report_page(
    clf: Any,
    confusion: Evaluation | ListEvaluation | tuple[Any, Any] | None = None,
    title: str | None = None,
    feature_names: Sequence[str] | None = None,
) -> str:
    """Return the page that ``html_report`` writes.

    Parameters
    ----------
    clf : fitted estimator
    confusion : (X, y), Evaluation or ListEvaluation, default=None
    title : str, default=None
    feature_names : sequence of str, default=None
        As of ``html_report``.

    Returns
    -------
    str
    """
    evaluation: Evaluation | ListEvaluation | None = None
    if isinstance(confusion, Evaluation | ListEvaluation):
        evaluation = confusion
        if evaluation.clf is not clf:
            raise ValueError("confusion is an evaluation of another model; evaluate this one.")
    elif confusion is not None:
        X, y = confusion
        evaluation = evaluation_for(clf, are_label_lists(y)).update(X, y)
    data = report_data(clf, evaluation, feature_names)
    return _page(data, title or data["summary"]["algorithm"])


def _page(data: dict[str, Any], title: str) -> str:
    folder = files("recalltree.inspection") / "page"
    parts = [(folder / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    script = "(() => {\n'use strict';\n" + "\n".join(parts) + "})();\n"
    style = (folder / "report.css").read_text(encoding="utf-8")
    fields = {
        "title": html.escape(title),
        "footer": f"Written by recalltree {version('recalltree')}",
        "style": style,
        "script": script,
        # The browser runs this script and no other, whatever labels may contain.
        "style_hash": sha256(style),
        "script_hash": sha256(script),
        "data": pack(data),
    }
    page = (folder / "report.html").read_text(encoding="utf-8")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: fields[found[1]], page)
