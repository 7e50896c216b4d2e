"""Completions: how a model continues with Python code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recalltree.demo.features import ORDER, UNKNOWN, feature_rows
from recalltree.demo.tokens import NEWLINE, tokens_before_end

#: Code that breaks off.
BEGINNINGS = (
    "import os\nimport",
    "class Queue:\n    def",
    "def __init__(self, name):\n    self.",
    "def first(items):\n    for i in range(",
    "if self.data is",
    "try:\n    import json\nexcept",
    "if size < 0:\n    raise",
    "def load(name):\n    path = os.path.",
    "if not isinstance(value,",
)
#: A line is not followed any longer.
MAX_TOKENS = 8


@dataclass(frozen=True)
class Completion:
    """Continuation of code: the best next tokens, and the rest of the line."""

    beginning: str
    best: list[str]
    rest: str


class Completer:
    """Asks a model that predicts token ids how code goes on.

    Parameters
    ----------
    model : classifier
        Learned token ids from `feature_rows`.
    names : sequence of str
        The token of each id.
    """

    def __init__(self, model: Any, names: Sequence[str]) -> None:
        self._model = model
        self._names = names
        self._ids = {name: i for i, name in enumerate(names)}

    def complete(self, beginning: str, k: int = 3) -> Completion:
        """Return the `k` best next tokens, and the line that the best one, each time, leads to."""
        tokens = tokens_before_end(beginning)
        best, _ = self._model.predict_topk(self._row(tokens), k=k)
        rest: list[str] = []
        for _ in range(MAX_TOKENS + 1):
            token = self._names[self._model.predict(self._row(tokens + rest))[0]]
            if token == NEWLINE:
                break
            rest.append(token)
        else:
            rest[-1] = "..."
        return Completion(beginning, [self._names[i] for i in best[0]], " ".join(rest or [NEWLINE]))

    def _row(self, tokens: Sequence[str]) -> Any:
        """Return the features of the position after these tokens; what is before is unknown."""
        nearest_first = [self._ids.get(token, UNKNOWN) for token in reversed(tokens[-ORDER:])]
        unknown = [UNKNOWN] * (ORDER - len(nearest_first))
        return feature_rows(np.array([nearest_first + unknown], dtype=np.int64))
