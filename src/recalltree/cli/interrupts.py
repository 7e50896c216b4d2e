"""Ctrl-C: the first asks to stop in good order, the second stops."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any, TypeVar

T = TypeVar("T")

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """Takes note of the first interrupt (or request to terminate); lets the second one through.

    While the command waits for rows, which may take forever, the first one ends the waiting too, by
    KeyboardInterrupt.

    Attributes
    ----------
    received : int or None
        The number of the signal, once there was one.

    Examples
    --------
    >>> import signal
    >>> from recalltree.cli.interrupts import Interrupts
    >>> with Interrupts() as interrupts:
    ...     signal.raise_signal(signal.SIGINT)
    ...     print(interrupts.received == signal.SIGINT)
    ...     try:
    ...         signal.raise_signal(signal.SIGINT)
    ...     except KeyboardInterrupt:
    ...         print("stopped")
    True
    stopped
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._waiting = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Interrupts:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    @property
    def exit_code(self) -> int | None:
        """128 + the number of the signal, as shells have it; None if there was none."""
        return None if self.received is None else 128 + self.received

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        is_first = self.received is None
        self.received = number
        if not is_first or self._waiting:
            raise KeyboardInterrupt

    @contextmanager
    def _while_waiting(self) -> Iterator[None]:
        self._waiting = True
        try:
            yield
        finally:
            self._waiting = False

    def watch(self, source: Iterable[T]) -> Watched[T]:
        """Return an iterable with the same items; waiting for the next one can be interrupted."""
        return Watched(source, self)


class Watched(Iterable[T]):
    """Items of another iterable, waited for in a way that can be interrupted."""

    def __init__(self, source: Iterable[T], interrupts: Interrupts) -> None:
        self._source = source
        self._interrupts = interrupts

    def __iter__(self) -> Iterator[T]:
        items = iter(self._source)
        end = object()
        while True:
            with self._interrupts._while_waiting():
                item: Any = next(items, end)
            if item is end:
                return
            yield item
