"""``recalltree inspect``: what is inside a model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

import click

from recalltree.cli.evaluate import evaluate_rows
from recalltree.cli.generated_options import reader_options
from recalltree.cli.inputs import check_output, extra_of, load_to_use, rows_like_the_models
from recalltree.cli.messages import as_json as to_json
from recalltree.cli.messages import one_line, say, write_pairs
from recalltree.cli.options import (
    SectionOption,
    command,
    jobs_option,
    json_option,
    mmap_option,
    model_option,
    quiet_option,
    rows_argument,
)


def inspect(
    ctx: click.Context,
    /,
    rows: Sequence[str],
    model: str,
    mmap: bool,
    tree: bool,
    depth: int,
    labels: Sequence[str],
    html: str | None,
    n_jobs: int | None,
    quiet: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Show what is inside a model.

    --html writes a page to explore: the tree as a picture, recall, errors over time, candidates,
    memory, and a box to find classes. ROWS are optional labelled rows, on which the page shows
    errors and confused classes.
    """
    from recalltree.inspection import find_class, report_page, summary, tree_text
    from recalltree.readers.feature_state import names_in_options

    if rows and html is None:
        raise click.UsageError(
            "ROWS are for the page of --html; add --html FILE, or use recalltree evaluate.", ctx
        )
    if html is not None:
        check_output(html)
    clf = load_to_use(model, mmap, n_jobs)
    if labels:
        found = [find_class(clf, label) for label in labels]
        if as_json:
            for item in found:
                click.echo(to_json(item))
        else:
            click.echo("\n\n".join(map(_class_text, found)))
    if tree:
        click.echo(tree_text(clf, max_depth=depth))
    if html is not None:
        evaluation = None
        if rows:
            reader = rows_like_the_models(ctx, clf, list(rows), values)
            evaluation = evaluate_rows(clf, reader, quiet=quiet)
        names = names_in_options(extra_of(clf).get("rows"))
        _write_page(report_page(clf, evaluation, _title(model), names), html, quiet=quiet)
    if not (labels or tree or html):
        found_all = {**_file(model), **summary(clf), "rows": _without_state(clf)}
        if as_json:
            click.echo(to_json(found_all))
        else:
            write_pairs(_lines(found_all))


def _title(model: str) -> str | None:
    return None if model == "-" else PurePath(model).name


def _write_page(page: str, path: str, *, quiet: bool) -> None:
    if path == "-":
        click.echo(page)
        return
    Path(path).write_text(page, encoding="utf-8")
    say(f"the page is in {path}", quiet=quiet)


def _file(model: str) -> dict[str, Any]:
    """Return what the file says about itself."""
    if model == "-":
        return {}
    from recalltree.model_file import read_header

    header = read_header(model)
    names = ("format_version", "library_version", "contents")
    return {"file": {**{name: header[name] for name in names}, "bytes": Path(model).stat().st_size}}


def _without_state(clf: Any) -> dict[str, Any] | None:
    """Return how the model's rows were read; a dictionary is too long to be looked at."""
    rows = extra_of(clf).get("rows")
    return None if rows is None else {n: value for n, value in rows.items() if n != "state"}


def _lines(found: dict[str, Any]) -> list[tuple[str, str]]:
    error = found["progressive_error"]
    lines = []
    if "file" in found:
        file = found["file"]
        written = f"format {file['format_version']}, by recalltree {file['library_version']}"
        lines.append(("file", f"{file['bytes']:,} bytes for {file['contents']}, {written}"))
    lines += [
        ("algorithm", found["algorithm"]),
        ("examples learned", f"{found['n_examples']:,}"),
        ("classes", f"{found['n_classes']:,}"),
        ("features", f"{found['n_features']:,} ({found['storage']})"),
        ("progressive error", "none" if error is None else f"{error:.4f}"),
        ("memory", f"{found['memory_bytes']:,} bytes"),
    ]
    lines += [
        (f"  {part.replace('_', ' ')}", f"{size:,}")
        for part, size in found["memory_by_part"].items()
        if size
    ]
    if "class_frequency" in found:
        spread = found["class_frequency"]
        numbers = ", ".join(f"{name} {spread[name]:,.6g}" for name in ("min", "median", "max"))
    else:
        numbers = "not counted"
    lines.append(("examples per class", numbers))
    if "tree" in found:
        lines += _tree_lines(found["tree"])
    if "cells" in found:
        cells = found["cells"]
        spread = ", ".join(f"{n} {cells[n]:,.6g}" for n in ("smallest", "median", "largest"))
        read = f"{cells['n_cells']:,}, of which {cells['cells_read']:,} are read at most"
        lines += [("cells", read), ("classes in a cell", spread)]
    if found["rows"] is not None:
        options = (f"{name} {value}" for name, value in found["rows"].items() if value)
        lines.append(("rows were read as", ", ".join(options)))
    lines += [
        (f"  {name}", str(value)) if i else ("parameters", f"{name} {value}")
        for i, (name, value) in enumerate(found["parameters"].items())
    ]
    return lines


def _tree_lines(tree: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [
        ("nodes", f"{tree['n_nodes']:,}, {tree['n_leaves']:,} of them leaves"),
        ("depth", f"{tree['depth']}, routes end at {tree['mean_depth']:.1f} on average"),
        ("classes compared", f"{tree['mean_candidates']:.1f} on average"),
        ("estimated recall", f"{tree['recall']:.4f}"),
    ]
    if "recall_bound" in tree:
        lines[2] = (lines[2][0], f"{lines[2][1]}, at most {tree['max_candidates']:,}")
        lines.append(("recall bound", f"{tree['recall_bound']:.4f}"))
    return lines


def _class_text(found: dict[str, Any]) -> str:
    head = f"{one_line(found['label'])}: class {found['class_id']}"
    if found["n_examples"] is not None:
        head += f", {found['n_examples']:,.6g} examples"
    if found.get("cell") is not None:
        head += f", in cell {found['cell']}"
    lines = [head]
    if found["nodes"]:
        lines.append(f"{'node':>8}  {'depth':>5}  {'rank':>5}  {'examples':>10}  recall bound")
    for place in found["nodes"]:
        bound = "" if place["recall_bound"] is None else f"{place['recall_bound']:.4f}"
        lines.append(
            f"{place['node']:>8}  {place['depth']:>5}  {place['rank']:>5}  "
            f"{place['n_examples']:>10,.6g}  {bound:>12}"
        )
    return "\n".join(lines)


_OPTIONS = [
    model_option,
    mmap_option,
    SectionOption(["--tree"], is_flag=True, help="Draw the upper part of the tree."),
    SectionOption(
        ["--depth"],
        type=click.IntRange(min=0),
        default=4,
        show_default=True,
        help="Levels of the tree to draw.",
    ),
    SectionOption(
        ["--class", "labels"],
        multiple=True,
        metavar="LABEL",
        help="Show the nodes that hold a class. May be given several times.",
    ),
    SectionOption(
        ["--html"],
        metavar="FILE",
        type=click.Path(allow_dash=True),
        help="Write a page to explore the model; - is standard output.",
    ),
    jobs_option,
    json_option,
    quiet_option,
]

_EXAMPLES = (
    ("A summary:", "recalltree inspect -m model.rt"),
    ("Where is a class?", "recalltree inspect -m model.rt --class fox"),
    (
        "A page to look at, with errors measured on test rows:",
        "recalltree inspect -m model.rt --html report.html test.vw",
    ),
)

inspect_command = command(
    "inspect", inspect, [rows_argument, *_OPTIONS, *reader_options()], _EXAMPLES
)
