"""Samples to the bytes of a response."""

from __future__ import annotations

import threading
from typing import Literal, Protocol

import numpy as np

from zonos.audio.write import FORMATS, StreamEncoder, encode_audio

ResponseFormat = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
FileFormat = Literal["wav", "wav24", "wav32f", "flac", "mp3", "ogg", "opus", "aac"]
PCM_RATE = 24_000  # OpenAI's clients play headerless samples at this rate


class Encoder(Protocol):
    """Encodes sound as it comes."""

    def push(self, samples: np.ndarray) -> bytes:
        """Take float32 ``[n]``; give what is ready."""
        ...

    def finish(self) -> bytes:
        """The last bytes."""
        ...


class OneAtATime:
    """An encoder whose owner may leave while a thread still encodes: the calls wait for each other.

    FFmpeg's encoders abort the process when two threads are in them.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._lock = threading.Lock()
        self._finished = False

    def push(self, samples: np.ndarray) -> bytes:
        """See :class:`Encoder`; nothing after the end."""
        with self._lock:
            return b"" if self._finished else self._encoder.push(samples)

    def finish(self) -> bytes:
        """See :class:`Encoder`; what FFmpeg gave is given back."""
        with self._lock:
            if self._finished:
                return b""
            self._finished = True
            return self._encoder.finish()


def open_encoder(name: ResponseFormat, sample_rate: int, total_samples: int | None = None) -> Encoder:
    """An encoder for a stream; None where its length is not known yet."""
    if name == "pcm" and sample_rate != PCM_RATE:
        return _PcmAtRate(sample_rate)
    return StreamEncoder(name, sample_rate, total_samples)


def encode_whole(name: ResponseFormat, samples: np.ndarray, sample_rate: int) -> bytes:
    """A file whose header knows its length; plain samples are the same bytes as in a stream."""
    if name not in ("pcm", "wav"):
        return encode_audio(samples, sample_rate, name)
    encoder = open_encoder(name, sample_rate, total_samples=len(samples))
    return encoder.push(samples) + encoder.finish()


def media_type(name: ResponseFormat) -> str:
    """Content type of a response."""
    if name == "pcm":
        return f"audio/pcm;rate={PCM_RATE};channels=1"
    return FORMATS[name].mime


class _PcmAtRate:
    """Raw samples at :data:`PCM_RATE`, converted without seams."""

    def __init__(self, sample_rate: int) -> None:
        import av  # slow to import, and codecs at 24 kHz never need it

        self._rate = sample_rate
        self._resampler = av.AudioResampler(format="s16", layout="mono", rate=PCM_RATE)
        self._written = 0

    def push(self, samples: np.ndarray) -> bytes:
        import av

        if not samples.size:
            return b""
        clipped = np.clip(samples, -1.0, 1.0).astype(np.float32)
        frame = av.AudioFrame.from_ndarray(clipped[None], format="fltp", layout="mono")
        frame.sample_rate = self._rate
        frame.pts = self._written
        self._written += len(samples)
        return _raw(self._resampler.resample(frame))

    def finish(self) -> bytes:
        return _raw(self._resampler.resample(None)) if self._written else b""


def _raw(frames: list) -> bytes:
    return b"".join(frame.to_ndarray().astype("<i2").tobytes() for frame in frames)
