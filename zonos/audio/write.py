"""Sound out: file formats, whole or as a stream, and files that are either whole or not there.

Whole wav, flac, ogg and mp3 are written by libsndfile; opus, aac and every stream by PyAV's own
FFmpeg, so no system ffmpeg is needed. Samples are float32 ``[n]``, mono; what is above 1 is limited,
never wrapped.
"""

from __future__ import annotations

import errno
import io
import os
import secrets
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

import numpy as np
import soundfile

from zonos.audio.edit import limit
from zonos.audio.resample import resample

_MPEG_RATES = (8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000)
_OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
_BLOCK = 32_768
# A streamed MP3 has no table of contents, without which some readers take a variable bit rate for a
# shorter file; so it has a constant one, at which LAME lowers the level by up to half a decibel.
_BIT_RATES = {"libmp3lame": 128_000, "libopus": 96_000, "aac": 128_000}
# Nothing that would have to be patched at the end; pages that leave after a tenth of a second.
_STREAM_OPTIONS = {"mp3": {"write_xing": "0"}, "ogg": {"page_duration": "100000"}}
_OPEN_SIZE = 0xFFFFFFFF  # "not known yet", as other tools write it into a pipe


@dataclass(frozen=True, slots=True)
class AudioFormat:
    """A way to store sound.

    Attributes:
        name: key in :data:`FORMATS`.
        suffix: of files, with the dot.
        mime: media type.
        title: for people.
        rates: sample rates it can hold; empty for any. Others are converted to the next higher one.
        coder: ``(container, subtype)`` of libsndfile for whole files, or None.
        encoder: ``(container, encoder)`` of FFmpeg, or None for plain PCM.
    """

    name: str
    suffix: str
    mime: str
    title: str
    rates: tuple[int, ...] = ()
    coder: tuple[str, str] | None = None
    encoder: tuple[str, str] | None = None

    def rate_for(self, sample_rate: int) -> int:
        """The rate that sound of ``sample_rate`` is stored at."""
        if not self.rates or sample_rate in self.rates:
            return sample_rate
        return min((rate for rate in self.rates if rate > sample_rate), default=self.rates[-1])


FORMATS: dict[str, AudioFormat] = {
    entry.name: entry
    for entry in (
        AudioFormat("wav", ".wav", "audio/wav", "WAV, 16 bit", coder=("WAV", "PCM_16")),
        AudioFormat("wav24", ".wav", "audio/wav", "WAV, 24 bit", coder=("WAV", "PCM_24")),
        AudioFormat("wav32f", ".wav", "audio/wav", "WAV, 32 bit float", coder=("WAV", "FLOAT")),
        AudioFormat(
            "flac", ".flac", "audio/flac", "FLAC", coder=("FLAC", "PCM_24"), encoder=("flac", "flac")
        ),
        AudioFormat(
            *("mp3", ".mp3", "audio/mpeg", "MP3", _MPEG_RATES),
            coder=("MP3", "MPEG_LAYER_III"),
            encoder=("mp3", "libmp3lame"),
        ),
        AudioFormat("ogg", ".ogg", "audio/ogg", "Ogg Vorbis", coder=("OGG", "VORBIS")),
        AudioFormat("opus", ".opus", "audio/ogg", "Ogg Opus", _OPUS_RATES, encoder=("ogg", "libopus")),
        AudioFormat("aac", ".aac", "audio/aac", "AAC", _MPEG_RATES, encoder=("adts", "aac")),
        AudioFormat("pcm", ".pcm", "audio/pcm", "raw PCM, 16 bit"),
    )
}
STREAM_FORMATS = ("wav", "flac", "mp3", "opus", "aac", "pcm")


def format_named(name: str) -> AudioFormat:
    """The format of that name.

    Raises:
        ValueError: with the names there are.
    """
    try:
        return FORMATS[name.lower()]
    except KeyError:
        raise ValueError(f"unknown audio format {name!r}; there are {', '.join(FORMATS)}") from None


def encode_audio(samples: np.ndarray, sample_rate: int, format: str = "wav") -> bytes:
    """A whole file in memory.

    Args:
        samples: float32 ``[n]``.
        sample_rate: their rate; see :attr:`AudioFormat.rates`.
        format: a key of :data:`FORMATS`.

    Raises:
        ValueError: unknown format, or samples that are not one channel.
    """
    kind = format_named(format)
    if samples.ndim != 1:
        raise ValueError(f"samples must be one channel [n], got {list(samples.shape)}")
    rate = kind.rate_for(sample_rate)
    samples = resample(np.ascontiguousarray(samples, dtype=np.float32), sample_rate, rate)
    samples = limit(samples, rate)
    if kind.coder:
        return _encode_soundfile(samples, rate, kind.coder)
    if kind.encoder:
        sink = io.BytesIO()
        writer = _AvWriter(sink, kind, rate)
        writer.write(samples)
        writer.close()
        return sink.getvalue()
    return _pcm16(samples)


def write_audio(path: Path, samples: np.ndarray, sample_rate: int, format: str = "wav") -> None:
    """Write a file that is whole or not there; see :func:`encode_audio` and :func:`atomic_file`."""
    data = encode_audio(samples, sample_rate, format)
    with atomic_file(path) as file:
        file.write(data)


class NotWrittenError(OSError):
    """A file could not be written; as text, a sentence for people."""

    def __str__(self) -> str:
        return str(self.strerror)


@contextmanager
def atomic_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write that takes its name only when everything is safely on the disk.

    Raises:
        NotWrittenError: nothing half-written is left, an older file of that name stays.
    """
    path = Path(path)
    temporary = path.parent / f".writing-{secrets.token_hex(8)}{path.suffix}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except OSError as error:
        raise NotWrittenError(error.errno, _why_not_written(path, error)) from error
    finally:
        if temporary.exists():
            temporary.unlink()


def _why_not_written(path: Path, error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {path.name!r} was not written. Free some space and try again."
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return f"{path.name!r} was not written: the folder {str(path.parent)!r} may not be written to."
    return f"{path.name!r} was not written: {error.strerror or error}."


class StreamEncoder:
    """Encodes sound as it comes.

    Args:
        format: one of :data:`STREAM_FORMATS`.
        sample_rate: of the samples pushed; ``self.sample_rate`` is the one that is stored.
        total_samples: number of samples to come, where it is known: a wav header then tells it.
            Otherwise it says "open end", which players read to the end.

    Raises:
        ValueError: a format that cannot be streamed.
    """

    def __init__(self, format: str, sample_rate: int, total_samples: int | None = None) -> None:
        self.format = format_named(format)
        if self.format.name not in STREAM_FORMATS:
            raise ValueError(f"{format!r} cannot be streamed; there are {', '.join(STREAM_FORMATS)}")
        self.sample_rate = self.format.rate_for(sample_rate)
        self._sink = _Sink()
        self._writer = self._start(sample_rate, total_samples)

    def push(self, samples: np.ndarray) -> bytes:
        """Take float32 ``[n]`` and return the bytes that are ready, maybe none."""
        self._writer.write(np.ascontiguousarray(samples, dtype=np.float32))
        return self._sink.take()

    def finish(self) -> bytes:
        """The last bytes."""
        self._writer.close()
        return self._sink.take()

    def _start(self, sample_rate: int, total_samples: int | None) -> _Writer:
        if self.format.encoder:
            return _AvWriter(self._sink, self.format, self.sample_rate, source_rate=sample_rate)
        if self.format.name == "wav":
            self._sink.write(wav_header(sample_rate, total_samples))
        return _PcmWriter(self._sink)


def wav_header(sample_rate: int, total_samples: int | None) -> bytes:
    """44 bytes that begin a mono 16-bit wav file; None leaves its length open."""
    data = _OPEN_SIZE if total_samples is None else 2 * total_samples
    riff = _OPEN_SIZE if total_samples is None else 36 + data
    return struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", min(riff, _OPEN_SIZE), b"WAVE"),
        *(b"fmt ", 16, 1, 1, sample_rate, 2 * sample_rate, 2, 16),
        *(b"data", min(data, _OPEN_SIZE)),
    )


class _Writer(Protocol):
    def write(self, samples: np.ndarray) -> None: ...

    def close(self) -> None: ...


class _Sink:
    """Where an encoder writes and a stream takes from; it cannot seek, so nothing is patched later."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


class _PcmWriter:
    def __init__(self, sink: _Sink) -> None:
        self._sink = sink

    def write(self, samples: np.ndarray) -> None:
        self._sink.write(_pcm16(samples))

    def close(self) -> None:
        pass


class _AvWriter:
    """FFmpeg behind a file object."""

    def __init__(
        self, sink: Any, kind: AudioFormat, sample_rate: int, source_rate: int | None = None
    ) -> None:
        assert kind.encoder is not None
        container, encoder = kind.encoder
        streaming = not isinstance(sink, io.BytesIO)
        options = _STREAM_OPTIONS.get(container, {}) if streaming else {}
        self._container = _open_output(sink, container, options)
        self._stream = self._container.add_stream(encoder, rate=sample_rate, layout="mono")
        if encoder in _BIT_RATES:
            self._stream.bit_rate = _BIT_RATES[encoder]
        self._rate = source_rate or sample_rate
        self._written = 0

    def write(self, samples: np.ndarray) -> None:
        import av

        samples = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
        for start in range(0, len(samples), _BLOCK):
            block = samples[start : start + _BLOCK]
            frame = av.AudioFrame.from_ndarray(block[None], format="fltp", layout="mono")
            frame.sample_rate = self._rate
            frame.pts = self._written
            self._written += len(block)
            self._container.mux(self._stream.encode(frame))

    def close(self) -> None:
        self._container.mux(self._stream.encode(None))
        self._container.close()


def _open_output(sink: Any, container: str, options: dict[str, str]) -> Any:
    # Slow to import, and most projects are wav.
    import av

    return av.open(sink, "w", format=container, options=options)


def _encode_soundfile(samples: np.ndarray, sample_rate: int, coder: tuple[str, str]) -> bytes:
    sink = io.BytesIO()
    container, subtype = coder
    best = {"bitrate_mode": "VARIABLE", "compression_level": 0.0} if container == "MP3" else {}
    with soundfile.SoundFile(
        sink, "w", samplerate=sample_rate, channels=1, format=container, subtype=subtype, **best
    ) as file:
        # The Vorbis encoder recurses over what one call brings: small calls keep its stack flat.
        for start in range(0, len(samples), _BLOCK):
            file.write(samples[start : start + _BLOCK])
    return sink.getvalue()


def _pcm16(samples: np.ndarray) -> bytes:
    clipped = np.clip(np.nan_to_num(samples, nan=0.0), -1.0, 1.0)
    whole: np.ndarray = np.round(clipped * 32767).astype("<i2")
    return whole.tobytes()
