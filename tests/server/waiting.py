"""Waiting for a state, with a deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

DEADLINE = 60.0
_NEVER = threading.Event()


def until(true: Callable[[], object], what: str) -> None:
    """Return when it is so; fail when it takes too long."""
    end = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < end, f"waited in vain: {what}"
        _NEVER.wait(0.01)
