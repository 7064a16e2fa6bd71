"""A second copy of a project, with takes and dictionary; the voices are the shelf's and are shared."""

from __future__ import annotations

import os
import shutil
import sqlite3
import uuid
from pathlib import Path

from ui import projects, takes
from ui.projects import Project
from ui.store import Store

LINE_COLUMNS = "id, position, version, fields, recipe, ticked, note, state, reason, deleted, slot"
TAKE_COLUMNS = (
    "line, number, file, seconds, sample_rate, seed, ended, model, starred, fields, recipe, detail, warnings,"
    " peaks, created"
)


def duplicate(store: Store, token: str) -> Project:
    """Copy a project under a name of its own; a run that goes on stays with the original.

    Raises:
        UnknownProject: no such project.
        StorageError: a take's file could not be copied; no copy is left.
    """
    with store.transaction() as db:
        source = projects.get(db, token)
        copy = projects.create(store, f"{source.name} (copy)", source.shelf, source.settings)
        db.execute(
            f"""INSERT INTO lines (project, {LINE_COLUMNS}, revision)
                SELECT ?, {LINE_COLUMNS}, 1 FROM lines WHERE project = ? AND deleted IS NULL""",
            (copy.token, token),
        )
        db.execute(
            """UPDATE lines SET state = NULL, reason = NULL
               WHERE project = ? AND state IN ('queued', 'running')""",
            (copy.token,),
        )
        db.execute(
            """INSERT INTO words SELECT ?, language, word, say, match_case FROM words WHERE project = ?""",
            (copy.token, token),
        )
        _copy_takes(store, db, token, copy.token)
        return copy


def _copy_takes(store: Store, db: sqlite3.Connection, source: str, target: str) -> None:
    rows = db.execute(
        """SELECT takes.id, takes.file FROM takes JOIN lines
             ON lines.project = takes.project AND lines.id = takes.line
           WHERE takes.project = ? AND takes.deleted IS NULL AND lines.deleted IS NULL""",
        (source,),
    ).fetchall()
    for row in rows:
        take_id = uuid.uuid4().hex
        file = f"{take_id}{Path(row['file']).suffix}"
        same_file(takes.folder(store, source) / row["file"], takes.folder(store, target) / file)
        db.execute(
            f"""INSERT INTO takes (id, project, {TAKE_COLUMNS})
                SELECT ?, ?, {TAKE_COLUMNS.replace("file", "?", 1)} FROM takes WHERE id = ?""",
            (take_id, target, file, row["id"]),
        )


def same_file(source: Path, target: Path) -> None:
    """A take's file never changes, so a second name for it is enough where the disk can do that."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
