"""Voices: a name leads to clips, which are copied in and named by their content.

A producer's own file may be replaced or removed; the voice stays what it was when it was given.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ui import projects, recipes
from ui.store import Store
from ui.voice_names import stored_name
from zonos.errors import LineError
from zonos.voices import CLIP_SUFFIXES

MAX_NAME = 60
MAX_CLIP_BYTES = 50 * 2**20


class VoiceError(Exception):
    """A voice or clip is refused; the message is a sentence for the page."""


@dataclass(frozen=True, slots=True)
class Clip:
    """A recording that waits in the scratch folder to become part of a voice."""

    path: Path
    title: str
    report: dict[str, Any]


class ShelfVoices:
    """The engine's way to the voices of one shelf (see :class:`zonos.voices.VoiceSource`)."""

    def __init__(self, store: Store, shelf: str) -> None:
        self.store = store
        self.shelf = shelf

    def clips(self, name: str) -> list[Path]:
        """Clips by the voice's name; never a path."""
        with self.store.transaction() as db:
            rows = clips(db, self.shelf, name)
            known = names(db, self.shelf)
        if not rows:
            there = ", ".join(known) or "none yet"
            raise LineError("unknown_voice", f"There is no voice {name!r} here; pick one of: {there}.")
        return [self.store.clips / row["file"] for row in rows]


def names(db: sqlite3.Connection, shelf: str) -> list[str]:
    """All voices of a shelf, the producer's own first."""
    rows = db.execute("SELECT name FROM voices WHERE shelf = ? ORDER BY sample, name", (shelf,))
    return [row[0] for row in rows]


def described(db: sqlite3.Connection, shelf: str) -> list[dict[str, Any]]:
    """Voices with their clips, as the page gets them."""
    found = []
    for voice in db.execute("SELECT * FROM voices WHERE shelf = ? ORDER BY sample, name", (shelf,)):
        its_clips = [
            {"hash": clip["hash"], "title": clip["title"], **json.loads(clip["report"])}
            for clip in clips(db, shelf, voice["name"])
        ]
        found.append(
            {
                "name": voice["name"],
                "consent": bool(voice["consent"]),
                "sample": bool(voice["sample"]),
                "clips": its_clips,
            }
        )
    return found


def clip_file(db: sqlite3.Connection, shelf: str, content: str) -> str | None:
    """The stored file of a clip, if it belongs to this shelf."""
    row = db.execute("SELECT file FROM clips WHERE shelf = ? AND hash = ?", (shelf, content)).fetchone()
    return str(row[0]) if row else None


def clips(db: sqlite3.Connection, shelf: str, name: str) -> list[sqlite3.Row]:
    """Clips of a voice in the order in which they came; none for an unknown voice."""
    return db.execute(
        "SELECT * FROM clips WHERE shelf = ? AND voice = ? ORDER BY created, hash",
        (shelf, stored_name(db, shelf, name)),
    ).fetchall()


def add(
    store: Store,
    shelf: str,
    name: str,
    recordings: Iterable[Clip],
    *,
    consent: bool,
    sample: bool = False,
    replace: bool = False,
) -> str:
    """Make a voice, or give an existing one more clips (other clips with ``replace``).

    Returns:
        The name under which it can be picked.

    Raises:
        VoiceError: no usable name.
    """
    name = voice_name(name)
    files = [(_keep(store, clip), clip) for clip in recordings]
    with store.transaction() as db:
        name = stored_name(db, shelf, name) or name
        db.execute(
            """INSERT INTO voices (shelf, name, consent, sample, created) VALUES (?, ?, ?, ?, ?)
               ON CONFLICT (shelf, name) DO UPDATE SET consent = excluded.consent""",
            (shelf, name, int(consent), int(sample), time.time()),
        )
        if replace:
            db.execute("DELETE FROM clips WHERE shelf = ? AND voice = ?", (shelf, name))
        for (content, file), clip in files:
            db.execute(
                """INSERT OR IGNORE INTO clips (shelf, voice, hash, file, title, report, created)
                   VALUES (?, ?, ?, ?, ?, ?, ?)""",
                (shelf, name, content, file, clip.title, json.dumps(clip.report), time.time()),
            )
        changed(db, shelf)
    return name


def remove(store: Store, shelf: str, name: str) -> None:
    """Removed means removed: lines that use the voice fail with a sentence until they get another."""
    with store.transaction() as db:
        stored = stored_name(db, shelf, name)
        db.execute("DELETE FROM voices WHERE shelf = ? AND name = ?", (shelf, stored))
        changed(db, shelf)


def remove_clip(db: sqlite3.Connection, shelf: str, name: str, content: str) -> None:
    """Take one clip out of a voice of several.

    Raises:
        VoiceError: it is the last one.
    """
    if len(clips(db, shelf, name)) < 2:
        raise VoiceError("This is the only clip of the voice; remove the voice instead.")
    stored = stored_name(db, shelf, name)
    db.execute("DELETE FROM clips WHERE shelf = ? AND voice = ? AND hash = ?", (shelf, stored, content))
    changed(db, shelf)


def rename(db: sqlite3.Connection, shelf: str, name: str, new_name: str) -> str:
    """Give a voice another name; the lines that use it follow.

    Raises:
        VoiceError: no such voice, no usable name, or the name is taken.
    """
    new_name = voice_name(new_name)
    stored = stored_name(db, shelf, name)
    if stored is None:
        raise VoiceError(f"There is no voice {name!r} (any more).")
    if new_name.casefold() in {known.casefold() for known in names(db, shelf) if known != stored}:
        raise VoiceError(f"There is a voice {new_name!r} already; choose another name.")
    # While the old name still leads somewhere: it tells which lines mean this voice.
    for (token,) in db.execute("SELECT token FROM projects WHERE shelf = ?", (shelf,)).fetchall():
        recipes.rename_voice(db, token, shelf, stored, new_name)
    query = "UPDATE voices SET name = ?, sample = 0 WHERE shelf = ? AND name = ?"
    db.execute(query, (new_name, shelf, stored))
    changed(db, shelf)
    return new_name


def free_name(db: sqlite3.Connection, shelf: str, wanted: str) -> str:
    """``wanted``, with a number behind it when that name is taken; shortened until both fit."""
    name, number = voice_name(wanted), 1
    taken = {known.casefold() for known in names(db, shelf)}
    candidate = name
    while candidate.casefold() in taken:
        number += 1
        ending = f" {number}"
        candidate = name[: MAX_NAME - len(ending)].rstrip() + ending
    return candidate


def voice_name(name: str) -> str:
    """One line of at most 60 characters.

    Raises:
        VoiceError: nothing is left.
    """
    clean = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:MAX_NAME].strip()
    if not clean:
        raise VoiceError("Give the voice a name first.")
    return clean


def changed(db: sqlite3.Connection, shelf: str) -> None:
    """Tell the shelf's projects; lines spoken with the old clips become "changed since"."""
    tokens = db.execute("SELECT token FROM projects WHERE shelf = ?", (shelf,)).fetchall()
    for (token,) in tokens:
        revision = projects.bump_about(db, token)
        if project := projects.find(db, token):
            recipes.refresh(db, project, revision)


def safe_suffix(title: str) -> str:
    """A known suffix of a browser's file name; what the file is, its content decides."""
    suffix = Path(title).suffix.lower()
    return suffix if suffix in CLIP_SUFFIXES else ".bin"


def _keep(store: Store, clip: Clip) -> tuple[str, str]:
    """Copy a clip in under the hash of its content; gives hash and file name."""
    content = hashlib.sha256(clip.path.read_bytes()).hexdigest()
    file = f"{content[:32]}{clip.path.suffix.lower()}"
    target = store.clips / file
    if not target.exists():
        part = store.scratch / f"{uuid.uuid4().hex}.part"
        try:
            shutil.copyfile(clip.path, part)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    return content[:32], file
