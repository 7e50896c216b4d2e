"""What the thread that reads rows and the one that takes them know of each other."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from recalltree.readers.ahead import Ahead
from recalltree.readers.batches import Batch
from recalltree.readers.errors import BadRowError


@dataclass(frozen=True)
class Event:
    """A batch, or bad rows, or both; a batch comes before the bad rows that are told with it."""

    batch: Batch | None
    problems: list[BadRowError]
    n_skipped: int  # since the pass began
    n_read: int  # bytes of the files, since the pass began
    label_type: str  # as far as it is known by now


class Taker:
    """Who takes the events, as the thread that makes them sees it."""

    def __init__(self) -> None:
        self.has_left = threading.Event()
        self._events: Ahead[Event] | None = None

    def follow(self, events: Ahead[Event]) -> None:
        """Say through which queue the events go."""
        self._events = events

    @property
    def is_waiting(self) -> bool:
        """Whether everything that was read is taken, and more is wanted."""
        return self._events is not None and self._events.is_empty
