"""Write the tables that compare methods, in README and docs/comparison.md, from stored results.

A table stands between two comments that name its set; the text around it is left as it is.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.stored import ALGORITHMS, Method, methods

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
COMPARISON = ROOT / "docs" / "comparison.md"
LABEL_SCORES = ("P@1", "P@3", "P@5", "R@5", "nDCG@5", "PSP@5")

_TABLE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end of table -->)", re.DOTALL)


@dataclass(frozen=True)
class Stored:
    """Where the results of a set are: the file with our own numbers, and the others."""

    name: str
    shown: str
    first: str
    files: tuple[str, ...]
    n_train: int

    def methods(self) -> list[Method]:
        return methods(self.name, first=self.first, pattern=self.files, n_train=self.n_train)


SETS = {
    stored.name: stored
    for stored in (
        Stored(
            "webdirectory",
            "text, 11,156 classes",
            "vowpal-webdirectory",
            ("vowpal-webdirectory*", "peers-webdirectory*"),
            100_626,
        ),
        Stored(
            "wikipassage",
            "text, 91,904 classes",
            "peers-wikipassage",
            ("vowpal-wikipassage*", "peers-wikipassage*", "ours-wikipassage"),
            854_993,
        ),
        Stored("passages", "embeddings, 17,000 classes", "dense", ("dense*",), 144_500),
        Stored(
            "glyphs",
            "images, 1,000 classes",
            "vowpal-glyphs",
            ("vowpal-glyphs*", "peers-glyphs*", "dense*"),
            95_703,
        ),
        Stored("subjects", "titles, 21,325 labels", "labels", ("labels*",), 434_375),
    )
}

#: README's table: a few methods of two sets.
CHOSEN = {
    "webdirectory": ("omikuji", "PECOS", "Vowpal Wabbit, `--recall_tree`"),
    "passages": (
        "class means, all compared (BLAS)",
        "full softmax in PyTorch",
        "hnswlib over class means, ef = 24",
    ),
}


def times(method: Method) -> list[str]:
    """Return the cells of the times: ours in microseconds, others as multiples of ours."""
    if method.is_ours:
        return [f"{method.learn:.0f} µs", f"{method.predict:.0f} µs"]
    mark = "†" if method.apart else ""
    return [f"{multiple(t)}{mark}" for t in (method.times_learn, method.times_predict)]


def multiple(value: float) -> str:
    """Return two significant digits.

    >>> multiple(0.0883), multiple(4.54), multiple(9.96), multiple(137.5)
    ('0.09x', '4.5x', '10x', '138x')
    """
    digits = 0 if value >= 9.95 else 1 if value >= 0.95 else 2
    return f"{value:,.{digits}f}x"


def name_of(method: Method) -> str:
    name, comma, setting = method.name.partition(", ")
    return f"`{name}`{comma}{setting}" if name in ALGORITHMS.values() else method.name


def error_of(method: Method, best: float) -> str:
    shown = f"{method.error:.1f}%"
    return f"**{shown}**" if method.error == best else shown


def of_errors(found: Sequence[Method]) -> list[str]:
    """Return the lines of a table of one set with one label per row."""
    best = min(method.error for method in found)
    return markdown(
        ("method", "test error", "learn", "predict", "peak MB"),
        ([name_of(m), error_of(m, best), *times(m), f"{m.peak_rss / 1e6:,.0f}"] for m in found),
    )


def of_labels(found: Sequence[Method]) -> list[str]:
    """Return the lines of a table of one set with several labels per row."""
    best = {name: max(method.scores[name] for method in found) for name in LABEL_SCORES}

    def score(method: Method, name: str) -> str:
        shown = f"{method.scores[name]:.1f}"
        return f"**{shown}**" if shown == f"{best[name]:.1f}" else shown

    return markdown(
        ("method", *LABEL_SCORES, "learn", "predict", "peak MB"),
        (
            [
                name_of(m),
                *(score(m, name) for name in LABEL_SCORES),
                *times(m),
                f"{m.peak_rss / 1e6:,.0f}",
            ]
            for m in found
        ),
    )


def for_readme() -> list[str]:
    """Return the lines of README's table: ours and some others on two sets."""
    rows = []
    for name, chosen in CHOSEN.items():
        found = SETS[name].methods()
        best = min(method.error for method in found)
        shown = [method for method in found if method.is_ours or method.name in chosen]
        for method in shown:
            data = SETS[name].shown if method is shown[0] else ""
            rows.append([data, name_of(method), error_of(method, best), *times(method)])
    return markdown(("data", "method", "test error", "learn", "predict"), rows)


def markdown(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    rule = ["---" if heading in ("data", "method") else "---:" for heading in headings]
    return ["| " + " | ".join(line) + " |" for line in (headings, rule, *rows)]


def table_of(name: str) -> list[str]:
    makers: dict[str, Callable[[Sequence[Method]], list[str]]] = {"subjects": of_labels}
    if name == "chosen methods":
        return for_readme()
    return makers.get(name, of_errors)(SETS[name].methods())


def with_tables(text: str) -> str:
    """Return a page with its tables made again."""
    return _TABLE.sub(lambda m: m[1] + "\n".join([*table_of(m[2]), "", m[3]]), text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--pages", nargs="+", type=Path, default=[README, COMPARISON])


def run(options: argparse.Namespace, console: Console) -> None:
    for page in options.pages:
        page.write_text(with_tables(page.read_text()))
        console.log(f"wrote the tables of {page}")
