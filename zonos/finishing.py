"""Codes to sound, beside the decode loop: chunks for listeners, whole takes, their final events."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from concurrent.futures import Executor

import numpy as np

from zonos.deadlines import submit_by
from zonos.events import AudioChunk
from zonos.memory import fits, give_back, is_out_of_memory
from zonos.pipeline import Pipeline
from zonos.takes import Piece, Take

log = logging.getLogger(__name__)


class Finisher:
    """Everything the codec's thread does; one thread at a time.

    Args:
        pipeline: its codec.
        executor: the thread.
        retry: lets a piece wait again with a new seed; False when it has had its chances.
        wake: called when a take got its final event.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        executor: Executor,
        retry: Callable[[Piece], bool],
        wake: Callable[[], None],
    ) -> None:
        self.pipeline, self.executor, self.retry, self.wake = pipeline, executor, retry, wake

    def hear(self, piece: Piece, codes: np.ndarray) -> None:
        """A streamed piece has grown: ``codes`` are all it has so far."""
        self._submit(self._hear, piece, codes)

    def finish(self, piece: Piece, codes: np.ndarray) -> None:
        """A piece is whole."""
        self._submit(self._finish, piece, codes)

    def _submit(self, work: Callable[[Piece, np.ndarray], None], piece: Piece, codes: np.ndarray) -> None:
        """Who listens comes before who does not."""
        due = piece.due if piece.stream else math.inf
        submit_by(self.executor, due, self._guarded, work, piece, codes)

    def _guarded(self, work: Callable[[Piece, np.ndarray], None], piece: Piece, codes: np.ndarray) -> None:
        """A fault here fails this take alone."""
        if piece.take.over:
            return
        try:
            if not fits(lambda: work(piece, codes)):
                # The codes are there: what the decoder or another take held for a moment may be free now.
                give_back()
                work(piece, codes)
        except Exception as error:
            if piece.take.over:  # stopped meanwhile, and its sound let go under our hands
                return
            log.exception("codes of line %s could not be turned into sound", piece.take.line)
            if is_out_of_memory(error):
                reason = "There was no memory left to turn this take into sound; try again with fewer lines at once."
                piece.take.fail("out_of_memory", reason)
            else:
                piece.take.fail("internal", "This take could not be turned into sound; the log says why.")
            self.wake()

    def _hear(self, piece: Piece, codes: np.ndarray) -> None:
        audio = piece.take.open_audio(self.pipeline)
        self._send(piece.take, audio.hear(piece.index, codes, piece.seed))

    def _finish(self, piece: Piece, codes: np.ndarray) -> None:
        take = piece.take
        audio = take.open_audio(self.pipeline)
        audio.add(piece.index, codes, piece.seed)
        if audio.is_silent(piece.index) and not audio.was_heard(piece.index):
            audio.forget(piece.index)
            piece.heard = 0
            if not self.retry(piece):
                reason = f"The model was silent, with {piece.attempt + 1} seeds; try another voice or text."
                if take.request.line.prefix_audio:
                    reason += " After a prefix clip it needs the clip's own words, and a short clip is best."
                take.fail("silent", reason)
                self.wake()
            return
        take.codes[piece.index] = codes
        if len(take.codes) < len(take.pieces) and not piece.stream:
            return
        self._send(take, audio.take())
        if audio.is_whole:
            take.run.emit(take.done(self.pipeline))
            take.let_go()
            self.wake()

    def _send(self, take: Take, samples: np.ndarray) -> None:
        if not samples.size:
            return
        take.parts.append(samples)
        if take.run.stream:
            rate = self.pipeline.codec.sample_rate
            take.run.emit(AudioChunk(take.run.id, take.line, take.take, take.chunk_start, samples, rate))
            take.sent(len(samples) / rate)
        take.chunk_start += len(samples)
