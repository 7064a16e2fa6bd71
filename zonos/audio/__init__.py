"""Sound in and out: clips of any kind, loudness, trimming, joining, file formats."""

from __future__ import annotations

from zonos.audio.edit import fade, join, limit, normalise_loudness, trim_silence, true_peak
from zonos.audio.level import loudness
from zonos.audio.read import Clip, read_bytes, read_clip
from zonos.audio.report import ClipReport, report
from zonos.audio.resample import resample
from zonos.audio.write import (
    FORMATS,
    STREAM_FORMATS,
    AudioFormat,
    NotWrittenError,
    StreamEncoder,
    atomic_file,
    encode_audio,
    format_named,
    write_audio,
)

__all__ = [
    "FORMATS",
    "STREAM_FORMATS",
    "AudioFormat",
    "Clip",
    "ClipReport",
    "NotWrittenError",
    "StreamEncoder",
    "atomic_file",
    "encode_audio",
    "fade",
    "format_named",
    "join",
    "limit",
    "loudness",
    "normalise_loudness",
    "read_bytes",
    "read_clip",
    "report",
    "resample",
    "trim_silence",
    "true_peak",
    "write_audio",
]
