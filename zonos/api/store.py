"""Jobs and voices on disk: a SQLite database and the files that it speaks of.

A file is written whole before its row says so; a row never names a file that is not there.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from zonos.folders import problem_with_folder

BUSY_SECONDS = 10.0
VERSIONS = (
    """
    CREATE TABLE jobs (
        id TEXT PRIMARY KEY,          -- unguessable
        owner TEXT NOT NULL,          -- whose it is
        client TEXT NOT NULL,         -- whose turn and limits it counts for
        created REAL NOT NULL,
        format TEXT NOT NULL,
        template TEXT NOT NULL,
        state TEXT NOT NULL,          -- active, done, cancelled
        warnings TEXT NOT NULL,       -- JSON
        revision INTEGER NOT NULL     -- counts every change
    );
    CREATE TABLE takes (
        job TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
        n INTEGER NOT NULL,           -- place in the job, from 1
        take INTEGER NOT NULL,        -- of the line, from 0
        line TEXT NOT NULL,           -- the line's id
        spec TEXT,                    -- JSON of the line that is spoken; NULL where it is none
        state TEXT NOT NULL,          -- waiting, running, done, failed, cancelled, skipped
        code TEXT,
        reason TEXT,
        file TEXT,                    -- in the job's folder
        seconds REAL,
        result TEXT,                  -- JSON: seed, phonemes, warnings, recipe
        revision INTEGER NOT NULL,
        PRIMARY KEY (job, n, take)
    );
    CREATE INDEX takes_by_line ON takes (job, line, take);
    CREATE INDEX takes_changed ON takes (job, revision);
    CREATE INDEX takes_open ON takes (job) WHERE state IN ('waiting', 'running');
    CREATE TABLE voices (
        id TEXT PRIMARY KEY,
        owner TEXT NOT NULL,
        name TEXT NOT NULL,
        key TEXT NOT NULL,            -- the name without case
        clips TEXT NOT NULL,          -- JSON: file, title, numbers of each clip
        created REAL NOT NULL,
        UNIQUE (owner, key)
    );
    """,
)


class StoreError(Exception):
    """The data folder cannot be used; the message is a sentence for people."""


class Store:
    """Threads share one connection; a lock keeps their transactions apart.

    Args:
        folder: made when it is not there.

    Raises:
        StoreError: it cannot be written, or another server uses it.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mutex = threading.RLock()
        for part in (self.jobs, self.voices):
            if problem := problem_with_folder(part):
                raise StoreError(f"The data folder cannot be used: {problem} Choose another place for it.")
        try:
            self._owner = FileLock(folder / "server.lock")
            self._owner.acquire(timeout=0)
            self._db = self._connect()
        except Timeout:
            raise StoreError(f"Another server uses the data folder {folder}; give another one.") from None
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"The data folder {folder} cannot be used: {error}.") from error

    @property
    def jobs(self) -> Path:
        """One folder a job."""
        return self.folder / "jobs"

    @property
    def voices(self) -> Path:
        """One folder a voice."""
        return self.folder / "voices"

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, one at a time."""
        with self._mutex, self._db:
            self._db.execute("BEGIN IMMEDIATE")
            yield self._db

    def remove_folder(self, folder: Path) -> None:
        """Delete what no row speaks of any more."""
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Give the folder back."""
        with self._mutex:
            self._db.close()
        self._owner.release()

    def _connect(self) -> sqlite3.Connection:
        db = sqlite3.connect(
            self.folder / "server.sqlite",
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        db.row_factory = sqlite3.Row
        for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
            db.execute(f"PRAGMA {setting}")
        known = int(db.execute("PRAGMA user_version").fetchone()[0])
        if known > len(VERSIONS):
            raise StoreError(f"The data folder {self.folder} was written by a newer version of this program.")
        for number, script in enumerate(VERSIONS[known:], known + 1):
            db.executescript(f"BEGIN; {script}; PRAGMA user_version = {number}; COMMIT;")
        return db
