"""How much may be open at once, of all clients and of each; past that, 429 with a time to wait."""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from zonos.api.errors import ApiError
from zonos.words import count

_WEIGHT = 0.1  # of the newest line in the running mean
_LONGEST_WAIT = 60


class Pace:
    """How fast lines are done, for an honest Retry-After."""

    def __init__(self) -> None:
        self._seconds = 1.0

    def record(self, seconds: float) -> None:
        """A line took so long from its start to its end."""
        self._seconds += _WEIGHT * (seconds - self._seconds)

    def wait(self, ahead: int, at_once: int) -> int:
        """Whole seconds until ``ahead`` lines are through, ``at_once`` at a time: 1 to 60."""
        return max(1, min(_LONGEST_WAIT, math.ceil(self._seconds * ahead / max(1, at_once))))


class Limit:
    """Most of all clients and of each, and what to say past it.

    Args:
        what: one of them, for the sentence.
        total: most of all clients.
        each: most of one client.
        pace: for Retry-After.
        at_once: how many are served at a time.
    """

    def __init__(self, what: str, total: int, each: int, pace: Pace, at_once: Callable[[], int]) -> None:
        self.what, self.total, self.each = what, total, each
        self._pace, self._at_once = pace, at_once

    def check(self, more: int, mine: int, everybody: int) -> None:
        """Whether ``more`` fit beside what is open.

        Raises:
            ApiError: 413 when so many never fit, 429 when they do not fit now.
        """
        most = min(self.each, self.total)
        if more > most:
            sentence = f"{count(more, self.what)} are more than the {most} that one client may have here."
            raise ApiError(413, "too_many", f"{sentence} Send fewer at a time.")
        if mine + more > self.each:
            raise self._full("client_limit", "You have", self.each, mine)
        if everybody + more > self.total:
            raise self._full("queue_full", "All clients together have", self.total, everybody)

    def _full(self, code: str, who: str, most: int, ahead: int) -> ApiError:
        wait = self._pace.wait(ahead, self._at_once())
        sentence = f"{who} {count(ahead, self.what)} open, and {most} is the most; try again in {wait} s."
        return ApiError(429, code, sentence, headers={"retry-after": str(wait)})


class Admission:
    """Counts what is open now. Safe from any thread."""

    def __init__(self, limit: Limit) -> None:
        self.limit = limit
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()

    @property
    def open(self) -> int:
        """Of all clients."""
        with self._lock:
            return sum(self._open.values())

    @contextmanager
    def hold(self, client: str) -> Iterator[None]:
        """One of a client's is open.

        Raises:
            ApiError: see :meth:`Limit.check`.
        """
        with self._lock:
            self.limit.check(1, self._open[client], sum(self._open.values()))
            self._open[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._open[client] -= 1
                if not self._open[client]:
                    del self._open[client]
