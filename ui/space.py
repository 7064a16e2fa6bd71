"""Speaking on a Space whose GPU is lent for a call (ZeroGPU): rows go in chunks, each asks for its time.

The package ``spaces`` is optional; without it the same calls run here and now.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ui.checks import look
from zonos.errors import LineError
from zonos.events import Cancelled, Event, Final
from zonos.line import Line
from zonos.text.dictionary import Dictionary
from zonos.voices import VoiceSource

CHUNK = 8
MOST_SECONDS = 120  # what a visitor without an account may ask for at once
START_SECONDS, GPU_PER_AUDIO_SECOND = 10.0, 0.6


def is_zero_gpu() -> bool:
    """Whether this Space lends its GPU by the call."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in ("1", "true", "t")


class ChunkVoices:
    """Voices looked up before the call: paths travel to the process that has the GPU, a database does not."""

    def __init__(self, source: VoiceSource, lines: Sequence[Line]) -> None:
        names = {name for line in lines for name in (line.voice, line.prefix_audio) if name}
        self.found = {name: _clips(source, name) for name in names}

    def clips(self, name: str) -> list[Path]:
        """See :class:`zonos.voices.VoiceSource`."""
        found = self.found[name]
        if isinstance(found, LineError):
            raise LineError(found.code, found.reason)
        return found


def _clips(source: VoiceSource, name: str) -> list[Path] | LineError:
    try:
        return source.clips(name)
    except LineError as error:
        return error


class SpaceRun:
    """As :class:`zonos.run.Run`, a chunk at a time."""

    def __init__(
        self, model: str, lines: Sequence[Line], owner: str, voices: VoiceSource, dictionary: Dictionary
    ) -> None:
        self.model, self.lines, self.owner = model, tuple(lines), owner
        self.voices, self.dictionary = voices, dictionary
        self._mutex = threading.Lock()
        self._stopped: set[str] = set()

    def cancel(self, line: str | None = None) -> None:
        """Stop a line, or all; what is done stays done."""
        with self._mutex:
            self._stopped |= {str(one.id) for one in self.lines} if line is None else {line}

    def __iter__(self) -> Iterator[Event]:
        for start in range(0, len(self.lines), CHUNK):
            yield from self._chunk(self.lines[start : start + CHUNK])

    def _chunk(self, lines: Sequence[Line]) -> Iterator[Event]:
        live = [line for line in lines if not self._is_stopped(str(line.id))]
        open_takes = {(str(line.id), take) for line in lines for take in range(line.takes)}
        if live:
            call = speak_chunk(self.model, live, self.owner, ChunkVoices(self.voices, live), self.dictionary)
            for event in call:
                yield event
                if isinstance(event, Final):
                    open_takes.discard((event.line, event.take))
                if all(self._is_stopped(line) for line, _ in open_takes):
                    call.close()
                    break
        for line_id, take in sorted(open_takes):
            yield Cancelled("space", line_id, take)

    def _is_stopped(self, line: str) -> bool:
        with self._mutex:
            return line in self._stopped


class SpaceEngine:
    """As :class:`zonos.engine.Engine`, as far as the studio uses it."""

    closed = False

    def __init__(self, model: str) -> None:
        self.model = model
        _engine(model)  # loaded once, here, so that no lent second goes into loading

    def submit(
        self, lines: Sequence[Line], *, owner: str, voices: VoiceSource, dictionary: Dictionary | None = None
    ) -> SpaceRun:
        """See ``Engine.submit``."""
        return SpaceRun(self.model, lines, owner, voices, dictionary or Dictionary())

    def close(self) -> None:
        """Let go of the model."""
        _engine.cache_clear()


def gpu_seconds(
    model: str, lines: Sequence[Line], owner: str, voices: ChunkVoices, dictionary: Dictionary
) -> int:
    """Seconds of GPU to ask for; same arguments as :func:`speak_chunk`."""
    audio = sum(float(look(line, dictionary, model).get("seconds", 0.0)) * line.takes for line in lines)
    return min(MOST_SECONDS, round(START_SECONDS + GPU_PER_AUDIO_SECOND * audio))


def _lent(work: Callable[..., Generator[Event, None, None]]) -> Callable[..., Generator[Event, None, None]]:
    try:
        import spaces
    except ImportError:
        return work
    lent: Callable[..., Generator[Event, None, None]] = spaces.GPU(duration=gpu_seconds)(work)
    return lent


@_lent
def speak_chunk(
    model: str, lines: Sequence[Line], owner: str, voices: ChunkVoices, dictionary: Dictionary
) -> Generator[Event, None, None]:
    """Speak a few lines in the process that has the GPU; events come as they happen."""
    run = _engine(model).submit(lines, owner=owner, voices=voices, dictionary=dictionary)
    try:
        yield from run
    finally:
        run.cancel()


@lru_cache(maxsize=1)
def _engine(model: str) -> Any:
    from zonos.engine import load

    return load(model, inline=True)
