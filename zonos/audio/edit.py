"""Loudness, limiting, trimming, fades and joining of finished sound. Samples are float32 ``[n]``."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from zonos.audio.level import frame_levels, loudness
from zonos.audio.resample import resampler

_LIMITER_SECONDS = 0.005
_OVERSAMPLING = 4
_MOST_MATCHING_DB = 6.0
FADE_SECONDS = 0.008
QUIETEST_SPEECH_DB = 40.0  # below the loudest 20 ms


def normalise_loudness(
    samples: np.ndarray, sample_rate: int, target_lufs: float = -23.0, ceiling_dbtp: float = -1.0
) -> np.ndarray:
    """The sound at ``target_lufs``, its peaks between samples limited to ``ceiling_dbtp``.

    Silence is returned as it is.
    """
    now = loudness(samples, sample_rate)
    if not math.isfinite(now):
        return samples
    louder = samples * np.float32(_gain(target_lufs - now))
    return limit(louder, sample_rate, _gain(ceiling_dbtp), true_peak=True)


def true_peak(samples: np.ndarray) -> float:
    """Highest amplitude of ``[n]`` samples with what lies between them, by fourfold oversampling."""
    return float(_peaks(samples).max(initial=0.0))


def limit(
    samples: np.ndarray, sample_rate: int, ceiling: float = 1.0, *, true_peak: bool = False
) -> np.ndarray:
    """Look-ahead limiter: never above ``ceiling``, unchanged where nothing comes near it.

    The gain of a sample is the mean, over 5 ms, of the smallest gains needed within 5 ms: smooth,
    and never above what the sample itself needs. NaN and infinities become silence.

    Args:
        samples: float32 ``[n]``.
        sample_rate: their rate.
        ceiling: highest amplitude allowed.
        true_peak: count the peaks between samples too.
    """
    # scipy takes a while to import, and most sound needs no limiting.
    samples = np.nan_to_num(samples, nan=0.0, posinf=0.0, neginf=0.0)
    peaks = _peaks(samples) if true_peak else np.abs(samples)
    if float(peaks.max(initial=0.0)) <= ceiling:
        return samples
    from scipy.ndimage import minimum_filter1d, uniform_filter1d

    needed = np.minimum(1.0, ceiling / np.maximum(peaks.astype(np.float64), 1e-9))
    width = 2 * max(1, round(_LIMITER_SECONDS * sample_rate / 2)) + 1
    gain = uniform_filter1d(minimum_filter1d(needed, width, mode="nearest"), width, mode="nearest")
    # The mean may exceed the exact gain by a rounding error.
    limited: np.ndarray = np.clip(samples * gain, -ceiling, ceiling).astype(np.float32)
    return limited


def trim_silence(
    samples: np.ndarray,
    sample_rate: int,
    *,
    margin: float = 0.05,
    start: bool = True,
    end: bool = True,
    below_loudest_db: float = QUIETEST_SPEECH_DB,
) -> np.ndarray:
    """Without the silence at its ends.

    Args:
        samples: float32 ``[n]``; silence through and through is returned as it is.
        sample_rate: their rate.
        margin: seconds of it that stay, so that no soft onset or breath is cut.
        start: whether to trim the start.
        end: whether to trim the end.
        below_loudest_db: 20 ms are silent when they are this far below the loudest ones.
    """
    levels = frame_levels(samples, sample_rate)
    if len(levels) == 0 or not np.any(samples):
        return samples
    sounding = np.flatnonzero(levels > levels.max() - below_loudest_db)
    size = -(-len(samples) // len(levels))
    kept = round(margin * sample_rate)
    first = max(0, int(sounding[0]) * size - kept) if start else 0
    last = min(len(samples), (int(sounding[-1]) + 1) * size + kept) if end else len(samples)
    return samples[first:last]


def fade(
    samples: np.ndarray,
    sample_rate: int,
    seconds: float = FADE_SECONDS,
    *,
    start: bool = True,
    end: bool = True,
) -> np.ndarray:
    """A copy whose ends rise and fall over ``seconds`` as half a cosine, so that no click is heard."""
    faded = samples.astype(np.float32, copy=True)
    length = min(round(seconds * sample_rate), len(samples) // 2)
    if length == 0:
        return faded
    ramp = (0.5 - 0.5 * np.cos(np.pi * (np.arange(length) + 0.5) / length)).astype(np.float32)
    if start:
        faded[:length] *= ramp
    if end:
        faded[-length:] *= ramp[::-1]
    return faded


def join(pieces: Sequence[tuple[np.ndarray, float]], sample_rate: int, *, match: bool = True) -> np.ndarray:
    """Pieces one after the other.

    Args:
        pieces: samples ``[n]`` and the seconds of silence after them; the last one's count too.
        sample_rate: of all.
        match: bring pieces of one line to the same loudness (their mean over time, at most 6 dB each).

    Returns:
        float32 ``[n]``, ends faded at every seam.
    """
    gains = _matching_gains([samples for samples, _ in pieces], sample_rate) if match else [1.0] * len(pieces)
    parts: list[np.ndarray] = []
    for (samples, gap), gain in zip(pieces, gains, strict=True):
        parts.append(fade(samples, sample_rate) * np.float32(gain))
        parts.append(np.zeros(max(0, round(gap * sample_rate)), dtype=np.float32))
    joined = np.concatenate(parts) if parts else np.zeros(0, dtype=np.float32)
    return limit(joined, sample_rate)


def _matching_gains(pieces: list[np.ndarray], sample_rate: int) -> list[float]:
    levels = [loudness(samples, sample_rate) for samples in pieces]
    heard = [
        (level, len(samples)) for level, samples in zip(levels, pieces, strict=True) if level > -math.inf
    ]
    if len(heard) < 2:
        return [1.0] * len(pieces)
    target = float(np.average([level for level, _ in heard], weights=[length for _, length in heard]))
    return [
        _gain(float(np.clip(target - level, -_MOST_MATCHING_DB, _MOST_MATCHING_DB)))
        if level > -math.inf
        else 1.0
        for level in levels
    ]


def _gain(decibels: float) -> float:
    return float(10.0 ** (decibels / 20))


def _peaks(samples: np.ndarray) -> np.ndarray:
    """Highest amplitude at and right after each sample, ``[n]``."""
    if len(samples) == 0:
        return np.zeros(0, dtype=np.float32)
    import torch

    with torch.inference_mode():
        wav = torch.from_numpy(np.ascontiguousarray(samples, dtype=np.float32))
        between = resampler(1, _OVERSAMPLING)(wav[None])[0].abs()
        between = between[: len(wav) * _OVERSAMPLING].view(-1, _OVERSAMPLING).amax(dim=1)
        peaks: np.ndarray = torch.maximum(between, wav.abs()).numpy()
    return peaks
