"""One short clip in every container and coding that people hand in, made in memory."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

import av
import numpy as np
import soundfile

RATE = 48_000
SECONDS = 0.5
TONE = 440.0
LEVEL = 0.25


def tone(rate: int = RATE, seconds: float = SECONDS, level: float = LEVEL) -> np.ndarray:
    """A sine of 440 Hz, float32 [n]."""
    t = np.arange(round(rate * seconds)) / rate
    return (level * np.sin(2 * np.pi * TONE * t)).astype(np.float32)


def by_soundfile(container: str, subtype: str, rate: int = RATE, channels: int = 1) -> bytes:
    sink = io.BytesIO()
    soundfile.write(sink, np.tile(tone(rate)[:, None], channels), rate, format=container, subtype=subtype)
    return sink.getvalue()


def by_av(
    container: str,
    encoder: str,
    rate: int = RATE,
    *,
    video: bool = False,
    sound: bool = True,
) -> bytes:
    sink = io.BytesIO()
    with av.open(sink, "w", format=container) as output:
        picture = _video(output) if video else None
        stream = output.add_stream(encoder, rate=rate, layout="mono") if sound else None
        if picture is not None:
            for _ in range(12):
                frame = av.VideoFrame.from_ndarray(np.full((64, 64, 3), 90, np.uint8), format="rgb24")
                output.mux(picture.encode(frame))
            output.mux(picture.encode(None))
        if stream is not None:
            if encoder == "wmav2":
                stream.bit_rate = 64_000
            frame = av.AudioFrame.from_ndarray(tone(rate)[None], format="fltp", layout="mono")
            frame.sample_rate = rate
            output.mux(stream.encode(frame))
            output.mux(stream.encode(None))
    return sink.getvalue()


def index_first() -> bytes:
    """An m4a as web sites make it, which FFmpeg can only do by opening the file a second time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clip.m4a")
        with av.open(str(path), "w", format="ipod", options={"movflags": "faststart"}) as output:
            stream = output.add_stream("aac", rate=RATE, layout="mono")
            frame = av.AudioFrame.from_ndarray(tone()[None], format="fltp", layout="mono")
            frame.sample_rate = RATE
            output.mux(stream.encode(frame))
            output.mux(stream.encode(None))
        return path.read_bytes()


def _video(output: av.container.OutputContainer) -> av.VideoStream:
    stream = output.add_stream("mpeg4", rate=24)
    stream.width = stream.height = 64
    stream.pix_fmt = "yuv420p"
    return stream


KINDS: dict[str, Callable[[], bytes]] = {
    "wav 8 bit unsigned": lambda: by_soundfile("WAV", "PCM_U8"),
    "wav 16 bit": lambda: by_soundfile("WAV", "PCM_16"),
    "wav 24 bit": lambda: by_soundfile("WAV", "PCM_24"),
    "wav 32 bit": lambda: by_soundfile("WAV", "PCM_32"),
    "wav float32": lambda: by_soundfile("WAV", "FLOAT"),
    "wav float64": lambda: by_soundfile("WAV", "DOUBLE"),
    "wav a-law": lambda: by_soundfile("WAV", "ALAW", 8000),
    "wav mu-law": lambda: by_soundfile("WAV", "ULAW", 8000),
    "wav ms adpcm": lambda: by_soundfile("WAV", "MS_ADPCM", 22050),
    "wav 96 kHz": lambda: by_soundfile("WAV", "PCM_24", 96_000),
    "wav 192 kHz": lambda: by_soundfile("WAV", "PCM_24", 192_000),
    "wav 44056 Hz": lambda: by_soundfile("WAV", "PCM_16", 44_056),
    "wav stereo": lambda: by_soundfile("WAV", "PCM_16", 44_100, channels=2),
    "wav six channels": lambda: by_soundfile("WAVEX", "PCM_16", channels=6),
    "wave format extensible 16": lambda: by_soundfile("WAVEX", "PCM_16", 44_100),
    "wave format extensible 24": lambda: by_soundfile("WAVEX", "PCM_24"),
    "wave format extensible float": lambda: by_soundfile("WAVEX", "FLOAT"),
    "rf64": lambda: by_soundfile("RF64", "PCM_16"),
    "w64": lambda: by_soundfile("W64", "PCM_24"),
    "aiff": lambda: by_soundfile("AIFF", "PCM_16"),
    "caf": lambda: by_soundfile("CAF", "PCM_16"),
    "au": lambda: by_soundfile("AU", "PCM_16"),
    "flac": lambda: by_soundfile("FLAC", "PCM_16"),
    "flac 24 bit 96 kHz": lambda: by_soundfile("FLAC", "PCM_24", 96_000),
    "ogg vorbis": lambda: by_soundfile("OGG", "VORBIS"),
    "ogg opus": lambda: by_av("ogg", "libopus"),
    "mp3": lambda: by_soundfile("MP3", "MPEG_LAYER_III", 44_100),
    "mp3 by ffmpeg": lambda: by_av("mp3", "libmp3lame"),
    "mp3 24 kHz": lambda: by_av("mp3", "libmp3lame", 24_000),
    "m4a aac": lambda: by_av("ipod", "aac"),
    "m4a alac": lambda: by_av("ipod", "alac"),
    "aac adts": lambda: by_av("adts", "aac"),
    "webm opus": lambda: by_av("webm", "libopus"),
    "mka pcm": lambda: by_av("matroska", "pcm_s16le"),
    "wma": lambda: by_av("asf", "wmav2"),
    "ac3": lambda: by_av("ac3", "ac3"),
    "m4a index first": index_first,
    "mp4 with video": lambda: by_av("mp4", "aac", video=True),
    "mov with video": lambda: by_av("mov", "pcm_s16le", video=True),
    "mkv with video": lambda: by_av("matroska", "libopus", video=True),
    "avi with video": lambda: by_av("avi", "libmp3lame", video=True),
}


@cache
def kind(name: str) -> bytes:
    """Content of a clip of that kind."""
    return KINDS[name]()
