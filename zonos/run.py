"""One submission: its events, and its cancel flag."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Sequence

from zonos.events import Cancelled, Event, Final
from zonos.line import Line


class Run:
    """Iterate it for events; it ends after the final event of every take.

    Safe to use from any thread. A cancel belongs to this run alone.
    """

    def __init__(
        self,
        run_id: str,
        owner: str,
        lines: Sequence[Line],
        stream: bool,
        pump: Callable[[], bool] | None = None,
    ) -> None:
        self.id, self.owner, self.lines, self.stream = run_id, owner, tuple(lines), stream
        self.on_cancel: Callable[[], None] = lambda: None
        self.on_event: Callable[[], None] = lambda: None  # called from any thread; must be quick
        self._pump = pump
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._open = {(str(line.id), take) for line in lines for take in range(line.takes)}
        self._undelivered = len(self._open)
        self._all_cancelled = False
        self._cancelled: set[tuple[str, int | None]] = set()

    # ---- for the one who submitted -----------------------------------------------------------

    def __iter__(self) -> Iterator[Event]:
        while self._undelivered:
            event = self.next_event()
            if event is not None:
                yield event

    def next_event(self, timeout: float | None = None) -> Event | None:
        """The next event, or None when none came within ``timeout`` seconds or all were delivered."""
        if not self._undelivered:
            return None
        if self._pump is not None:
            while self._events.empty() and self._pump():
                pass
        try:
            event = self._events.get(timeout=timeout)
        except queue.Empty:
            return None
        if isinstance(event, Final):
            self._undelivered -= 1
        return event

    def cancel(self, line: str | None = None, take: int | None = None) -> None:
        """Stop everything, a line, or a take; what is done stays done."""
        with self._lock:
            if line is None:
                self._all_cancelled = True
            else:
                self._cancelled.add((line, take))
        self.on_cancel()

    @property
    def is_delivered(self) -> bool:
        """Every take's final event was handed over; nothing more comes."""
        return not self._undelivered

    @property
    def is_done(self) -> bool:
        """Every take has its final event (delivered or not)."""
        with self._lock:
            return not self._open

    # ---- for the engine ----------------------------------------------------------------------

    def is_cancelled(self, line: str, take: int) -> bool:
        """Whether this take was cancelled."""
        with self._lock:
            return self._all_cancelled or (line, None) in self._cancelled or (line, take) in self._cancelled

    @property
    def has_cancels(self) -> bool:
        """Whether anything was cancelled: cheap enough to ask every step."""
        return self._all_cancelled or bool(self._cancelled)

    def emit(self, event: Event) -> bool:
        """Send an event; after a take's final event nothing more is sent for it."""
        key = (event.line, event.take)
        with self._lock:
            if key not in self._open:
                return False
            if isinstance(event, Final):
                self._open.discard(key)
            self._events.put(event)
        self.on_event()
        return True

    def cancelled(self, line: str, take: int) -> None:
        """Send the final event of a take that was stopped."""
        self.emit(Cancelled(self.id, line, take))

    def close(self) -> None:
        """Send a cancelled event for everything that is still open."""
        with self._lock:
            still_open = list(self._open)
        for line, take in still_open:
            self.cancelled(line, take)
