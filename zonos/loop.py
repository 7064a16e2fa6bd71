"""The decode loop: admit, step, read, hand over. One thread runs it."""

from __future__ import annotations

import logging
import threading
from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from zonos.blocks import OutOfBlocks
from zonos.errors import LineError
from zonos.events import Progress, Started
from zonos.finishing import Finisher
from zonos.invariance import lane_quantum as find_lane_quantum
from zonos.memory import fits, give_back
from zonos.pace import Pace, RowLimit
from zonos.pipeline import Pipeline
from zonos.plan import plan_pool
from zonos.rows import RowPlan
from zonos.runner import RowFlags, Runner
from zonos.scheduler import Scheduler
from zonos.takes import Piece, Take

log = logging.getLogger(__name__)

RETRIES = 2  # new seeds for a row that lost its way, before that is reported
REPEAT_SECONDS = 2.0  # one and the same frame for this long is no speech
PROGRESS_FRAMES = 16  # between two progress events of a piece
HEARD_FRAMES = 4  # between two hand-overs of a streamed piece
MOST_MADE_WAY = 2  # times that a background row starts again for a listener
NO_ROOM = "This line does not fit the memory that is left; make it shorter."


class Loop:
    """Decodes everybody's pieces.

    Args:
        pipeline: the checkpoint.
        slots: most rows at once.
        finishing: runs the codec.
        wake: called when work was added from another thread.
        read_every: steps between two looks at the device's flags; None = 1 on the CPU, where
            looking costs nothing, else 4.
        max_blocks: most KV blocks; None = no limit.
        lane_quantum: see ``zonos.runner.Runner``; None = found by trying.
        reproducible: see ``zonos.runner.Runner``.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        *,
        slots: int,
        finishing: Executor,
        wake: Callable[[], None],
        read_every: int | None = None,
        max_blocks: int | None = None,
        lane_quantum: int | None = None,
        reproducible: bool = False,
    ) -> None:
        self.pipeline, self.wake = pipeline, wake
        self.finisher = Finisher(pipeline, finishing, self._retry, wake)
        self.reproducible = reproducible
        self.row_limit = RowLimit(slots, judged=pipeline.model.device.type != "cpu")
        self.max_blocks = max_blocks
        self.lane_quantum = lane_quantum or find_lane_quantum(pipeline.model)
        self.read_every = read_every or (1 if pipeline.model.device.type == "cpu" else 4)
        self.runner: Runner
        self._make_runner()
        self.scheduler: Scheduler[Piece] = Scheduler()
        self.frame_rate = pipeline.codec.frame_rate
        self.stats: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._incoming: deque[Take | Piece] = deque()
        self._takes: set[Take] = set()
        self._running: list[Piece] = []  # by row
        self._unread = 0  # steps since the last look at the flags
        self._crowded = False  # the KV pool ran full, and no row has ended since

    # ---- from any thread ---------------------------------------------------------------------

    @property
    def pace(self) -> Pace:
        """Step times of this machine."""
        return self.row_limit.pace

    @property
    def slots(self) -> int:
        """Most rows at once; fewer than asked for where memory ran out."""
        return self.row_limit.slots

    @property
    def rows(self) -> int:
        """Pieces being decoded."""
        return len(self._running)

    def add(self, work: Take | Piece) -> None:
        """A new take, or a piece to be tried again."""
        if isinstance(work, Take):
            work.run.emit(work.accepted(self.frame_rate))
        with self._lock:
            self._incoming.append(work)

    def has_work(self) -> bool:
        """Whether a turn would do anything."""
        return bool(self._incoming or self._running or len(self.scheduler))

    # ---- from the loop's thread --------------------------------------------------------------

    def turn(self) -> bool:
        """Admit, decode one frame for every row, look after rows that end; False when idle."""
        self._take_in()
        self._drop_cancelled()
        self._admit()
        if self._running:
            self._step()
        else:
            self.row_limit.pause()
        return self.has_work()

    def fail_all(self, code: str, reason: str) -> None:
        """Report a fault of the generator itself on every take, and start afresh."""
        self._take_in()
        for take in self._takes:
            take.fail(code, reason)
        self._takes.clear()
        self.scheduler = Scheduler()
        self._running = []
        self._renew_runner()

    def _renew_runner(self) -> None:
        """Let go of the runner, then make another; with fewer slots while even that does not fit.

        Raises:
            MemoryError: there is not even room for one row.
        """
        del self.runner
        give_back()
        model = self.pipeline.model
        while True:
            if model.device.type == "cuda":
                # Whoever took the memory that was missing has it still: plan with what is free now.
                pool = plan_pool(model.config, model.dtype, model.device, self.slots)
                self.row_limit.slots, self.max_blocks = pool.slots, pool.max_blocks
            if fits(self._make_runner):
                return
            if self.slots == 1:
                raise MemoryError("there is no room for a single row")
            self.row_limit.slots //= 2
            give_back()

    def _make_runner(self) -> None:
        self.runner = Runner(
            self.pipeline.model,
            slots=self.slots,
            max_blocks=self.max_blocks,
            lane_quantum=self.lane_quantum,
            reproducible=self.reproducible,
        )

    def _take_in(self) -> None:
        with self._lock:
            incoming = list(self._incoming)
            self._incoming.clear()
        for work in incoming:
            if isinstance(work, Take):
                self._takes.add(work)
                for piece in work.pieces:
                    self.scheduler.add(piece)
            elif not work.take.over:
                self.scheduler.add(work)

    def _drop_cancelled(self) -> None:
        cancelled = {
            take
            for take in self._takes
            if take.over or (take.run.has_cancels and take.run.is_cancelled(take.line, take.take))
        }
        if not cancelled:
            return
        self.scheduler.drop(lambda piece: piece.take in cancelled)
        for row in reversed(range(len(self._running))):
            if self._running[row].take in cancelled:
                self._release(row)
        for take in cancelled:
            take.run.cancelled(take.line, take.take)
            take.let_go()
        self._takes -= cancelled

    def _admit(self) -> None:
        """Give free slots to the pieces whose turn it is."""
        if self._crowded and self._running:
            return
        self._make_way()
        pieces: list[Piece] = []
        plans: list[RowPlan] = []
        while len(plans) < self._free_rows():
            piece = self.scheduler.next()
            if piece is None:
                break
            plan = self._plan(piece)
            if plan is None:
                continue
            if not self.runner.has_room([*plans, plan]):
                self._wait_for_room(piece, alone=not (plans or self._running))
                break
            pieces.append(piece)
            plans.append(plan)
        if plans:
            self._prefill(pieces, plans)

    def _free_rows(self) -> int:
        return min(self.runner.free_rows, self.row_limit.most - len(self._running))

    def _make_way(self) -> None:
        """Listeners wait and every slot is taken: background rows that lose least start again later."""
        if self.scheduler.urgent() > self._free_rows():
            self._read_rest()
        lacking = self.scheduler.urgent() - self._free_rows()
        while lacking > 0:
            rows = [
                row
                for row, piece in enumerate(self._running)
                if not piece.stream and piece.made_way < MOST_MADE_WAY
            ]
            if not rows:
                return
            row = min(rows, key=lambda r: self._running[r].frames)
            piece = self._running[row]
            piece.made_way += 1
            self._take_out(row)
            self._start_again(piece)
            self.stats["made_way"] += 1
            lacking -= 1

    def _plan(self, piece: Piece) -> RowPlan | None:
        """The row of a piece; None when it cannot be spoken, which is then told."""
        try:
            return piece.plan(self.pipeline)
        except LineError as error:
            self.scheduler.left(piece)
            self._give_up(piece, error.code, error.reason)
            return None

    def _wait_for_room(self, piece: Piece, *, alone: bool) -> None:
        self.scheduler.left(piece)
        if alone:
            self._give_up(piece, "too_long", NO_ROOM)
        else:
            self.scheduler.add(piece)

    def _prefill(self, pieces: list[Piece], plans: list[RowPlan]) -> None:
        self.row_limit.pause()
        there_was_room = fits(lambda: self.runner.admit(plans))
        self._running += pieces
        if not there_was_room:
            self._back_off()
            return
        for piece in pieces:
            if not piece.take.started:
                piece.take.started = True
                piece.take.run.emit(Started(piece.run, piece.take.line, piece.take.take))

    def _step(self) -> None:
        try:
            there_was_room = fits(self.runner.step)
        except OutOfBlocks:
            self._make_room()
            return
        if not there_was_room:
            self._back_off()
            return
        self.stats["steps"] += 1
        self.stats["row_steps"] += len(self._running)
        self._unread += 1
        if self._unread >= self.read_every:
            rows, steps = len(self._running), self._unread
            self._read()
            self.row_limit.stepped(steps, rows, alike=len(self._running) == rows)

    def _make_room(self) -> None:
        """The KV pool is full: the row that lost least, of those that nobody heard, starts again later."""
        rows = len(self._running)
        self._read_rest()
        if len(self._running) < rows:  # one had ended, and nobody had looked
            return
        if rows == 1:
            piece = self._running[0]
            self._release(0)
            self._give_up(piece, "too_long", NO_ROOM)
            return
        row = min(range(rows), key=lambda r: (self._running[r].heard > 0, self._running[r].frames))
        piece = self._running[row]
        self._take_out(row)
        self._start_again(piece)
        # Whoever came in now would take the blocks that were just freed, and nobody would get on.
        self._crowded = True

    def _back_off(self) -> None:
        """Out of memory: half the slots, what was running waits again, what is done is kept."""
        running, self._running = self._running, []
        if self.slots == 1:
            for piece in running:
                self.scheduler.left(piece)
                self._give_up(piece, "out_of_memory", NO_ROOM)
        for piece in running:
            self._start_again(piece)
        self.row_limit.slots = max(1, self.slots // 2)
        log.warning("out of memory: going on with %d slots", self.slots)
        self.stats["back_offs"] += 1
        self._renew_runner()

    def _start_again(self, piece: Piece) -> None:
        """Let a piece that lost its row wait again."""
        self.scheduler.left(piece)
        if piece.take.over:
            return
        if piece.heard:
            # Part of it was already heard: starting again would say it twice.
            self._give_up(piece, "out_of_memory", "Memory ran out while this was being streamed; try again.")
            return
        piece.restart()
        self.scheduler.add(piece)

    def _release(self, row: int) -> None:
        """A row's piece is through with it."""
        self._crowded = False
        self.scheduler.left(self._running[row])
        self._take_out(row)

    def _take_out(self, row: int) -> None:
        """Free a row; as in the runner, the last one gets its number."""
        self.runner.release(row)
        self._running[row] = self._running[-1]
        self._running.pop()

    # ---- rows that go on, rows that end ------------------------------------------------------

    def _read_rest(self) -> None:
        """Look at rows that went on since the last look."""
        if self._unread:
            self._read()

    def _read(self) -> None:
        self._unread = 0
        flags = self.runner.read()
        ended: list[tuple[Piece, np.ndarray, RowFlags]] = []
        for row in reversed(range(len(flags))):
            piece, flag = self._running[row], flags[row]
            piece.frames = flag.frames
            if flag.ended or flag.repeats > REPEAT_SECONDS * self.frame_rate:
                ended.append((piece, self.runner.codes(row, 0, flag.frames), flag))
                self._release(row)
            else:
                self._goes_on(row, piece)
        # Only now: one that is given up takes the other pieces of its line out of the batch.
        for piece, codes, flag in ended:
            if not piece.take.over:
                self._ended(piece, codes, flag)

    def _goes_on(self, row: int, piece: Piece) -> None:
        if piece.frames - piece.told >= PROGRESS_FRAMES:
            piece.told = piece.frames
            self._tell_progress(piece.take)
        if piece.stream and piece.frames - piece.heard >= HEARD_FRAMES and piece.is_listened_to():
            piece.heard = piece.frames
            self.finisher.hear(piece, self.runner.codes(row, 0, piece.frames))

    def _tell_progress(self, take: Take) -> None:
        expected = max(take.frames, take.request.expected_frames)
        take.run.emit(Progress(take.run.id, take.line, take.take, take.frames, expected))

    def _ended(self, piece: Piece, codes: np.ndarray, flag: RowFlags) -> None:
        """Good, to be tried again, or to be reported."""
        self.stats["frames"] += codes.shape[1]
        if flag.broken:
            reason = "The model's numbers were not finite for this line; try another seed or other settings."
            self._give_up(piece, "not_finite", reason)
            return
        if flag.said_eos or (flag.ended and piece.request.limit_is_asked):
            piece.take.length_cut |= not flag.said_eos
            self.finisher.finish(piece, codes)
        elif not self._retry(piece):
            if piece.heard:
                piece.take.length_cut = True
                piece.take.warnings.append("The model did not find an end; the take was cut.")
                self.finisher.finish(piece, codes)
            else:
                self._give_up(piece, "run_on", piece.run_on_reason(self.frame_rate))

    def _retry(self, piece: Piece) -> bool:
        """Let a piece wait again with a new seed; False when it has had its chances or was heard."""
        if piece.heard or piece.attempt >= RETRIES:
            return False
        piece.retry()
        self.add(piece)
        self.wake()
        return True

    def _give_up(self, piece: Piece, code: str, reason: str) -> None:
        take = piece.take
        take.fail(code, reason)
        self.scheduler.drop(lambda waiting: waiting.take is take)
        for row in reversed(range(len(self._running))):
            if self._running[row].take is take:
                self._release(row)
        self._takes.discard(take)
