"""What the engine tells about a line while it is being spoken.

Every event names its run, its line (``Line.id``, given by the engine where the caller gave none)
and its take. Order for one take: accepted, started, progress and chunks, then exactly one of done,
failed, cancelled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    run: str
    line: str
    take: int  # counted from 0


@dataclass(frozen=True, slots=True)
class Accepted(Event):
    """The line is valid and waits for a slot."""

    phonemes: str
    expected_seconds: float
    pieces: int
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The line's first piece got a slot."""


@dataclass(frozen=True, slots=True)
class Progress(Event):
    """Frames decoded so far, over all pieces."""

    frames: int
    expected_frames: int


@dataclass(frozen=True, slots=True)
class AudioChunk(Event):
    """The next samples of a streamed line, in order and without gaps."""

    start: int  # index of the first sample
    samples: np.ndarray  # float32 [n]
    sample_rate: int


@dataclass(frozen=True, slots=True)
class Speech:
    """A finished take."""

    samples: np.ndarray  # float32 [n], within -1..1
    sample_rate: int
    seconds: float
    ended: str  # "eos", or "length" where the limit cut it (said, never silent)
    seed: int  # the seed that made it: the line's own, or a retry's
    recipe: dict[str, Any]  # enough to make it again: resolved line, model, pieces, phonemes
    codes: tuple[np.ndarray, ...]  # per piece, int16 [codebooks, frames]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Done(Event):
    """The take is whole."""

    speech: Speech = field(repr=False)


@dataclass(frozen=True, slots=True)
class Failed(Event):
    """This line failed alone; ``reason`` is a sentence a producer can act on."""

    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Cancelled(Event):
    """Stopped on request before it was done."""


Final = (Done, Failed, Cancelled)
