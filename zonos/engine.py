"""Lines from anyone at any time; events for each.

One loop decodes everybody's lines in one batch. Beside it, one thread makes lines ready (text,
voices) and one turns codes into sound, so that the loop only decodes. ``inline`` runs all three in
the caller's thread, for places where the device belongs to a call.
"""

from __future__ import annotations

import logging
import math
import threading
import time
import uuid
import weakref
from collections.abc import Sequence
from concurrent.futures import Executor, Future
from typing import Any

from zonos.deadlines import DeadlineExecutor, submit_by
from zonos.devices import share_cores
from zonos.errors import LineError
from zonos.events import Failed
from zonos.line import Line
from zonos.loop import Loop
from zonos.pipeline import Pipeline, load_pipeline
from zonos.plan import plan_pool
from zonos.request import Preview, make_request, new_seed, preview
from zonos.run import Run
from zonos.speeds import Speeds
from zonos.status import Status
from zonos.takes import Preparation, Take
from zonos.text.dictionary import Dictionary
from zonos.voices import VoiceSource

log = logging.getLogger(__name__)


class Engine:
    """The batched generator behind page, command line and server.

    Args:
        pipeline: a loaded checkpoint.
        slots: most rows decoded at once; None = what suits the device.
        voices: where voices are looked up unless a run brings its own source.
        inline: no threads; whoever iterates a run does the work.
        speeds: where the speed of this machine is kept for previews; None = nowhere.
        options: for the loop (see ``zonos.loop.Loop``).
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        slots: int | None = None,
        voices: VoiceSource | None = None,
        inline: bool = False,
        speeds: Speeds | None = None,
        **options: Any,
    ) -> None:
        self._speeds = speeds
        self.pipeline, self.voices, self.inline = pipeline, voices, inline
        self._wake = threading.Condition()
        self._closed = False
        self._runs: weakref.WeakSet[Run] = weakref.WeakSet()
        self._preparing: Executor = _Inline() if inline else DeadlineExecutor("zonos-prepare")
        self._finishing: Executor = _Inline() if inline else DeadlineExecutor("zonos-finish")
        pool = plan_pool(pipeline.config, pipeline.model.dtype, pipeline.model.device, slots)
        options.setdefault("max_blocks", pool.max_blocks)
        self.loop = Loop(pipeline, slots=pool.slots, finishing=self._finishing, wake=self._notify, **options)
        self._thread: threading.Thread | None = None
        if not inline:
            self._thread = threading.Thread(target=self._work, name="zonos-loop", daemon=True)
            self._thread.start()

    # ---- for callers -------------------------------------------------------------------------

    def submit(
        self,
        lines: Sequence[Line],
        *,
        owner: str = "local",
        voices: VoiceSource | None = None,
        dictionary: Dictionary | None = None,
        stream: bool = False,
    ) -> Run:
        """Hand over lines; returns at once. Every take of every line gets exactly one final event.

        Args:
            lines: each keeps its ``id``, or gets its place in the list as one.
            owner: whose lines these are, for fairness.
            voices: the owner's voices; default the engine's.
            dictionary: the owner's spellings.
            stream: send audio chunks while lines are spoken.

        Raises:
            ValueError: two lines share an id.
            RuntimeError: the engine is closed.
        """
        if self._closed:
            raise RuntimeError("this engine is closed")
        named = [line if line.id else line.model_copy(update={"id": str(i)}) for i, line in enumerate(lines)]
        ids = [str(line.id) for line in named]
        if len(set(ids)) != len(ids):
            raise ValueError("two lines of one run share an id")
        run = Run(uuid.uuid4().hex, owner, named, stream, pump=self.pump if self.inline else None)
        run.on_cancel = self._notify
        self._runs.add(run)
        preparation = Preparation(self.pipeline, voices or self.voices, dictionary)
        due = time.monotonic() if stream else math.inf
        for line in named:
            submit_by(self._preparing, due, self._prepare, run, line, preparation)
        return run

    def preview(self, line: Line, dictionary: Dictionary | None = None) -> Preview:
        """What would be spoken; touches no device.

        Raises:
            LineError: the line cannot be spoken.
        """
        frame_rate = self.pipeline.codec.frame_rate
        request = make_request(line, self.pipeline.defaults, self.pipeline.config, frame_rate, dictionary)
        return preview(request, frame_rate)

    def status(self) -> Status:
        """How busy it is; from any thread."""
        loop = self.loop
        return Status(
            waiting=len(loop.scheduler),
            running=loop.rows,
            slots=loop.slots,
            frames=loop.stats["frames"],
            steps=loop.stats["steps"],
            row_steps=loop.stats["row_steps"],
            alone=loop.pace.frames_per_second_alone(),
        )

    @property
    def closed(self) -> bool:
        """Whether it takes no more lines."""
        return self._closed

    def close(self) -> None:
        """Stop; takes that are not done get a cancelled event."""
        with self._wake:
            if self._closed:
                return
            self._closed = True
            self._wake.notify_all()
        if self._thread is not None:
            self._thread.join()
        self._preparing.shutdown(wait=True, cancel_futures=True)
        self._finishing.shutdown(wait=True)
        for run in list(self._runs):
            run.close()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _keep_speed(self) -> None:
        if self._speeds is not None and (alone := self.loop.pace.frames_per_second_alone()):
            model = self.pipeline.model
            self._speeds.keep(self.pipeline.name, model.device, model.dtype, alone)

    # ---- the work ----------------------------------------------------------------------------

    def pump(self) -> bool:
        """One turn of the loop; False when there is nothing to do."""
        return self.loop.turn()

    def _work(self) -> None:
        while True:
            with self._wake:
                while not (self._closed or self.loop.has_work()):
                    self._wake.wait()
                if self._closed:
                    return
            try:
                self.loop.turn()
                if not self.loop.has_work():
                    self._keep_speed()
            except Exception:
                log.exception("the decode loop failed")
                if not self._start_afresh():
                    return

    def _start_afresh(self) -> bool:
        """Report the fault on every take; False where the device is past mending, and the engine at its end."""
        try:
            self.loop.fail_all("engine_failed", "The generator failed and was restarted; try again.")
        except Exception:
            log.exception("the decode loop could not be started afresh")
        else:
            return True
        with self._wake:
            self._closed = True
        for run in list(self._runs):
            run.close()
        return False

    def _notify(self) -> None:
        with self._wake:
            self._wake.notify_all()

    def _prepare(self, run: Run, line: Line, preparation: Preparation) -> None:
        """Text and voice of one line, then into the queue; what is wrong with it stays its own."""
        seed = line.seed if line.seed is not None else new_seed()
        open_takes = [take for take in range(line.takes) if not run.is_cancelled(str(line.id), take)]
        for take in set(range(line.takes)) - set(open_takes):
            run.cancelled(str(line.id), take)
        if not open_takes:
            return
        try:
            ready = preparation.prepare(line)
        except LineError as error:
            self._fail(run, line, error.code, error.reason)
        except Exception:
            log.exception("line %s of run %s could not be prepared", line.id, run.id)
            self._fail(run, line, "internal", "This line could not be prepared; the log says why.")
        else:
            for take in open_takes:
                self.loop.add(Take(run, ready, take, seed))
            self._notify()

    def _fail(self, run: Run, line: Line, code: str, reason: str) -> None:
        for take in range(line.takes):
            run.emit(Failed(run.id, str(line.id), take, code, reason))


class _Inline(Executor):
    """Runs work at once, in the caller's thread."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        """See ``Executor.submit``; the future is done when it is returned."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - handed over, as an executor does
            future.set_exception(error)
        return future


def load(
    model: str = "mini",
    *,
    device: str | None = None,
    dtype: str | None = None,
    slots: int | None = None,
    voices: VoiceSource | None = None,
    inline: bool = False,
    progress: Any = None,
    **options: Any,
) -> Engine:
    """Load a checkpoint and start an engine on it; see ``load_pipeline`` and :class:`Engine`."""
    pipeline = load_pipeline(model, device=device, dtype=dtype, progress=progress)
    if not inline:
        share_cores(pipeline.model.device, pipeline.config)
    return Engine(pipeline, slots=slots, voices=voices, inline=inline, speeds=Speeds(), **options)
