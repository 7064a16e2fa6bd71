"""Which jobs are being spoken: a bounded number of workers, fair between clients."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from zonos.api.jobs import Jobs
from zonos.api.metrics import Metrics
from zonos.api.voices import Voices
from zonos.api.worker import Worker
from zonos.engine import Engine
from zonos.errors import CheckpointError

log = logging.getLogger("zonos.api")

Lend = Callable[[], AbstractContextManager[Engine]]

WORKERS = 16  # jobs at once; their lines share the engine's slots
_DAY = 86_400
_NO_MODEL = "The model is not there; the job's warnings say why."  # once, not on each of a thousand lines


@dataclass(frozen=True, slots=True)
class Ticket:
    """A job that waits for a worker, or has one."""

    job: str
    owner: str
    client: str
    format: str


@dataclass
class _Listeners:
    """Coroutines that wait for news of a job; safe to ring from any thread."""

    waiting: dict[str, set[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = field(
        default_factory=lambda: defaultdict(set)
    )
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ring(self, job: str) -> None:
        with self.lock:
            found = list(self.waiting.get(job, ()))
        for loop, event in found:
            # A loop that is closed has no listener left.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)


class Desk:
    """Gives jobs to workers.

    Args:
        jobs: on disk.
        voices: of all clients.
        metrics: told of every take.
        lend: where workers get the engine; may block while another model is in use.
    """

    def __init__(self, jobs: Jobs, voices: Voices, metrics: Metrics, lend: Lend) -> None:
        self.jobs, self.voices, self.metrics, self.lend = jobs, voices, metrics, lend
        self._lock = threading.Lock()
        self._waiting: list[Ticket] = []
        self._workers: dict[str, tuple[Ticket, Worker, threading.Thread]] = {}
        self._listeners = _Listeners()
        self.draining = False

    def recover(self, keep_days: float) -> None:
        """After a restart: go on with what is not done; forget what is old."""
        for job in self.jobs.outdated(time.time() - keep_days * _DAY):
            self.delete(job)
        for row in self.jobs.recover():
            self.start(Ticket(row["id"], row["owner"], row["client"], row["format"]))

    def start(self, ticket: Ticket) -> None:
        """Let a job wait for a worker."""
        with self._lock:
            self._waiting.append(ticket)
            self._fill()

    def cancel(self, job: str) -> None:
        """Stop a job; what is done stays."""
        with self._lock:
            self._waiting = [ticket for ticket in self._waiting if ticket.job != job]
            working = self._workers.get(job)
            if working is not None:
                working[1].cancel()
        self.jobs.cancel(job)
        self._listeners.ring(job)

    def delete(self, job: str) -> None:
        """Stop a job and forget it, files and all."""
        self.cancel(job)
        self.jobs.delete(job)
        with self._lock:
            working = job in self._workers
        if not working:  # else the worker does it when it is through
            self.jobs.store.remove_folder(self.jobs.store.jobs / job)
        self._listeners.ring(job)

    def progress(self, job: str) -> dict[tuple[int, int], tuple[int, int]]:
        """Frames so far and expected, by ``(n, take)``, of what is being spoken."""
        with self._lock:
            working = self._workers.get(job)
        return dict(working[1].progress) if working else {}

    @contextlib.contextmanager
    def listen(self, job: str) -> Iterator[asyncio.Event]:
        """An event that is set when something of the job is new; for a coroutine."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        with self._listeners.lock:
            self._listeners.waiting[job].add(entry)
        try:
            yield entry[1]
        finally:
            with self._listeners.lock:
                self._listeners.waiting[job].discard(entry)
                if not self._listeners.waiting[job]:
                    del self._listeners.waiting[job]

    def drain(self) -> None:
        """Stop speaking; everything that is not done waits for the next start."""
        with self._lock:
            self.draining = True
            workers = list(self._workers.values())
            listened = list(self._listeners.waiting)
        for _, worker, _ in workers:
            worker.drain()
        for job in listened:
            self._listeners.ring(job)

    def close(self) -> None:
        """:meth:`drain`, and wait until it is done."""
        self.drain()
        with self._lock:
            threads = [thread for _, _, thread in self._workers.values()]
        for thread in threads:
            thread.join()

    # ---- workers -----------------------------------------------------------------------------

    def _fill(self) -> None:
        """Start workers while there is room; the client with the fewest comes first."""
        while self._waiting and len(self._workers) < WORKERS and not self.draining:
            busy = Counter(ticket.client for ticket, _, _ in self._workers.values())
            ticket = min(self._waiting, key=lambda waiting: busy[waiting.client])
            self._waiting.remove(ticket)
            worker = Worker(
                self.jobs,
                ticket.job,
                client=ticket.client,
                format=ticket.format,
                voices=self.voices.of(ticket.owner),
                metrics=self.metrics,
                changed=self._listeners.ring,
            )
            thread = threading.Thread(target=self._work, args=(ticket, worker), name=f"zonos-{ticket.job}")
            self._workers[ticket.job] = (ticket, worker, thread)
            thread.start()

    def _work(self, ticket: Ticket, worker: Worker) -> None:
        try:
            with self.lend() as engine:
                worker.speak(engine)
        except CheckpointError as error:
            self._broke(ticket, "model_not_available", _NO_MODEL, str(error))
        except Exception:
            log.exception("job %s broke off", ticket.job)
            self._broke(ticket, "internal", "The server hit a fault of its own; its log has it.")
        finally:
            self._through(ticket)

    def _broke(self, ticket: Ticket, code: str, reason: str, warning: str | None = None) -> None:
        """Lines that nobody speaks any more say so; where even that fails, the next start goes on."""
        self.jobs.fail_rest(ticket.job, code, reason, warning)

    def _through(self, ticket: Ticket) -> None:
        with self._lock:
            del self._workers[ticket.job]
            self._fill()
        if not self.jobs.exists(ticket.job):
            self.jobs.store.remove_folder(self.jobs.store.jobs / ticket.job)
        self._listeners.ring(ticket.job)
