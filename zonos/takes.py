"""A take being made: its pieces, its voice, what became of each."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from zonos.errors import LineError
from zonos.events import Accepted, Done, Failed, Speech
from zonos.finish import TakeAudio
from zonos.line import Line
from zonos.pipeline import Pipeline
from zonos.request import MAX_PREFIX_SECONDS, Request, derive_seed, make_request, take_seed
from zonos.rows import RowPlan
from zonos.run import Run
from zonos.scheduler import DRY_SECONDS
from zonos.text.dictionary import Dictionary
from zonos.voices import VoiceSource


@dataclass(frozen=True)
class Ready:
    """A line with everything that must be read from clips; all its takes share it."""

    request: Request
    voice: Tensor | None  # [speaker dim]
    prefix: Tensor | None  # codes [codebooks, frames] that the speech continues
    warnings: tuple[str, ...]


@dataclass(frozen=True)
class Preparation:
    """Makes lines ready; what one owner's lines may refer to."""

    pipeline: Pipeline
    voices: VoiceSource | None
    dictionary: Dictionary | None

    def prepare(self, line: Line) -> Ready:
        """Text to tokens, clips to a speaker vector and codes.

        Raises:
            LineError: what is wrong with this line, in words.
        """
        pipeline = self.pipeline
        request = make_request(
            line, pipeline.defaults, pipeline.config, pipeline.codec.frame_rate, self.dictionary
        )
        voice = pipeline.voice_vector(self._clips(line.voice)) if line.voice else None
        warnings = list(request.warnings)
        if voice is None:
            warnings.append("No voice chosen: the model makes one up, another for every take.")
        prefix = self._prefix(self._clips(line.prefix_audio)[0]) if line.prefix_audio else None
        return Ready(request, voice, prefix, tuple(warnings))

    def _clips(self, name: str) -> list[Path]:
        if self.voices is None:
            raise LineError("unknown_voice", f"There is no voice {name!r}: no voices are set up here.")
        return self.voices.clips(name)

    def _prefix(self, clip: Path) -> Tensor:
        from zonos.audio.read import read_clip
        from zonos.audio.resample import resampler

        sound = read_clip(clip)
        if sound.seconds > MAX_PREFIX_SECONDS:
            reason = f"The prefix clip lasts {sound.seconds:.0f} s; use at most {MAX_PREFIX_SECONDS:.0f} s."
            raise LineError("long_prefix", reason)
        mono = torch.from_numpy(sound.mono)[None]
        codec = self.pipeline.codec
        with torch.inference_mode():
            return codec.encode(resampler(sound.sample_rate, codec.sample_rate)(mono))


@dataclass(eq=False)
class Piece:
    """One row's worth of a take, waiting or running (``zonos.scheduler.Waiting``)."""

    take: Take
    index: int
    seed: int
    attempt: int = 0
    frames: int = 0  # decoded so far
    heard: int = 0  # frames sent on for streaming
    told: int = 0  # frames at the last progress event
    made_way: int = 0  # times it gave its row to a listener
    seeds: list[int] = field(default_factory=list)  # of earlier attempts

    @property
    def owner(self) -> str:
        """Whose it is."""
        return self.take.run.owner

    @property
    def run(self) -> str:
        """Its run's id."""
        return self.take.run.id

    @property
    def stream(self) -> bool:
        """Whether somebody listens while it is made."""
        return self.take.run.stream

    @property
    def due(self) -> float:
        """See ``Take.due``."""
        return self.take.due

    @property
    def playing(self) -> bool:
        """Whether its listener has heard something already."""
        return self.take.heard_at is not None

    def is_listened_to(self) -> bool:
        """Whether its frames are handed over as they come. The first piece's always; a later one's when
        all before it has left and its listener has little ahead: what was heard cannot be tried again."""
        if self.index == 0 or self.heard:
            return True
        audio = self.take.audio
        soon = self.due < time.monotonic() + DRY_SECONDS
        return soon and audio is not None and audio.is_next(self.index, self.frames)

    @property
    def order(self) -> int:
        """Place in its take."""
        return self.index

    @property
    def request(self) -> Any:
        """What is to be spoken."""
        return self.take.request.pieces[self.index]

    @property
    def expected_frames(self) -> int:
        """Estimate."""
        return int(self.request.expected_frames)

    def run_on_reason(self, frame_rate: float) -> str:
        """Why it is given up when every attempt ran to its limit."""
        seconds = self.request.limit / frame_rate
        return (
            f"The model did not find an end within {seconds:.0f} s, with {self.attempt + 1} seeds. "
            "Change the text a little, or try another voice or seed."
        )

    def retry(self) -> None:
        """Start again with another seed, which follows from the first."""
        self.seeds.append(self.seed)
        self.attempt += 1
        self.seed = derive_seed(self.seeds[0], "retry", self.attempt)
        self.restart()

    def restart(self) -> None:
        """Start again with the same seed (it had to make room)."""
        self.frames = self.told = 0

    def plan(self, pipeline: Pipeline) -> RowPlan:
        """The row that speaks it."""
        take = self.take
        values = {**take.request.values, "espeak": self.request.ids}
        if take.ready.voice is not None:
            values["speaker"] = take.ready.voice
        prefix = take.ready.prefix if self.index == 0 else None
        if prefix is None:
            prefix = torch.zeros(pipeline.config.n_codebooks, 0, dtype=torch.int64)
        return RowPlan(
            prefixes=pipeline.prefixes.make(values, twin=take.request.sampling.cfg_scale != 1),
            audio_prefix=prefix.to(pipeline.model.device),
            limit=self.request.limit,
            seed=self.seed,
            sampling=take.request.sampling,
        )


class Take:
    """One take of one line."""

    def __init__(self, run: Run, ready: Ready, take: int, line_seed: int) -> None:
        self.run, self.ready, self.take = run, ready, take
        self.line = str(ready.request.line.id)
        self.seed = take_seed(line_seed, take)
        self.started = False
        self.over = False  # has its final event, or must not get one
        self.length_cut = False
        self.warnings = list(ready.warnings)
        self.codes: dict[int, np.ndarray] = {}
        self.chunk_start = 0  # samples streamed
        self.asked_at = time.monotonic()
        self.heard_at: float | None = None  # when the first chunk left
        self.heard_seconds = 0.0  # of sound that left
        seeds = [self.seed, *(derive_seed(self.seed, "piece", i) for i in range(1, len(self.request.pieces)))]
        self.pieces = [Piece(self, i, seed) for i, seed in enumerate(seeds)]
        self.audio: TakeAudio | None = None  # made when the first codes come
        self.parts: list[np.ndarray] = []

    @property
    def request(self) -> Request:
        """What is to be spoken."""
        return self.ready.request

    @property
    def due(self) -> float:
        """When its listener, who plays what comes, runs dry (monotonic clock); he is waiting already
        before the first sound."""
        return self.asked_at if self.heard_at is None else self.heard_at + self.heard_seconds

    def sent(self, seconds: float) -> None:
        """A chunk left for its listener."""
        if self.heard_at is None:
            self.heard_at = time.monotonic()
        self.heard_seconds += seconds

    @property
    def frames(self) -> int:
        """Decoded so far, over all pieces."""
        return sum(piece.frames for piece in self.pieces)

    def accepted(self, frame_rate: float) -> Accepted:
        """Its first event."""
        request = self.request
        return Accepted(
            self.run.id,
            self.line,
            self.take,
            request.phonemes,
            request.expected_seconds(frame_rate),
            len(request.pieces),
            tuple(self.warnings),
        )

    def open_audio(self, pipeline: Pipeline) -> TakeAudio:
        """Where its samples come together."""
        if self.audio is None:
            line = self.request.line
            self.audio = TakeAudio(
                pipeline.codec, self.request.pieces, self.ready.prefix, line.keep_prefix, line.max_seconds
            )
        return self.audio

    def fail(self, code: str, reason: str) -> None:
        """Its final event, if it has none yet."""
        self.run.emit(Failed(self.run.id, self.line, self.take, code, reason))
        self.let_go()

    def let_go(self) -> None:
        """Nothing more comes of it. Its sound goes at once: a take and its pieces know each other,
        so that the memory would stay until the collector looks for circles."""
        self.over = True
        self.audio = None
        self.parts, self.codes = [], {}

    def done(self, pipeline: Pipeline) -> Done:
        """Its final event when all samples are there."""
        samples = np.concatenate(self.parts) if self.parts else np.zeros(0, np.float32)
        rate = pipeline.codec.sample_rate
        cut = self.length_cut or (self.audio is not None and self.audio.cut)
        asked = self.request.line.max_seconds
        if cut and asked is not None:
            self.warnings.append(f"Cut at {asked:g} s, the longest that this line may be (max_seconds).")
        speech = Speech(
            samples=samples.astype(np.float32, copy=False),
            sample_rate=rate,
            seconds=len(samples) / rate,
            ended="length" if cut else "eos",
            seed=self.seed,
            recipe=self._recipe(pipeline),
            codes=tuple(self.codes[i] for i in range(len(self.pieces))),
            warnings=tuple(self.warnings),
        )
        return Done(self.run.id, self.line, self.take, speech)

    def _recipe(self, pipeline: Pipeline) -> dict[str, Any]:
        """Everything that is needed to make this take again, alone."""
        line = self.request.line.model_copy(update={"takes": 1, "seed": self.seed})
        return {
            "line": line.model_dump(mode="json"),
            "model": pipeline.name,
            "device": pipeline.model.device.type,
            "dtype": str(pipeline.model.dtype).removeprefix("torch."),
            "language": self.request.spoken.language,
            "phonemes": self.request.phonemes,
            "pieces": [
                {
                    "phonemes": piece.request.phonemes,
                    "prefix_frames": piece.request.prefix_frames,
                    "seed": piece.seed,
                    "frames": int(self.codes[piece.index].shape[1]),
                    "retried_seeds": piece.seeds,
                }
                for piece in self.pieces
            ],
        }
