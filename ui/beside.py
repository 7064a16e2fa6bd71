"""The HTTP API beside the page, on the same engine, so that both share the batch.

It brings torch along, which takes seconds: it is made in the background after the page is there, or
by the first request that comes before.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from ui.engines import Engines
from ui.space import is_zero_gpu
from zonos.api_paths import is_api

if TYPE_CHECKING:
    from fastapi import FastAPI

    from zonos.api.guests import Guests

log = logging.getLogger(__name__)

SWITCH = "ZONOS_API"
MODEL = "mini"  # where the page has loaded none yet


class BesideApi(BaseRoute):
    """A route that hands the API's addresses to it.

    Args:
        folder: of its jobs and uploaded voices.
        voices: folder of voices that every client may use.
        engines: lends the engine that the page uses.
        guests: people of the page, who have voices of their own.
        alone: no other studio works in the data folder; the API's jobs have one server.
    """

    def __init__(
        self,
        folder: Path,
        voices: Path,
        engines: Engines,
        guests: Guests | None = None,
        *,
        alone: bool = True,
    ) -> None:
        self._folder, self._voices, self._engines, self._guests = folder, voices, engines, guests
        self._lock = threading.Lock()
        self._api: FastAPI | None = None
        # A lent GPU belongs to one call of the page; ``ZONOS_API=0`` switches the API off elsewhere.
        self.is_on = alone and not is_zero_gpu() and os.environ.get(SWITCH, "1").strip() != "0"

    def start(self) -> None:
        """Make the API in the background, and let it go on with jobs of an earlier life."""
        if self.is_on:
            threading.Thread(target=self._make_quietly, name="studio-api", daemon=True).start()

    def close(self) -> None:
        """End its jobs' workers; before the engine ends."""
        with self._lock:
            if self._api is not None:
                self._api.state.service.close()
            self.is_on = False

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether an address is the API's."""
        return (Match.FULL if self.is_on and is_api(scope) else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer through the API."""
        api = await asyncio.to_thread(self._make)
        await api(scope, receive, send)

    def _make(self) -> FastAPI:
        with self._lock:
            if self._api is None:
                from zonos.api import Settings, create_app

                settings = Settings(data=self._folder, voices=(self._voices,), guests=self._guests)
                self._api = create_app(self._lend, settings)
                self._api.state.service.start()
            return self._api

    def _lend(self) -> Any:
        return self._engines.use(self._engines.model or MODEL)

    def _make_quietly(self) -> None:
        try:
            self._make()
        except Exception:
            log.exception("the HTTP API beside the page could not be made")
