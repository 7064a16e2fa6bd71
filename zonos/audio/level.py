"""Levels of sound: by the frame in dBFS, as a whole in LUFS.

dBFS here: 0 is a full-scale square wave.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

SILENCE_DBFS = -70.0
FLOOR_DBFS = -120.0
FRAME_SECONDS = 0.02
_ACTIVE_RANGE_DB = 35.0  # frames this far below the loud ones still count as sound
_LOUDNESS_BLOCK = 0.4  # seconds, the gating block of BS.1770


def decibels(amplitude: float) -> float:
    """dBFS of an amplitude, not below the floor of -120."""
    return max(FLOOR_DBFS, 20.0 * float(np.log10(max(amplitude, 1e-12))))


def frame_levels(mono: np.ndarray, sample_rate: int) -> np.ndarray:
    """RMS in dBFS of each 20 ms of ``[n]`` samples; a last part that is shorter counts as one."""
    size = max(1, round(FRAME_SECONDS * sample_rate))
    frames = -(-len(mono) // size)
    padded = np.zeros(frames * size, dtype=np.float64)
    padded[: len(mono)] = mono
    power = np.square(padded).reshape(frames, size).mean(axis=1)
    levels: np.ndarray = 10.0 * np.log10(np.maximum(power, 10.0 ** (FLOOR_DBFS / 10)))
    return levels


def active_frames(levels: np.ndarray) -> np.ndarray:
    """Which frames sound: within 35 dB of the loud ones and above silence."""
    if len(levels) == 0:
        return np.zeros(0, dtype=bool)
    loud = float(np.percentile(levels, 95))
    # Of a short sound in a long silence the 95th percentile knows nothing.
    loud = loud if loud > SILENCE_DBFS else float(levels.max())
    active: np.ndarray = levels > max(SILENCE_DBFS, loud - _ACTIVE_RANGE_DB)
    return active


def loudness(samples: np.ndarray, sample_rate: int) -> float:
    """Integrated loudness in LUFS (ITU-R BS.1770 by pyloudnorm), -inf for silence.

    A sound shorter than one gating block is measured as if it went on.
    """
    # scipy.signal behind it takes a while to import.
    import pyloudnorm

    if not np.any(samples):
        return -math.inf
    shortest = math.ceil(_LOUDNESS_BLOCK * sample_rate) + 1
    if len(samples) < shortest:
        samples = np.tile(samples, -(-shortest // len(samples)))
    with np.errstate(divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = float(pyloudnorm.Meter(sample_rate).integrated_loudness(samples.astype(np.float64)))
    return value if math.isfinite(value) else -math.inf
