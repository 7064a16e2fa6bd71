"""Clients that another program on the same engine knows, such as the studio page: by a key of theirs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


class Guests(Protocol):
    """Who they are, and the voices that each of them has there; nobody sees another one's."""

    def owner(self, key: str) -> str | None:
        """A name for whoever has this key, the same each time; None for a key that is not known."""
        ...

    def names(self, owner: str) -> list[str]:
        """Voices of a guest; none for somebody who is no guest."""
        ...

    def clips(self, owner: str, name: str) -> list[Path] | None:
        """Clips of a guest's voice; None where there is no such voice, or no such guest."""
        ...
