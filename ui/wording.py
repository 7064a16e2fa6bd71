"""Words that change with a number."""

from __future__ import annotations


def counted(n: int, one: str, many: str = "") -> str:
    """``1 line``, ``2 lines``; ``many`` where an s is not enough."""
    return f"{n} {one if n == 1 else many or one + 's'}"
