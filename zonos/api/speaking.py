"""One speech request from its line to its last byte."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import ExitStack

from anyio import to_thread

from zonos.api.encoding import OneAtATime, ResponseFormat, encode_whole, open_encoder
from zonos.api.errors import ApiError, line_failed
from zonos.api.feed import Feed
from zonos.api.metrics import Metrics
from zonos.api.sending import BrokenOff
from zonos.events import Accepted, AudioChunk, Cancelled, Done, Failed, Speech

Coded = Callable[[bytes], bytes]


class Speaking:
    """Turns one run of one line into encoded audio.

    Args:
        feed: of the run.
        format: of the audio.
        metrics: told of latency, speed and failures.
    """

    def __init__(self, feed: Feed, format: ResponseFormat, metrics: Metrics) -> None:
        self.feed, self.format, self.metrics = feed, format, metrics
        self.held = ExitStack()  # what is let go at the end: admission, the engine's loan
        self.warnings: tuple[str, ...] = ()
        self.tokens = 0  # phonemes, for SSE's usage
        self.speech: Speech | None = None
        self._begun = time.monotonic()
        self._first: AudioChunk | None = None

    async def start(self) -> None:
        """Wait for the first sound.

        Raises:
            ApiError: the line failed before.
        """
        self._first = await self._next_chunk()
        self.metrics.first_chunk.observe(time.monotonic() - self._begun)

    async def whole(self) -> bytes:
        """Everything, as one file.

        Raises:
            ApiError: the line failed.
        """
        while await self._next_chunk() is not None:
            pass
        assert self.speech is not None  # the chunks end with it
        samples, rate = self.speech.samples, self.speech.sample_rate
        return await to_thread.run_sync(encode_whole, self.format, samples, rate)

    async def audio(self) -> AsyncGenerator[bytes, None]:
        """Encoded pieces, the first of which :meth:`start` waited for.

        Raises:
            BrokenOff: the line failed in the middle.
        """
        chunk = self._first
        if chunk is None:
            return
        encoder = OneAtATime(open_encoder(self.format, chunk.sample_rate))
        try:
            while chunk is not None:
                if data := await to_thread.run_sync(encoder.push, chunk.samples):
                    yield data
                try:
                    chunk = await self._next_chunk()
                except ApiError as error:
                    raise BrokenOff(error.message) from error
            if data := await to_thread.run_sync(encoder.finish):
                yield data
        finally:
            encoder.finish()

    async def events(self) -> AsyncGenerator[bytes, None]:
        """The same as OpenAI's server-sent events; a failure is an event too."""
        try:
            async for data in self.audio():
                yield _event({"type": "speech.audio.delta", "audio": base64.b64encode(data).decode()})
        except BrokenOff as error:
            cause = error.__cause__
            body = cause.body()["error"] if isinstance(cause, ApiError) else {"message": str(error)}
            yield _event({"type": "error", "error": body})
            return
        made = sum(codes.shape[1] for codes in self.speech.codes) if self.speech else 0
        usage = {"input_tokens": self.tokens, "output_tokens": made, "total_tokens": self.tokens + made}
        yield _event({"type": "speech.audio.done", "usage": usage})

    def close(self) -> None:
        """Stop what still runs, let the next one in."""
        self.held.close()

    async def _next_chunk(self) -> AudioChunk | None:
        """The next sound; None after the last."""
        while (event := await self.feed.next()) is not None:
            match event:
                case Accepted():
                    self.warnings, self.tokens = event.warnings, len(event.phonemes)
                case AudioChunk():
                    return event
                case Done():
                    self._done(event.speech)
                case Failed():
                    self.metrics.failures.labels(event.code).inc()
                    raise line_failed(event.code, event.reason)
                case Cancelled():
                    raise line_failed("stopped", "The server is stopping; send it again.")
        return None

    def _done(self, speech: Speech) -> None:
        self.speech = speech
        self.metrics.spoken(speech.seconds, time.monotonic() - self._begun)


def _event(data: dict) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()
