"""Fewer rows where more bring nothing: a card that runs short of memory slows down before it fails.

Reported on an 8 GB card: 15 rows took 146 s where 12 took 81 s (Zonos PR #192). Watched here is the
time of decode steps by the number of rows in them, which also says how long a run will take.
"""

from __future__ import annotations

import logging
import math
import statistics
import time
from collections import defaultdict, deque

log = logging.getLogger(__name__)

STEPS = 32  # steps of one size before it is judged
LOSS = 0.85  # of the frames per second that fewer rows gave
STEP_GROWTH = 0.3  # a step of n rows takes about n to this power as long as one of a single row
CONTEXT_ALLOWANCE = 1.3  # rows grow longer while they run, and their steps with them
FEWER_SECONDS = 600.0  # after which more rows get another chance: what slowed them may be gone


class Pace:
    """Says how many rows are worth having.

    A size is compared with the largest smaller one that was measured. Step times vary with the
    length of the rows and with whatever else the machine does, so only a clear loss over many steps
    counts.
    """

    def __init__(self) -> None:
        self._seconds: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=STEPS))

    def note(self, rows: int, seconds: float) -> None:
        """Take in one step's time, and judge nothing."""
        self._seconds[rows].append(seconds)

    def record(self, rows: int, seconds: float) -> int | None:
        """Take in one step's time.

        Returns:
            The number of rows to go back to, or None while more rows are no loss.
        """
        self.note(rows, seconds)
        if len(self._seconds[rows]) < STEPS:
            return None
        fewer = [n for n, found in self._seconds.items() if n <= rows * 0.8 and len(found) == STEPS]
        if not fewer:
            return None
        best = max(fewer, key=self._frames_per_second)
        if self._frames_per_second(rows) * CONTEXT_ALLOWANCE < LOSS * self._frames_per_second(best):
            self._seconds.clear()
            return best
        return None

    def frames_per_second_alone(self) -> float | None:
        """What one row alone would make, judged by the steps of all sizes; None before there were enough.

        Safe to call from another thread.
        """
        alone = [
            seconds / rows**STEP_GROWTH
            for rows, times in list(self._seconds.items())
            for seconds in list(times)
        ]
        return 1 / statistics.median(alone) if len(alone) >= STEPS else None

    def _frames_per_second(self, rows: int) -> float:
        median = statistics.median(self._seconds[rows])
        return rows / median if median > 0 else math.inf


class RowLimit:
    """Most rows worth having at once, judged by step times where that is asked for.

    Args:
        slots: most rows in any case.
        judged: take fewer where more only make steps slower; else times are just kept.
    """

    def __init__(self, slots: int, *, judged: bool) -> None:
        self.slots, self.judged, self.pace = slots, judged, Pace()
        self._fewer: int | None = None
        self._fewer_since = 0.0
        self._read_at: float | None = None

    @property
    def most(self) -> int:
        """Rows to have now."""
        if self._fewer is not None and time.monotonic() - self._fewer_since > FEWER_SECONDS:
            self._fewer = None
        return self.slots if self._fewer is None else min(self._fewer, self.slots)

    def pause(self) -> None:
        """What comes until the next look at the clock is not steps alone."""
        self._read_at = None

    def stepped(self, steps: int, rows: int, *, alike: bool) -> None:
        """So many steps were decoded since the last call, or since :meth:`pause`.

        Args:
            steps: of them.
            rows: in each.
            alike: all had that many rows, so that their time says something.
        """
        now, since = time.perf_counter(), self._read_at
        self._read_at = now
        if since is None or not alike:
            return
        seconds = (now - since) / steps
        if not self.judged:
            self.pace.note(rows, seconds)
            return
        fewer = self.pace.record(rows, seconds)
        if fewer is not None:
            self._fewer, self._fewer_since = fewer, time.monotonic()
            log.warning("steps of %d rows are slower than they are worth: going on with %d", rows, fewer)
