"""What the paper reports, to compare with: table 2 and the figures that its text gives."""

from __future__ import annotations

from typing import Any

from experiments.methods import NAMES
from experiments.report.section import percent
from experiments.statistics import format_p, n_minus_1_chi_squared

#: Table 2: (set, method) -> test error with defaults and tuned; None where there is none.
TABLE2: dict[tuple[str, str], tuple[float, float | None]] = {
    ("aloi", "one-against-all"): (0.122, 0.121),
    ("aloi", "recall-tree"): (0.114, 0.086),
    ("aloi", "lom-tree"): (0.214, 0.165),
    ("imagenet", "one-against-all"): (0.847, 0.822),
    ("imagenet", "recall-tree"): (0.911, 0.884),
    ("imagenet", "lom-tree"): (0.967, 0.901),
    ("ltcb", "one-against-all"): (0.787, 0.768),
    ("ltcb", "recall-tree"): (0.780, 0.776),
    ("ltcb", "lom-tree"): (0.784, None),
    ("odp", "one-against-all"): (0.912, 0.906),
    ("odp", "recall-tree"): (0.962, 0.938),
    ("odp", "lom-tree"): (0.954, 0.935),
}

#: Which of the paper's sets a set is compared with.
COUNTERPART = {
    "aloi": "aloi",
    "imagenet": "imagenet",
    "ltcb": "ltcb",
    "odp": "odp",
    "glyphs": "aloi",
    "webdirectory": "odp",
    "wikipassage": "odp",
    "wikitext": "ltcb",
}

#: Less probable differences are called clear.
CLEAR = 0.05

TUNING = {"default": "with defaults", "tuned": "tuned"}


def compared(ours: dict[str, Any], theirs: dict[str, Any], name: str, other: str) -> str:
    """Say which of two makes fewer errors, with the figures and their significance."""
    test = n_minus_1_chi_squared(ours["wrong"], ours["n_test"], theirs["wrong"], theirs["n_test"])
    if test.p_value >= CLEAR:
        makes = "makes about as many errors as"
    else:
        makes = f"makes {'fewer' if ours['error'] < theirs['error'] else 'more'} errors than"
    return (
        f"{name} {makes} {other} ({percent(ours['error'])}% against {percent(theirs['error'])}%; "
        f"{format_p(test.p_value)}, N-1 chi-squared, first seed)"
    )


def verdict(label: str, kind: str, other: str, ours: dict[str, Any], theirs: dict[str, Any]) -> str:
    """Compare a Recall Tree with another method on a set, and both with the paper's.

    ``label`` is the name of the set, and how much of it was used after a comma.
    """
    said = compared(ours, theirs, "the Recall Tree", NAMES[other])
    text = f"**{label}**: {TUNING[kind]} {said}."
    counterpart = COUNTERPART.get(label.split(",")[0])
    if counterpart is None:
        return text
    column = list(TUNING).index(kind)
    published = [TABLE2[counterpart, a][column] for a in ("recall-tree", other)]
    if published[0] is None or published[1] is None:
        return f"{text} The paper has no such pair of figures on {counterpart}."
    if "about as many" in said:
        figures = (percent(value) for value in published)
        return f"{text} The paper has {'% and '.join(figures)}% on {counterpart}."
    better = ours["error"] < theirs["error"]
    if (published[0] < published[1]) == better:
        return f"{text} The paper found the same on {counterpart}."
    text += (
        f" The paper found the opposite on {counterpart} ({percent(published[0])}% against "
        f"{percent(published[1])}%)."
    )
    return f"{text} {why_better(other, theirs) if better else lost_on_the_way(ours)}".rstrip()


def lost_on_the_way(found: dict[str, Any]) -> str:
    """Say how many errors of a Recall Tree no predictor could mend."""
    recall, error = found["candidate_recall"], found["error"]
    return (
        f"A likely reason: the label is among the Recall Tree's candidates for {percent(recall)}% "
        f"of the test rows, so that {percent(1 - recall)} of the {percent(error)} points are lost "
        "on the way down the tree, before any class is compared."
    )


def why_better(other: str, theirs: dict[str, Any]) -> str:
    """Say why a Recall Tree may do better here, beside another method, than in the paper."""
    sampled = theirs.get("negative_samples")
    if other != "one-against-all" or not sampled:
        return ""
    return (
        f"A likely reason: of {theirs['n_classes']:,} classes each example is a negative of "
        f"{sampled} here, whose weight makes up for all the others, so that the weights of "
        "one-against-all are noisy; the paper's saw more of them, and more examples."
    )
