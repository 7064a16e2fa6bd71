"""What nobody needs any more leaves the disk: deleted things after a month, files without a row.

Only the process that owns the data folder cleans up, once, when it starts.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterable
from pathlib import Path

from ui.limits import on_space
from ui.store import Store

DAY = 86_400.0
KEEP_DELETED_DAYS = 30
# A public Space keeps what nobody has opened for this long.
KEEP_UNOPENED_DAYS = 14


def clean(store: Store, now: float | None = None) -> None:
    """Remove what was deleted long ago, and audio that no row names."""
    now = time.time() if now is None else now
    with store.transaction() as db:
        before = (now - KEEP_DELETED_DAYS * DAY,)
        for table in ("takes", "lines", "projects"):
            db.execute(f"DELETE FROM {table} WHERE deleted IS NOT NULL AND deleted < ?", before)
        if on_space():
            db.execute("DELETE FROM projects WHERE opened < ?", (now - KEEP_UNOPENED_DAYS * DAY,))
        db.execute("DELETE FROM shelves WHERE id NOT IN (SELECT shelf FROM projects)")
        takes = _named(db, "SELECT project || '/' || file FROM takes")
        projects = _named(db, "SELECT token FROM projects")
        clips = _named(db, "SELECT file FROM clips")
    for folder in store.takes.iterdir():
        if folder.name not in projects:
            shutil.rmtree(folder, ignore_errors=True)
            continue
        _remove(file for file in folder.iterdir() if f"{folder.name}/{file.name}" not in takes)
    _remove(file for file in store.clips.iterdir() if file.name not in clips)


def _named(db: sqlite3.Connection, query: str) -> set[str]:
    return {row[0] for row in db.execute(query)}


def _remove(files: Iterable[Path]) -> None:
    for file in files:
        file.unlink(missing_ok=True)
