"""Which waiting piece gets the next free slot.

Streams come before the rest; a listener who is about to run dry comes before all others. Fair
between owners: the owner with the fewest rows in the batch comes first, then the run with the
fewest. Within a run, first pieces come before second ones, so that short lines do not wait for the whole of
a long text; among equals the longest starts first, so that no long piece is left over at the end.
Streamed pieces come in the order in which they are heard.
"""

from __future__ import annotations

import heapq
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Waiting(Protocol):
    """What the scheduler must know of a piece."""

    @property
    def owner(self) -> str:
        """Whose it is."""
        ...

    @property
    def run(self) -> str:
        """Its run."""
        ...

    @property
    def stream(self) -> bool:
        """Whether somebody listens while it is made."""
        ...

    @property
    def due(self) -> float:
        """When its listener runs out of sound; infinite where nobody listens."""
        ...

    @property
    def playing(self) -> bool:
        """Whether its listener has heard something already."""
        ...

    @property
    def order(self) -> int:
        """Place among the pieces of its take."""
        ...

    @property
    def expected_frames(self) -> int:
        """Its estimate."""
        ...


T = TypeVar("T", bound=Waiting)

DRY_SECONDS = 3.0  # a listener with less sound ahead is served before all others


class Scheduler(Generic[T]):
    """Queues per owner and run. Not thread-safe: the engine's loop owns it."""

    def __init__(self) -> None:
        self._queues: dict[tuple[str, str], list[tuple[tuple[int, tuple[int, int]], int, T]]] = {}
        self._ticket = itertools.count()
        self._running: Counter[tuple[str, str]] = Counter()
        self._served: dict[str, int] = {}  # when each owner last got a slot

    def __len__(self) -> int:
        return sum(len(queue) for queue in list(self._queues.values()))  # read by other threads too

    def add(self, piece: T) -> None:
        """Let a piece wait."""
        rank = (0, (piece.order, 0)) if piece.stream else (1, (piece.order, -piece.expected_frames))
        queue = self._queues.setdefault((piece.owner, piece.run), [])
        heapq.heappush(queue, (rank, next(self._ticket), piece))

    def next(self) -> T | None:
        """Take the piece whose turn it is; it counts as running until :meth:`left`."""
        if not self._queues:
            return None
        owners = Counter[str]()
        for (owner, _), count in self._running.items():
            owners[owner] += count

        dry_by = time.monotonic() + DRY_SECONDS

        def turn(key: tuple[str, str]) -> tuple[bool, float, int, int, int, int]:
            owner, _ = key
            _, ticket, piece = self._queues[key][0]
            dry = piece.due if piece.stream and piece.playing and piece.due < dry_by else math.inf
            # A stream's listener waits; everything else is background.
            return (
                not piece.stream,
                dry,
                owners[owner],
                self._served.get(owner, 0),
                self._running[key],
                ticket,
            )

        key = min(self._queues, key=turn)
        piece = heapq.heappop(self._queues[key])[2]
        if not self._queues[key]:
            del self._queues[key]
        self._running[key] += 1
        self._served[key[0]] = next(self._ticket)
        return piece

    def urgent(self) -> int:
        """Waiting pieces of listeners who have nothing to hear, or soon will not."""
        dry_by = time.monotonic() + DRY_SECONDS
        heads = (queue[0][2] for queue in self._queues.values())
        return sum(
            piece.due < dry_by if piece.playing else piece.order == 0 for piece in heads if piece.stream
        )

    def left(self, piece: T) -> None:
        """A piece that ran is out of the batch."""
        key = (piece.owner, piece.run)
        self._running[key] -= 1
        if self._running[key] <= 0:
            del self._running[key]
        if not any(owner == piece.owner for owner, _ in [*self._queues, *self._running]):
            self._served.pop(piece.owner, None)

    def drop(self, unwanted: Callable[[T], bool]) -> list[T]:
        """Remove waiting pieces, and return them."""
        dropped: list[T] = []
        for key, queue in list(self._queues.items()):
            dropped += [entry[2] for entry in queue if unwanted(entry[2])]
            kept = [entry for entry in queue if not unwanted(entry[2])]
            heapq.heapify(kept)
            if kept:
                self._queues[key] = kept
            else:
                del self._queues[key]
        return dropped
