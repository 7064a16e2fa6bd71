"""People of the page as clients of the HTTP API beside it: a key opens the voices of their shelf there.

Without the key nobody sees them. It is derived from the shelf's own secret, which never leaves the
server: the key opens voices only, no project, and stays the same for all projects of a person.
"""

from __future__ import annotations

import hashlib
import hmac
import sqlite3
from pathlib import Path

from ui import library
from ui.store import Store

KEY_START = "studio-"
OWNER_START = "studio "


def api_key(shelf: str) -> str:
    """What a person of this shelf sends as ``Authorization: Bearer …``."""
    digest = hashlib.sha256(f"zonos studio, HTTP API, {shelf}".encode()).hexdigest()
    return KEY_START + digest[:40]


class ShelfGuests:
    """See :class:`zonos.api.guests.Guests`."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def owner(self, key: str) -> str | None:
        """The shelf of a key, as an owner's name."""
        if not key.startswith(KEY_START):
            return None
        with self.store.transaction() as db:
            shelves = [str(row[0]) for row in db.execute("SELECT id FROM shelves")]
        given = key.encode()
        found = [shelf for shelf in shelves if hmac.compare_digest(api_key(shelf).encode(), given)]
        return OWNER_START + found[0] if found else None

    def names(self, owner: str) -> list[str]:
        """Voices on the owner's shelf."""
        with self.store.transaction() as db:
            return library.names(db, _shelf(owner))

    def clips(self, owner: str, name: str) -> list[Path] | None:
        """Clips of a voice on the owner's shelf."""
        with self.store.transaction() as db:
            rows: list[sqlite3.Row] = library.clips(db, _shelf(owner), name)
        return [self.store.clips / row["file"] for row in rows] or None


def _shelf(owner: str) -> str:
    """Empty, which is no shelf, for owners of another kind."""
    return owner.removeprefix(OWNER_START) if owner.startswith(OWNER_START) else ""
