"""Small words of sentences for people."""

from __future__ import annotations


def count(number: int, noun: str) -> str:
    """``1 line``, ``2 lines``: nouns that take an s."""
    return f"{number} {noun}{'s' * (number != 1)}"
