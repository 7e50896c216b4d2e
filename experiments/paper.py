"""What the paper reports, to compare with: table 2 and the figures that its text gives."""

from __future__ import annotations

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
