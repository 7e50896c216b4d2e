"""The page: one section per experiment, with the circumstances of its results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.experiment import Experiment
from experiments.report.figures import write_figure
from experiments.report.section import Section
from experiments.store import RESULTS, Record, Store

ROOT = Path(__file__).parents[2]

INTRODUCTION = """\
# Results

The experiments of "Logarithmic Time One-Against-Some" (the paper), and what they give here; then
those about one-against-some as `OneAgainstSomeClassifier` has it, which is not the paper's. This
page is written by `python -m experiments report` from the results in `experiments/results`, where
each figure stands with its command, seed, version and machine; `experiments/README.md` says how
to run them. The paper's own data sets have to be downloaded; unless a set bears its name, it stands
in for one of them, and levels of error are not to be compared, only what is better or worse, and
by how much. How much of a set was used, how many seeds, passes and probes, is in the command under
each section. Times are CPU time of one thread, on machines that may have had other work to do:
trust factors, not per cents. Errors are in per cent; ± is the standard error of the mean over
seeds."""


def build(experiments: Iterable[Experiment], results: Path = RESULTS) -> tuple[str, list[Section]]:
    """Return the text of the page and its sections."""
    blocks, sections = [INTRODUCTION], []
    for experiment in experiments:
        records = list(Store(experiment.name, results))
        section = Section()
        if records:
            section = experiment.section(records)
        else:
            section.say(
                f"No results yet. To get them: `python -m experiments run {experiment.name} "
                "--data-dir DIR`."
            )
        blocks += [f"## {experiment.title}", experiment.lead, *section.blocks]
        if records:
            blocks.append(circumstances(records))
        sections.append(section)
    return "\n\n".join(blocks) + "\n", sections


def circumstances(records: Sequence[Record]) -> str:
    """Return the commands, versions and machines behind some records."""
    lines = ["Made by:", ""]
    seen: dict[tuple[str, ...], int] = {}
    for record in records:
        machine, versions = record["machine"], record["versions"]
        described = (
            record["command"],
            f"recalltree {versions['recalltree']}, "
            f"Python {versions['python']}, {machine['processor']}, {machine['cores']} cores, "
            f"{machine.get('simd', 'unknown instructions')}, {record['date']}",
        )
        seen[described] = seen.get(described, 0) + 1
    for (command, where), count in sorted(seen.items()):
        lines.append(f"- `{command}` ({count} results; {where})")
    return "\n".join(lines)


def write(
    experiments: Iterable[Experiment], results: Path = RESULTS, docs: Path = ROOT / "docs"
) -> Path:
    """Write the page and its figures; figures of earlier results are removed."""
    text, sections = build(experiments, results)
    folder = docs / "results"
    drawings = {name: draw for section in sections for name, draw in section.figures.items()}
    for old in folder.glob("*.svg"):
        if old.stem not in drawings:
            old.unlink()
    for name, draw in drawings.items():
        write_figure(folder / f"{name}.svg", draw)
    page = docs / "results.md"
    page.write_text(text, encoding="utf-8")
    return page
