"""Projects: who may open what, their names and settings, and the number of their last change."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ui.store import Store

MAX_NAME = 120


class UnknownProject(Exception):
    """No such project: the message says what to do."""

    def __init__(self) -> None:
        super().__init__("This project is not here (any more). Reload the page to start or open one.")


class Settings(BaseModel):
    """What a project remembers beside its lines."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(max_length=400)] = "mini"
    # Fields that a new row starts with, beyond text.
    new_row: dict[str, Any] = Field(default_factory=dict)

    @field_validator("new_row")
    @classmethod
    def _one_number_of_takes(cls, fields: dict[str, Any]) -> dict[str, Any]:
        """Earlier studios could store a line's list of takes there, which no new row takes."""
        return {name: value for name, value in fields.items() if name != "takes" or isinstance(value, int)}


@dataclass(frozen=True, slots=True)
class Project:
    """One producer's table; ``token`` opens it and is as secret as a password."""

    token: str
    shelf: str
    name: str
    settings: Settings
    revision: int
    about_revision: int


def get(db: sqlite3.Connection, token: str) -> Project:
    """Open by token.

    Raises:
        UnknownProject: never existed, or was deleted.
    """
    project = find(db, token)
    if project is None:
        raise UnknownProject
    return project


def find(db: sqlite3.Connection, token: str) -> Project | None:
    """As :func:`get`, with None for an unknown token."""
    row = db.execute("SELECT * FROM projects WHERE token = ? AND deleted IS NULL", (token,)).fetchone()
    if row is None:
        return None
    settings = Settings.model_validate(json.loads(row["settings"]))
    return Project(row["token"], row["shelf"], row["name"], settings, row["revision"], row["about_revision"])


def create(store: Store, name: str, shelf: str | None = None, settings: Settings | None = None) -> Project:
    """A new, empty project; without a shelf it is a new person's first."""
    token, now = secrets.token_urlsafe(24), time.time()
    with store.transaction() as db:
        if shelf is None:
            shelf = secrets.token_urlsafe(12)
            db.execute("INSERT INTO shelves (id, created) VALUES (?, ?)", (shelf, now))
        db.execute(
            "INSERT INTO projects (token, shelf, name, settings, created, opened) VALUES (?, ?, ?, ?, ?, ?)",
            (token, shelf, clean_name(name), (settings or Settings()).model_dump_json(), now, now),
        )
        return get(db, token)


def siblings(db: sqlite3.Connection, project: Project) -> list[tuple[str, str]]:
    """``(name, token)`` of every project on the same shelf, last opened first."""
    rows = db.execute(
        "SELECT name, token FROM projects WHERE shelf = ? AND deleted IS NULL ORDER BY opened DESC",
        (project.shelf,),
    )
    return [(row["name"], row["token"]) for row in rows]


def touch(store: Store, token: str) -> Project:
    """Open: remembered as the last one used."""
    with store.transaction() as db:
        project = get(db, token)
        db.execute("UPDATE projects SET opened = ? WHERE token = ?", (time.time(), token))
        return project


def rename(db: sqlite3.Connection, token: str, name: str) -> None:
    """Give a project another name."""
    db.execute("UPDATE projects SET name = ? WHERE token = ?", (clean_name(name), token))
    bump_about(db, token)


def rename_seen(db: sqlite3.Connection, token: str, name: str, seen: str) -> str | None:
    """Rename, unless the project is no longer called what the asking tab has seen.

    Returns:
        What another tab has called it meanwhile; None where nothing stands in the way.
    """
    now, wanted = get(db, token).name, clean_name(name)
    if wanted in (seen, now):  # left as it was found
        return None
    if now != seen:
        return now
    rename(db, token, name)
    return None


def save_settings(db: sqlite3.Connection, token: str, settings: Settings) -> None:
    """Write the settings."""
    db.execute("UPDATE projects SET settings = ? WHERE token = ?", (settings.model_dump_json(), token))
    bump_about(db, token)


def set_deleted(db: sqlite3.Connection, token: str, deleted: bool) -> None:
    """Delete, or take the deletion back; the files stay until the clean-up."""
    db.execute("UPDATE projects SET deleted = ? WHERE token = ?", (time.time() if deleted else None, token))


def bump(db: sqlite3.Connection, token: str) -> int:
    """The number of a new change; rows changed in the same transaction carry it."""
    row = db.execute(
        "UPDATE projects SET revision = revision + 1 WHERE token = ? RETURNING revision", (token,)
    ).fetchone()
    if row is None:
        raise UnknownProject
    return int(row[0])


def bump_about(db: sqlite3.Connection, token: str) -> int:
    """As :func:`bump`, for name, settings and voices."""
    revision = bump(db, token)
    db.execute("UPDATE projects SET about_revision = ? WHERE token = ?", (revision, token))
    return revision


def clean_name(name: str) -> str:
    """One line of at most 120 characters, never empty."""
    return " ".join(name.split())[:MAX_NAME] or "Untitled"
