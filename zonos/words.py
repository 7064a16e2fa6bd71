"""Small words of sentences for people."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``: nouns that take an s."""
    return f"{number} {noun}{'s' * (number != 1)}"


def duration(seconds: float) -> str:
    """``40 s``, ``12 min``, ``1 h 5 min``: as exact as an estimate is."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
