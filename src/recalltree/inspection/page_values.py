"""Values as the report's page has them: numbers of few digits, short texts, few bars."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_LABEL_LENGTH = 120
MAX_BARS = 72


def shown_text(label: Any) -> str:
    """Return a label as text of bounded length."""
    text = str(label)
    return text if len(text) <= MAX_LABEL_LENGTH else text[: MAX_LABEL_LENGTH - 1] + "…"


def rounded(values: Any) -> list[Any]:
    """Return numbers as a list: integers as such, others with five digits."""
    array = np.asarray(values)
    if array.dtype.kind in "iub":
        return array.tolist()
    return [
        None if not np.isfinite(v) else int(v) if v == int(v) else float(f"{v:.5g}")
        for v in array.tolist()
    ]


def bars(sizes: NDArray[np.int64]) -> tuple[NDArray[np.int64], list[dict[str, Any]]]:
    """Return the bar of each size, and the sizes ``from`` and ``to`` of each bar."""
    low, high = int(sizes.min()), int(sizes.max())
    width = -(-(high - low + 1) // MAX_BARS)
    ranges = [
        {"from": start, "to": min(high, start + width - 1)} for start in range(low, high + 1, width)
    ]
    return (sizes - low) // width, ranges
