"""Speaks the lines of one job: hands them to the engine a few at a time, keeps what comes back."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from typing import Any, Protocol

from zonos import events
from zonos.api.jobs import Jobs, Work
from zonos.api.metrics import Metrics
from zonos.audio.write import FORMATS, write_audio
from zonos.engine import Engine
from zonos.run import Run
from zonos.voices import VoiceSource

log = logging.getLogger("zonos.api")

# Lines of one job that the engine holds at once: enough to keep its slots full, few enough that
# those who come later are prepared soon and that memory does not grow with the job.
AT_ONCE = 64
REFILL = 32


class Told(Protocol):
    """Who is told of changes."""

    def __call__(self, job: str) -> None:
        """Something of this job is new."""
        ...


class Worker:
    """One job being spoken, in a thread of its own.

    Args:
        jobs: where its lines are.
        job: its id.
        client: whose turn its lines take.
        format: of its audio files.
        voices: of its owner.
        metrics: told of every take.
        changed: told that something is new.
    """

    def __init__(
        self,
        jobs: Jobs,
        job: str,
        *,
        client: str,
        format: str,
        voices: VoiceSource,
        metrics: Metrics,
        changed: Told,
    ) -> None:
        self.jobs, self.job, self.client, self.format, self.voices = jobs, job, client, format, voices
        self.metrics, self.changed = metrics, changed
        self.progress: dict[tuple[int, int], tuple[int, int]] = {}  # frames, expected
        self._folder = jobs.store.jobs / job
        self._news = threading.Event()
        self._draining = self._cancelled = False
        self._runs: list[Run] = []
        self._work: dict[str, Work] = {}  # handed to the engine, not over
        self._begun: dict[str, float] = {}

    def cancel(self) -> None:
        """Stop; what is not done is cancelled."""
        self._cancelled = True
        self._news.set()

    def drain(self) -> None:
        """Stop; what is not done waits for the next start."""
        self._draining = True
        self._news.set()

    def speak(self, engine: Engine) -> None:
        """From the first waiting line to the last; returns early when stopped."""
        waiting = deque(self.jobs.waiting(self.job))
        while waiting or self._work:
            self._news.clear()
            if self._draining or self._cancelled:
                waiting.clear()
                for run in self._runs:
                    run.cancel()
            elif len(self._work) <= REFILL and waiting:
                self._submit(engine, waiting)
            if not self._collect() and self._work:
                self._news.wait()

    def _submit(self, engine: Engine, waiting: deque[Work]) -> None:
        batch = [waiting.popleft() for _ in range(min(AT_ONCE - len(self._work), len(waiting)))]
        named = {f"{work.n}.{work.take}": work for work in batch}
        self._work.update(named)
        lines = [work.line.model_copy(update={"id": name}) for name, work in named.items()]
        run = engine.submit(lines, owner=self.client, voices=self.voices)
        run.on_event = self._news.set
        self._runs.append(run)

    def _collect(self) -> bool:
        """Take in what the engine has said; False when it had nothing to say."""
        heard = False
        for run in self._runs:
            while (event := run.next_event(timeout=0)) is not None:
                heard = True
                self._tell(event)
        self._runs = [run for run in self._runs if not run.is_delivered]
        return heard

    def _tell(self, event: events.Event) -> None:
        work = self._work[event.line]
        match event:
            case events.Started():
                self._begun[event.line] = time.monotonic()
                self.jobs.change(self.job, work, "running")
            case events.Progress():
                self.progress[work.n, work.take] = (event.frames, event.expected_frames)
            case events.Done():
                self.metrics.spoken(event.speech.seconds, time.monotonic() - self._begun[event.line])
                self._over(event.line)
                self._keep(work, event.speech)
            case events.Failed():
                self._over(event.line)
                self.metrics.failures.labels(event.code).inc()
                self.jobs.change(self.job, work, "failed", code=event.code, reason=event.reason)
            case events.Cancelled():
                self._over(event.line)
                self.jobs.change(self.job, work, "cancelled" if self._cancelled else "waiting")
        self.changed(self.job)

    def _keep(self, work: Work, speech: events.Speech) -> None:
        """File first, then its row."""
        name = f"{work.n:06}-{work.take:03}{FORMATS[self.format].suffix}"
        try:
            write_audio(self._folder / name, speech.samples, speech.sample_rate, self.format)
        except OSError as error:
            self.jobs.change(self.job, work, "failed", code="storage", reason=str(error.strerror or error))
            return
        result: dict[str, Any] = {
            "seed": speech.seed,
            "phonemes": speech.recipe["phonemes"],
            "warnings": list(speech.warnings),
            "ended": speech.ended,
            "recipe": speech.recipe,
        }
        self.jobs.change(self.job, work, "done", file=name, seconds=speech.seconds, result=result)

    def _over(self, line: str) -> None:
        work = self._work.pop(line)
        self.progress.pop((work.n, work.take), None)
        self._begun.pop(line, None)
