"""The batched Zonos generator: lines in, speech out."""

from __future__ import annotations

from zonos.line import Emotion, Line, Sampling

__all__ = ["Emotion", "Line", "Sampling"]
