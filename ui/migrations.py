"""The database's shape. A new version is a new entry at the end; entries already released never change."""

from __future__ import annotations

import sqlite3

VERSION_1 = """
CREATE TABLE shelves (
    id TEXT PRIMARY KEY,             -- one person's projects and voices; never leaves the server
    created REAL NOT NULL
);
CREATE TABLE projects (
    token TEXT PRIMARY KEY,          -- the only thing that a browser keeps
    shelf TEXT NOT NULL REFERENCES shelves (id) ON DELETE CASCADE,
    name TEXT NOT NULL,
    settings TEXT NOT NULL DEFAULT '{}',
    created REAL NOT NULL,
    opened REAL NOT NULL,
    deleted REAL,
    revision INTEGER NOT NULL DEFAULT 1,         -- counts every change of the project
    about_revision INTEGER NOT NULL DEFAULT 1    -- last change of name, settings, voices
);
CREATE INDEX projects_by_shelf ON projects (shelf);
CREATE TABLE lines (
    project TEXT NOT NULL REFERENCES projects (token) ON DELETE CASCADE,
    id TEXT NOT NULL,                -- made once, by the browser
    position REAL NOT NULL,
    version INTEGER NOT NULL DEFAULT 1,
    fields TEXT NOT NULL,            -- JSON of a Line without its id and defaults
    recipe TEXT NOT NULL,            -- hash of all that decides how the line sounds
    ticked INTEGER NOT NULL DEFAULT 0,
    note TEXT NOT NULL DEFAULT '',
    state TEXT,                      -- queued, running, failed, stopped; NULL when nothing is going on
    reason TEXT,
    deleted REAL,
    revision INTEGER NOT NULL,
    PRIMARY KEY (project, id)
);
CREATE INDEX lines_by_revision ON lines (project, revision);
CREATE TABLE takes (
    id TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    line TEXT NOT NULL,
    number INTEGER NOT NULL,         -- counted from 1 in its line
    file TEXT NOT NULL,              -- inside the project's folder
    seconds REAL NOT NULL,
    sample_rate INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    ended TEXT NOT NULL,
    model TEXT NOT NULL,
    starred INTEGER NOT NULL DEFAULT 0,
    fields TEXT NOT NULL,            -- the line as it was
    recipe TEXT NOT NULL,            -- its hash as it was
    detail TEXT NOT NULL,            -- the engine's whole recipe: enough to make the take again
    warnings TEXT NOT NULL DEFAULT '[]',
    peaks BLOB,                      -- the waveform's outline, one byte a point
    created REAL NOT NULL,
    deleted REAL,
    FOREIGN KEY (project, line) REFERENCES lines (project, id) ON DELETE CASCADE
);
CREATE INDEX takes_by_line ON takes (project, line, number);
CREATE TABLE voices (
    shelf TEXT NOT NULL REFERENCES shelves (id) ON DELETE CASCADE,
    name TEXT NOT NULL COLLATE NOCASE,
    consent INTEGER NOT NULL DEFAULT 0,
    sample INTEGER NOT NULL DEFAULT 0,
    created REAL NOT NULL,
    PRIMARY KEY (shelf, name)
);
CREATE TABLE clips (
    shelf TEXT NOT NULL,
    voice TEXT NOT NULL COLLATE NOCASE,
    hash TEXT NOT NULL,
    file TEXT NOT NULL,              -- inside the clips folder
    title TEXT NOT NULL,             -- what the producer's file was called; shown, never opened
    report TEXT NOT NULL DEFAULT '{}',
    created REAL NOT NULL,
    PRIMARY KEY (shelf, voice, hash),
    FOREIGN KEY (shelf, voice) REFERENCES voices (shelf, name) ON DELETE CASCADE ON UPDATE CASCADE
);
"""

VERSION_2 = """
CREATE TABLE words (
    project TEXT NOT NULL REFERENCES projects (token) ON DELETE CASCADE,
    language TEXT NOT NULL,          -- '' for every language
    word TEXT NOT NULL,
    say TEXT NOT NULL,               -- a spelling, or [[phonemes]]
    match_case INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project, language, word, match_case)
);
ALTER TABLE lines ADD COLUMN slot TEXT;   -- JSON [start, end] in seconds, of a subtitle
"""

VERSIONS = (VERSION_1, VERSION_2)


def migrate(db: sqlite3.Connection) -> None:
    """Bring a database of any earlier version up to date, each step whole or not at all.

    Raises:
        ValueError: the database was written by a newer studio.
    """
    if _version(db) > len(VERSIONS):
        raise ValueError("it was written by a newer version of the studio; update this one to open it")
    for version in range(_version(db), len(VERSIONS)):
        # Another process may have taken the same step while this one waited for the lock.
        db.execute("BEGIN IMMEDIATE")
        try:
            if _version(db) == version:
                for statement in _statements(VERSIONS[version]):
                    db.execute(statement)
                db.execute(f"PRAGMA user_version = {version + 1}")
        except BaseException:
            db.execute("ROLLBACK")
            raise
        db.execute("COMMIT")


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])


def _statements(script: str) -> list[str]:
    """Split at the semicolons that end statements; ``executescript`` would commit in between."""
    found: list[str] = []
    buffer = ""
    for row in script.splitlines(keepends=True):
        buffer += row
        if sqlite3.complete_statement(buffer):
            found.append(buffer.strip())
            buffer = ""
    return found
