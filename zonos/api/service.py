"""Everything that lives as long as the API does."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from zonos.api.admission import Admission, Limit, Pace
from zonos.api.desk import Desk, Lend
from zonos.api.errors import ApiError
from zonos.api.jobs import Jobs
from zonos.api.metrics import Metrics
from zonos.api.settings import Settings
from zonos.api.store import Store
from zonos.api.voices import Voices
from zonos.engine import Engine
from zonos.status import Status

log = logging.getLogger("zonos.api")

RESTART_SECONDS = 5  # what a client is asked to wait while the server is replaced


class Service:
    """Store, limits, jobs and metrics around an engine.

    Args:
        engine: one that stays, or something that lends the one of the moment.
        settings: of the operator.

    Raises:
        StoreError: the data folder cannot be used.
    """

    def __init__(self, engine: Engine | Lend, settings: Settings) -> None:
        self.settings = settings
        self._source = engine
        self._seen: weakref.ref[Engine] | None = None
        if isinstance(engine, Engine):
            self._seen = weakref.ref(engine)
        self.pace = Pace()
        self.store = Store(settings.data)
        self.voices = Voices(self.store, settings)
        self.jobs = Jobs(self.store, self._limit("line", settings.lines, settings.client_lines))
        self.requests = Admission(self._limit("speech request", settings.requests, settings.client_requests))
        self.metrics = Metrics(self.status, self.jobs.open, lambda: self.requests.open, self.pace)
        self.desk = Desk(self.jobs, self.voices, self.metrics, self.lend)
        self.draining = False

    @contextmanager
    def lend(self) -> Iterator[Engine]:
        """The engine, for as long as it is used; may block while another model is being loaded.

        Raises:
            CheckpointError: the model cannot be loaded.
        """
        with self._borrowed() as engine:
            self._seen = weakref.ref(engine)
            yield engine

    def status(self) -> Status | None:
        """Of the engine that was used last."""
        engine = self._seen() if self._seen else None
        return engine.status() if engine else None

    def check_open(self) -> None:
        """Refuse new work while the server is being stopped.

        Raises:
            ApiError: 503.
        """
        if self.draining:
            sentence = "The server is stopping; send it again in a moment."
            raise ApiError(503, "stopping", sentence, headers={"retry-after": str(RESTART_SECONDS)})

    def start(self) -> None:
        """Go on with the jobs of an earlier life."""
        self.desk.recover(self.settings.keep_days)

    def drain(self) -> None:
        """Take nothing new; open speech goes on to its end, jobs wait for the next start."""
        self.draining = True
        self.desk.drain()

    def close(self) -> None:
        """:meth:`drain`, wait for the workers, and let go of the data folder; not of the engine."""
        self.drain()
        self.desk.close()
        self.store.close()

    def _borrowed(self) -> AbstractContextManager[Engine]:
        return _kept(self._source) if isinstance(self._source, Engine) else self._source()

    def _limit(self, what: str, total: int, each: int) -> Limit:
        def at_once() -> int:
            status = self.status()
            return status.slots if status else 1

        return Limit(what, total, each, self.pace, at_once)


@contextmanager
def _kept(engine: Engine) -> Iterator[Engine]:
    yield engine
