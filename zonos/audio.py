"""Sound in and out: clips of any kind, loudness, trimming, joining, file formats."""

from __future__ import annotations

from zonos.audio_edit import fade, join, limit, normalise_loudness, trim_silence, true_peak
from zonos.audio_level import loudness
from zonos.audio_read import Clip, read_bytes, read_clip
from zonos.audio_report import ClipReport, report
from zonos.audio_write import (
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
from zonos.resample import resample

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
