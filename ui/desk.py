"""What is going on in one project at this moment: in memory only, gone with the process."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from typing import Any, Protocol

from zonos import events
from zonos.line import Line


class Cancellable(Protocol):
    """The part of an engine's run that a stop needs."""

    def cancel(self, line: str | None = None) -> None:
        """Stop one line, or all."""


@dataclass(slots=True)
class RunningLine:
    """One line of a run: ``recipe`` is the hash of what was asked, whatever is edited meanwhile."""

    id: str
    recipe: str
    line: Line
    expected: float = 0.0  # seconds of one take
    frames: dict[int, tuple[int, int]] = field(default_factory=dict)  # take -> decoded, expected
    speaking: bool = False
    ended: int = 0
    seconds: float = 0.0  # of finished takes
    outcome: str | None = None
    reason: str | None = None
    warnings: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def over(self) -> bool:
        """Whether every take came to its end."""
        return self.ended >= self.line.takes

    def accepted(self, event: events.Accepted) -> None:
        """The engine took the line."""
        self.expected = event.expected_seconds
        self.warnings = event.warnings

    def started(self) -> None:
        """The first piece of a take got a slot."""
        self.speaking = True

    def progressed(self, event: events.Progress) -> None:
        """Frames came."""
        self.frames[event.take] = (event.frames, event.expected_frames)

    def finished(self, seconds: float) -> None:
        """A take is whole and on disk."""
        self.seconds += seconds

    def end(self, state: str | None, reason: str | None) -> None:
        """One take ended; a failure outlives the good takes beside it."""
        self.ended += 1
        if state == "failed" or self.outcome is None:
            self.outcome, self.reason = state, reason

    def give_up(self, state: str, reason: str | None) -> None:
        """No take is coming any more."""
        self.ended = self.line.takes
        self.outcome, self.reason = state, reason

    def spoken_seconds(self) -> float:
        """Seconds of audio decoded so far, unfinished takes by their share of what is expected."""
        shares = [done / total for done, total in self.frames.values() if total]
        unfinished = sum(min(share, 1.0) for share in shares) - self.ended
        return self.seconds + max(unfinished, 0.0) * self.expected


class Desk:
    """The lines that one project has with the engine, over all its runs."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._lines: list[RunningLine] = []
        self._runs: dict[str, Cancellable] = {}  # by line
        self._open = 0
        self._since = 0.0
        self._word: str | None = None
        self._fault: str | None = None

    def open(self, running: list[RunningLine]) -> list[RunningLine]:
        """Another run begins; a desk that was empty starts to count anew."""
        with self._mutex:
            if self._open == 0:
                self._lines, self._since, self._fault = [], time.monotonic(), None
            self._open += 1
            self._lines += running
        return running

    def attach(self, running: list[RunningLine], run: Cancellable) -> None:
        """The engine has the lines; those stopped in between are stopped there too."""
        with self._mutex:
            self._runs |= {one.id: run for one in running}
            late = [one.id for one in running if one.stopped]
        for line in late:
            run.cancel(line=line)

    def close(self, running: list[RunningLine]) -> None:
        """A run is over."""
        with self._mutex:
            self._open -= 1
            for one in running:
                self._runs.pop(one.id, None)

    def stop(self, ids: set[str] | None) -> int:
        """Mark lines as stopped and tell the engine; gives how many."""
        with self._mutex:
            some = [one for one in self._lines if not one.over and not one.stopped]
            some = [one for one in some if ids is None or one.id in ids]
            for one in some:
                one.stopped = True
            calls = [(self._runs[one.id], one.id) for one in some if one.id in self._runs]
        for run, line in calls:
            run.cancel(line=line)
        return len(some)

    def waiting(self) -> int:
        """Lines that are not over."""
        with self._mutex:
            return sum(not one.over for one in self._lines) if self._open else 0

    def say(self, word: str | None) -> None:
        """What the page shows while no frame comes yet."""
        with self._mutex:
            self._word = word

    def broke_off(self, reason: str) -> None:
        """Why a whole run ended: said once, for all of its rows, until another run begins."""
        with self._mutex:
            self._word, self._fault = None, reason

    def status(self) -> dict[str, Any]:
        """Counts, time left and each speaking line's share, for the page."""
        with self._mutex:
            fault = {"fault": self._fault} if self._fault else {}
            if self._open == 0:
                return {"on": False} | fault
            some, word = list(self._lines), self._word
            elapsed = max(time.monotonic() - self._since, 1e-3)
        spoken = sum(one.spoken_seconds() for one in some)
        whole = sum(max(one.expected * one.line.takes, one.spoken_seconds()) for one in some if not one.over)
        left = whole - sum(one.spoken_seconds() for one in some if not one.over)
        rate = spoken / elapsed
        return {
            "on": True,
            "word": word,
            "done": sum(one.over for one in some),
            "of": len(some),
            "rate": round(rate, 2),
            "left": round(left / rate, 1) if rate > 0 and spoken > 0.5 else None,
            "part": {one.id: _share(one) for one in some if one.speaking and not one.over},
        } | fault


def _share(one: RunningLine) -> int:
    """Hundredths of a line that are decoded; 100 is kept for lines that are done."""
    decoded = sum(min(done / total, 1.0) for done, total in one.frames.values() if total)
    return min(int(100 * decoded / one.line.takes), 99)
