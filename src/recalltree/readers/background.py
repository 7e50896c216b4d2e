"""Reading in the background: a thread that prefetches, and what it hands to its consumer."""

from __future__ import annotations

import atexit
import queue
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar
from weakref import WeakSet

from recalltree.readers.batches import Batch
from recalltree.readers.errors import BadRowError

T = TypeVar("T")

_CHECK_SECONDS = 0.1  # how soon a thread notices that nobody listens any more
_JOIN_SECONDS = 1.0  # how long one waits for it


class Prefetcher(Generic[T]):
    """Iterator that runs in a thread of its own, up to `depth` items ahead of its consumer.

    Exceptions of the iterator come out where its next item would. ``close`` ends the thread; so
    does the end of the program.

    Parameters
    ----------
    items : iterator
        Used by the new thread only.
    depth : int
        How many items wait at most.
    until : threading.Event, default=None
        No item comes once it is set: for a consumer in a thread that may be told to end while it
        waits.
    stop : threading.Event, default=None
        The event that ``close`` sets.

    Examples
    --------
    >>> from recalltree.readers.background import Prefetcher
    >>> with Prefetcher(iter(range(3)), depth=2) as items:
    ...     list(items)
    [0, 1, 2]
    """

    def __init__(
        self,
        items: Iterator[T],
        depth: int,
        *,
        until: threading.Event | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self._queue: queue.Queue[tuple[bool, object]] = queue.Queue(depth)
        self._stop = stop or threading.Event()
        self._until = until or self._stop
        self._ended = False
        self._next: tuple[bool, object] | None = None  # taken off the queue, but not yet given
        self._thread = threading.Thread(
            target=_run,
            args=(items, self._queue, self._stop),
            name="recalltree-reader",
            daemon=True,
        )
        _running.add(self)
        self._thread.start()

    def __iter__(self) -> Prefetcher[T]:
        return self

    def __next__(self) -> T:
        while not (self._ended or self._until.is_set()):
            if not self.wait(_CHECK_SECONDS):
                continue
            assert self._next is not None
            (is_item, value), self._next = self._next, None
            if is_item:
                return value  # type: ignore[return-value]
            self._ended = True
            assert isinstance(value, BaseException)
            raise value
        raise StopIteration

    def wait(self, seconds: float) -> bool:
        """Return whether there is an item, or the end of them, within a time."""
        if self._next is None and not self._ended:
            try:
                self._next = self._queue.get(block=seconds > 0, timeout=seconds)
            except queue.Empty:
                return False
        return True

    @property
    def next_item(self) -> T | None:
        """The item that :meth:`wait` found, which comes next; None if it found the end of them."""
        is_item, value = self._next or (False, None)
        return value if is_item else None  # type: ignore[return-value]

    @property
    def is_empty(self) -> bool:
        """True if all items that were made are taken."""
        return self._queue.empty()

    def close(self) -> None:
        """End the thread; one that waits for input ends when the input comes."""
        self._stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(_JOIN_SECONDS)

    def __enter__(self) -> Prefetcher[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _run(
    items: Iterator[T], ready: queue.Queue[tuple[bool, object]], stop: threading.Event
) -> None:
    def put(is_item: bool, value: object) -> bool:
        while not stop.is_set():
            try:
                ready.put((is_item, value), timeout=_CHECK_SECONDS)
            except queue.Full:
                continue
            return True
        return False

    try:
        for item in items:
            if not put(True, item):
                return
        put(False, StopIteration())
    except BaseException as error:
        put(False, error)
    finally:
        if hasattr(items, "close"):
            items.close()  # what it holds open, now and in this thread


_running: WeakSet[Prefetcher] = WeakSet()


@atexit.register
def _end_all() -> None:
    # Threads inside compiled code must not outlive the interpreter. One that waits for a pipe is
    # left to the interpreter, which knows how to stop it there.
    for prefetcher in list(_running):
        prefetcher.close()


@dataclass(frozen=True)
class Delivery:
    """A batch, or bad rows, or both; the batch comes before the bad rows."""

    batch: Batch | None
    problems: list[BadRowError]
    n_skipped: int  # since the pass began
    n_read: int  # bytes of the files, since the pass began
    label_type: str  # as far as it is known by now


class Consumer:
    """The consumer of deliveries, as the thread that makes them sees it."""

    def __init__(self) -> None:
        self.has_left = threading.Event()
        self._deliveries: Prefetcher[Delivery] | None = None

    def follow(self, deliveries: Prefetcher[Delivery]) -> None:
        """Say through which queue the deliveries go."""
        self._deliveries = deliveries

    @property
    def is_waiting(self) -> bool:
        """True if it has taken everything that was read, and wants more."""
        return self._deliveries is not None and self._deliveries.is_empty
