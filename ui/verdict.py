"""What can be heard of a finished take without understanding it: silence, clipping, a wrong length."""

from __future__ import annotations

import numpy as np

SILENT_DBFS = -50.0
CLIPPED_SHARE = 0.001
TOO_LONG, TOO_SHORT = 2.2, 0.4  # times the expected length
SLACK_SECONDS = 1.0  # short lines vary by more than a factor


def faults(samples: np.ndarray, sample_rate: int, expected: float) -> tuple[str, ...]:
    """Sentences on a take that a producer should listen to; none for a sound one.

    Args:
        samples: float32 ``[n]``.
        sample_rate: of the samples.
        expected: seconds that the line was expected to take; 0 when nothing is known.
    """
    from zonos.audio.level import decibels
    from zonos.audio.report import clipped_share

    found = []
    peak = float(np.abs(samples).max(initial=0.0))
    if peak == 0.0 or decibels(peak) < SILENT_DBFS:
        found.append("This take is silent; make another one.")
    elif clipped_share(samples[None, :]) > CLIPPED_SHARE:
        found.append("This take is clipped; make another one.")
    seconds = len(samples) / sample_rate
    if expected and seconds > TOO_LONG * expected + SLACK_SECONDS:
        found.append(f"Far too long for its text: {seconds:.1f} s, about {expected:.1f} s expected.")
    if expected and seconds < TOO_SHORT * expected - SLACK_SECONDS / 2:
        found.append(f"Far too short for its text: {seconds:.1f} s, about {expected:.1f} s expected.")
    return tuple(found)
