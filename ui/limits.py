"""What one visitor may do; each limit is an environment variable, tight on a public Space."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Rows of a project, characters of a row, bytes of an upload, lines of a visitor in the queue."""

    rows: int = 5000
    characters: int = 20_000
    upload_bytes: int = 200 * 2**20
    queued: int = 5000

    @classmethod
    def from_environment(cls) -> Limits:
        """``ZONOS_MAX_ROWS``, ``ZONOS_MAX_CHARACTERS``, ``ZONOS_MAX_UPLOAD_MB``, ``ZONOS_MAX_QUEUED``."""
        usual = cls(rows=300, characters=2000, upload_bytes=20 * 2**20, queued=60) if on_space() else cls()
        return cls(
            rows=_number("ZONOS_MAX_ROWS", usual.rows),
            characters=_number("ZONOS_MAX_CHARACTERS", usual.characters),
            upload_bytes=_number("ZONOS_MAX_UPLOAD_MB", usual.upload_bytes // 2**20) * 2**20,
            queued=_number("ZONOS_MAX_QUEUED", usual.queued),
        )


def on_space() -> bool:
    """Whether this process is a Hugging Face Space."""
    return bool(os.environ.get("SPACE_ID"))


def _number(name: str, usual: int) -> int:
    given = os.environ.get(name, "").strip()
    if not given:
        return usual
    if not (given.isascii() and given.isdigit()) or int(given) < 1:
        raise SystemExit(f"{name} is {given!r}; it must be a whole number of at least 1.")
    return int(given)
