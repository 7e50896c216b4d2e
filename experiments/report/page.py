"""The page: a summary, then one section per experiment with the commands behind it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.experiment import Experiment
from experiments.report.figures import write_figure
from experiments.report.section import IN_PART, Finding, Section, markdown_table
from experiments.store import RESULTS, Record, Store

ROOT = Path(__file__).parents[2]
#: A figure as `Section.figure` shows it.
FIGURE = re.compile(r"\]\(results/([\w-]+)\.svg\)")

INTRODUCTION = """\
# Results

The experiments of "Logarithmic Time One-Against-Some" (the paper) and what they give here, followed
by experiments on `OneAgainstSomeClassifier`, which is not in the paper.

- **Data.** The paper's data sets have to be downloaded. The sets used here stand in for them:
  `glyphs` for ALOI, `webdirectory` and `wikipassage` for ODP, `wikitext` for LTCB. Compare which
  method is better and by how much, not the levels of error.
- **Numbers.** Errors are in per cent; ± is the standard error of the mean over seeds. Times are CPU
  time of one thread on shared machines, not all alike: compare ratios within a table.
- **Versions.** One-against-some on `glyphs` had trees alone (`keys="trees"`) by default in version
  0.1.0; since 0.2.0 it also has cells, which lowers its error. Each section names its version.
- **Source.** `python -m experiments report` writes this page from `experiments/results`. Each
  section ends with its commands, which [experiments](../experiments/README.md) explains."""


def build(experiments: Iterable[Experiment], results: Path = RESULTS) -> tuple[str, list[Section]]:
    """Return the text of the page and its sections."""
    blocks: list[str] = []
    shown: list[tuple[Experiment, Section]] = []
    for experiment in experiments:
        records = list(Store(experiment.name, results))
        section = Section()
        if records or experiment.has_benchmarks:
            section = experiment.section(records)
        else:
            section.say(
                f"No results yet. To get them: `python -m experiments run {experiment.name} "
                "--data-dir DIR`."
            )
        blocks += [f"## {experiment.title}", experiment.lead, *section.blocks]
        if records:
            blocks.append(circumstances(records))
        shown.append((experiment, section))
    text = "\n\n".join([INTRODUCTION, *summary(shown), *blocks]) + "\n"
    return text, [section for _, section in shown]


def summary(shown: Sequence[tuple[Experiment, Section]]) -> list[str]:
    """Return the findings of all sections: those about the paper's claims, then the others."""
    blocks = ["## Summary"]
    for is_papers, headings in (
        (True, ("claim of the paper", "here", "measured", "section")),
        (False, ("question about one-against-some", "answer", "measured", "section")),
    ):
        rows = [
            row
            for experiment, section in shown
            for row in summary_rows(
                experiment, [f for f in section.findings if f.is_papers == is_papers]
            )
        ]
        if rows:
            blocks.append(markdown_table(headings, rows))
    return blocks if len(blocks) > 1 else []


def summary_rows(experiment: Experiment, findings: Sequence[Finding]) -> list[list[str]]:
    """Return a line for each claim; what was found on several sets stands in one."""
    by_claim: dict[str, list[Finding]] = {}
    for finding in findings:
        by_claim.setdefault(finding.claim, []).append(finding)
    link = f"[{short(experiment.title)}](#{anchor(experiment.title)})"
    rows = []
    for claim, same in by_claim.items():
        answers = {finding.answer for finding in same}
        mixed = IN_PART if same[0].is_papers else "in part"
        answer = same[0].answer if len(answers) == 1 else mixed
        rows.append([claim, f"**{answer}**", "; ".join(f.measured for f in same), link])
    return rows


def short(title: str) -> str:
    """Return what a link to a section is called.

    >>> short("Figure 5a: online operation"), short("One-against-some: a stream that changes")
    ('Figure 5a', 'A stream that changes')
    """
    before, _, after = title.partition(": ")
    return after[0].upper() + after[1:] if before == "One-against-some" else before


def anchor(title: str) -> str:
    """Return the name that GitHub gives to a heading.

    >>> anchor("Figure 5a: online operation")
    'figure-5a-online-operation'
    """
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def circumstances(records: Sequence[Record]) -> str:
    """Return the commands, versions and machines behind some records, folded."""
    commands: dict[str, list[str]] = {}
    machines: dict[str, set[str]] = {}
    for record in records:
        machine, versions = record["machine"], record["versions"]
        commands.setdefault(record["command"], []).append(record["date"])
        made_with = (
            f"recalltree {versions['recalltree']} and Python {versions['python']} on "
            f"{machine['processor']} with {machine['cores']} cores"
        )
        machines.setdefault(made_with, set()).add(machine.get("simd", "unknown instructions"))
    lines = ["<details><summary>Commands</summary>", ""]
    for command, dates in sorted(commands.items()):
        when = " to ".join(sorted({min(dates), max(dates)}))
        results = "1 result" if len(dates) == 1 else f"{len(dates)} results"
        lines.append(f"- `{command}` ({results}, {when})")
    made = "; ".join(f"{made} ({', '.join(sorted(machines[made]))})" for made in sorted(machines))
    return "\n".join([*lines, "", f"Made with {made}.", "", "</details>"])


def write(
    experiments: Iterable[Experiment], results: Path = RESULTS, docs: Path = ROOT / "docs"
) -> Path:
    """Write the page and its figures; figures that only the page before showed are removed.

    Other pictures in the folder are not the page's, and stay.
    """
    text, sections = build(experiments, results)
    page, folder = docs / "results.md", docs / "results"
    drawings = {name: draw for section in sections for name, draw in section.figures.items()}
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    for name in set(FIGURE.findall(before)) - drawings.keys():
        (folder / f"{name}.svg").unlink(missing_ok=True)
    for name, draw in drawings.items():
        write_figure(folder / f"{name}.svg", draw)
    page.write_text(text, encoding="utf-8")
    return page
