"""A run's events in an event loop, without a thread that waits for them."""

from __future__ import annotations

import asyncio
import contextlib

from zonos.events import Event
from zonos.run import Run


class Feed:
    """Hands over the events of one run to one coroutine.

    Args:
        run: just submitted; what it has said already is not lost.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        run.on_event = self._tell

    async def next(self) -> Event | None:
        """The next event; None after the last."""
        while not self.run.is_delivered:
            self._news.clear()
            event = self.run.next_event(timeout=0)
            if event is not None:
                return event
            await self._news.wait()
        return None

    def close(self) -> None:
        """Nobody listens any more: what is not done stops, and its slot is free at the next frame."""
        if not self.run.is_delivered:
            self.run.cancel()

    def _tell(self) -> None:
        # A loop that is closed has no listener left.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._news.set)
