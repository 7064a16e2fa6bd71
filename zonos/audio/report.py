"""What a clip is like, in numbers and in words: length, level, noise, clipping."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from zonos.audio.level import FLOOR_DBFS, FRAME_SECONDS, active_frames, decibels, frame_levels, loudness
from zonos.audio.read import Clip

# Where advice begins.
_SHORT_SECONDS, _GOOD_SECONDS, _LONG_SECONDS = 3.0, 5.0, 60.0
_QUIET_DBFS = -35.0
_NOISY_DB, _HISSING_DB = 15.0, 25.0
_CLIPPED_SHARE = 0.0005
_NARROW_RATE = 16_000


@dataclass(frozen=True, slots=True)
class ClipReport:
    """Numbers of a clip and advice for people.

    Attributes:
        seconds: length.
        sound_seconds: how much of it is sound, pauses left out.
        sample_rate: samples per second.
        channels: 1 is mono.
        kind: container and coding.
        peak_dbfs: highest sample.
        level_dbfs: RMS of the sounding parts.
        loudness_lufs: integrated loudness after ITU-R BS.1770, -inf for silence.
        noise_dbfs: RMS of the quietest parts, an estimate of the noise floor.
        snr_db: level over noise, an estimate that speech without pauses makes too low.
        clipped_share: share of samples on flat tops.
        advice: sentences on what to do better, empty for a good clip.
    """

    seconds: float
    sound_seconds: float
    sample_rate: int
    channels: int
    kind: str
    peak_dbfs: float
    level_dbfs: float
    loudness_lufs: float
    noise_dbfs: float
    snr_db: float
    clipped_share: float
    advice: tuple[str, ...]


def report(clip: Clip) -> ClipReport:
    """Measure a clip; see :class:`ClipReport`."""
    mono = clip.mono
    levels = frame_levels(mono, clip.sample_rate)
    active = active_frames(levels)
    level = _mean_level(levels[active])
    noise = float(np.percentile(levels, 10)) if len(levels) else FLOOR_DBFS
    numbers = ClipReport(
        seconds=clip.seconds,
        sound_seconds=float(active.sum() * FRAME_SECONDS),
        sample_rate=clip.sample_rate,
        channels=clip.samples.shape[0],
        kind=clip.kind,
        peak_dbfs=decibels(float(np.abs(clip.samples).max(initial=0.0))),
        level_dbfs=level,
        loudness_lufs=loudness(mono, clip.sample_rate),
        noise_dbfs=noise,
        snr_db=max(0.0, level - noise),
        clipped_share=clipped_share(clip.samples),
        advice=(),
    )
    return replace(numbers, advice=(*clip.warnings, *_advice(numbers)))


def clipped_share(samples: np.ndarray) -> float:
    """Share of samples that lie on flat tops: three or more in a row at the peak, on one side."""
    peak = float(np.abs(samples).max(initial=0.0))
    if peak < 0.5:
        return 0.0
    edge = peak * (1 - 2.0**-12)
    clipped = 0
    for side in (samples >= edge, samples <= -edge):
        run = side[:, :-2] & side[:, 1:-1] & side[:, 2:]
        on_top = np.zeros_like(side)
        for shift in range(3):
            on_top[:, shift : side.shape[1] - 2 + shift] |= run
        clipped += int(on_top.sum())
    return clipped / samples.size


def _mean_level(levels: np.ndarray) -> float:
    if len(levels) == 0:
        return FLOOR_DBFS
    return 10.0 * float(np.log10(np.power(10.0, levels / 10).mean()))


def _advice(r: ClipReport) -> list[str]:
    if r.sound_seconds == 0:
        return ["The clip is silent; record it again."]
    return [*_length_advice(r), *_level_advice(r), *_noise_advice(r)]


def _length_advice(r: ClipReport) -> list[str]:
    if r.sound_seconds < _SHORT_SECONDS:
        return [f"Only {r.sound_seconds:.1f} s of speech; 10 to 30 s make a steadier voice."]
    if r.sound_seconds < _GOOD_SECONDS:
        return [f"{r.sound_seconds:.1f} s of speech will do; 10 to 30 s are better."]
    if r.seconds > _LONG_SECONDS:
        return [f"Only the first {_LONG_SECONDS:.0f} s are heard; choose the best part."]
    return []


def _level_advice(r: ClipReport) -> list[str]:
    advice = []
    if r.clipped_share > _CLIPPED_SHARE:
        advice.append(f"{r.clipped_share:.1%} of it is clipped; record at a lower level.")
    if r.level_dbfs < _QUIET_DBFS:
        advice.append(f"It is very quiet ({r.level_dbfs:.0f} dBFS); record closer or louder.")
    return advice


def _noise_advice(r: ClipReport) -> list[str]:
    advice = []
    if r.snr_db < _NOISY_DB:
        advice.append(f"Noise or music is strong (speech {r.snr_db:.0f} dB above it); use a cleaner take.")
    elif r.snr_db < _HISSING_DB:
        advice.append(f"Some noise is heard (speech {r.snr_db:.0f} dB above it); a quieter room helps.")
    if r.sample_rate < _NARROW_RATE:
        advice.append(f"{r.sample_rate} Hz is telephone quality; use a clip of 16 kHz or more.")
    return advice
