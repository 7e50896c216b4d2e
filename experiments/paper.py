"""Figures of the paper, to compare with: table 2 and the figures that its text gives."""

from __future__ import annotations

from typing import Any

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

TUNING = {"default": "defaults", "tuned": "tuned"}

#: Table 2: (set, method) -> µs per prediction.
PREDICTION = {
    ("aloi", "one-against-all"): 67.0,
    ("aloi", "recall-tree"): 194.0,
    ("aloi", "lom-tree"): 28.0,
    ("imagenet", "one-against-all"): 118_000.0,
    ("imagenet", "recall-tree"): 4_000.0,
    ("imagenet", "lom-tree"): 560.0,
    ("ltcb", "one-against-all"): 3_600.0,
    ("ltcb", "recall-tree"): 76.0,
    ("ltcb", "lom-tree"): 51.0,
    ("odp", "one-against-all"): 560_000.0,
    ("odp", "recall-tree"): 1_900.0,
    ("odp", "lom-tree"): 520.0,
}

MORE, FEWER, SAME = "more errors", "fewer errors", "about as many errors"


def compared(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[str, str]:
    """Return which of two results has fewer errors, and the significance of the difference."""
    test = n_minus_1_chi_squared(ours["wrong"], ours["n_test"], theirs["wrong"], theirs["n_test"])
    if test.p_value >= CLEAR:
        return SAME, format_p(test.p_value)
    return FEWER if ours["error"] < theirs["error"] else MORE, format_p(test.p_value)


def published(name: str, kind: str, a: str, b: str) -> str:
    """Return which of two methods has fewer errors in the paper, on the set's counterpart.

    >>> published("glyphs", "default", "recall-tree", "one-against-all")
    'fewer errors (11.4 and 12.2 on aloi)'
    """
    counterpart = COUNTERPART.get(name, "")
    column = list(TUNING).index(kind)
    errors = [TABLE2.get((counterpart, method), (None, None))[column] for method in (a, b)]
    if errors[0] is None or errors[1] is None:
        return ""
    word = FEWER if errors[0] < errors[1] else MORE
    return f"{word} ({percent(errors[0])} and {percent(errors[1])} on {counterpart})"
