"""A section of the page of results: Markdown with tables, and figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from experiments.data.catalogue import SETS as CATALOGUE
from experiments.store import Record

Draw = Callable[[Any], None]  # draws into a matplotlib Figure


HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"


@dataclass(frozen=True)
class Finding:
    """A line of the summary: a claim of the paper or a question, the answer, one measurement."""

    claim: str
    answer: str
    measured: str
    is_papers: bool = True


@dataclass
class Section:
    """Paragraphs, tables and figures, in order, and what they come to."""

    blocks: list[str] = field(default_factory=list)
    figures: dict[str, Draw] = field(default_factory=dict)  # file name without .svg -> drawing
    findings: list[Finding] = field(default_factory=list)

    def find(self, claim: str, answer: str, measured: str) -> None:
        """Add a claim of the paper to the summary of the page."""
        self.findings.append(Finding(claim, answer, measured))

    def answer(self, question: str, answer: str, measured: str) -> None:
        """Add a question about one-against-some to the summary of the page."""
        self.findings.append(Finding(question, answer, measured, is_papers=False))

    def say(self, text: str) -> None:
        """Add a paragraph."""
        self.blocks.append(" ".join(text.split()))

    def say_once(self, text: str) -> None:
        """Add a paragraph, unless the section has it already."""
        if " ".join(text.split()) not in self.blocks:
            self.say(text)

    def bullets(self, items: Iterable[str]) -> None:
        """Add a list."""
        if lines := [f"- {item}" for item in items]:
            self.blocks.append("\n".join(lines))

    def table(self, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Add a table; columns after the first text columns are right-aligned if numeric."""
        self.blocks.append(markdown_table(headings, rows))

    def figure(self, name: str, caption: str, draw: Draw) -> None:
        """Add a figure, drawn when the page is written."""
        if name in self.figures:  # the same set under another budget
            name = f"{name}-{len(self.figures)}"
        self.blocks.append(f"![{caption}](results/{name}.svg)\n\n*{caption}*")
        self.figures[name] = draw


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table.

    >>> print(markdown_table(["set", "error %"], [["glyphs", "12.2"]]))
    | set | error % |
    |---|---:|
    | glyphs | 12.2 |
    """

    def is_number(cell: str) -> bool:
        return cell[:1].isdigit() or cell[:1] in ("", "-")

    aligned = [
        "---:" if rows and all(is_number(row[i]) for row in rows) else "---"
        for i in range(len(headings))
    ]
    lines = [list(headings), *[list(row) for row in rows]]
    text = ["| " + " | ".join(line) + " |" for line in lines]
    text.insert(1, "|" + "|".join(aligned) + "|")
    return "\n".join(text)


def answer_of(outcomes: Sequence[bool]) -> str:
    """Return what several outcomes of a claim come to.

    >>> answer_of([True, True]), answer_of([True, False]), answer_of([False])
    ('holds', 'holds in part', 'does not hold')
    """
    return HOLDS if all(outcomes) else IN_PART if any(outcomes) else FAILS


def percent(share: float | None, digits: int = 1) -> str:
    """Return a share as it stands in tables.

    >>> percent(0.1234), percent(None)
    ('12.3', '')
    """
    return "" if share is None else f"{100 * share:.{digits}f}"


def with_error(values: tuple[float, float | None], scale: float = 100.0, digits: int = 1) -> str:
    """Return a mean and its standard error, if there is one.

    >>> with_error((0.5, 0.01)), with_error((0.5, None))
    ('50.0 ± 1.0', '50.0')
    """
    mean, error = values
    text = f"{scale * mean:.{digits}f}"
    return text if error is None else f"{text} ± {scale * error:.{digits}f}"


def group(records: Sequence[Record], *names: str) -> dict[tuple[Any, ...], list[Record]]:
    """Return the records by the values of some parameters, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for record in records:
        key = tuple(record["unit"].get(name) for name in names)
        groups.setdefault(key, []).append(record)
    return groups


#: Results belong together if these are the same: the set, and how much of it was used.
SIZE = ("set", "rows", "test_rows", "start")


def by_set(records: Sequence[Record], *more: str) -> dict[tuple[Any, ...], list[Record]]:
    """Return the records that belong together, the sets in the order of the catalogue."""
    places = {name: place for place, name in enumerate(CATALOGUE)}
    groups = group(records, *SIZE, *more)
    return dict(sorted(groups.items(), key=lambda item: places.get(item[0][0], len(places))))


def values(records: Sequence[Record], name: str) -> list[Any]:
    """Return one figure of each record."""
    return [record["result"][name] for record in records]
