"""Sampler settings of a row, as the host knows them; no torch is needed to decide them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class SamplerUse:
    """What the live rows need: known to the host, so that a step does no work nobody asked for.

    A row whose own setting is off gets the same bits whether or not a neighbour's is on.
    """

    unified: bool = True
    top_p: bool = True
    top_k: bool = True
    min_p: bool = True
    window: int = 0  # longest repetition window among the live rows
    greedy: bool = True  # any row at temperature 0
    drawn: bool = True  # any row above


@dataclass(frozen=True)
class SamplerSettings:
    """Sampling of one row, every value decided."""

    cfg_scale: float
    temperature: float
    top_p: float
    top_k: int
    min_p: float
    linear: float
    conf: float
    quad: float
    repetition_penalty: float
    repetition_window: int

    @staticmethod
    def use(rows: Sequence[SamplerSettings]) -> SamplerUse:
        """What the sampler must do for these rows."""
        windows = [r.repetition_window for r in rows if r.repetition_penalty != 1]
        return SamplerUse(
            unified=any(r.linear > 0 for r in rows),
            top_p=any(r.top_p > 0 for r in rows),
            top_k=any(r.top_k > 0 for r in rows),
            min_p=any(r.min_p > 0 for r in rows),
            window=max(windows, default=0),
            greedy=any(r.temperature <= 0 for r in rows),
            drawn=any(r.temperature > 0 for r in rows),
        )
