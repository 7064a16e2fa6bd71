"""One data folder: a SQLite database and the audio files that it speaks of.

The rule that keeps work safe: an audio file is written whole first, then its row, then the page is
told. A row never names a file that is not there, and a file without a row is only lost disk space.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import platformdirs
from filelock import FileLock, Timeout

from ui.migrations import migrate
from zonos.folders import why_not

BUSY_SECONDS = 10.0


class StorageError(Exception):
    """The disk or the database refused; the message is a sentence for the page."""


def _refusal(reason: str) -> str:
    return f"The studio's data folder cannot be used. {reason} Name another one with ZONOS_DATA."


def data_folder() -> Path:
    """``ZONOS_DATA``, else a Space's persistent ``/data``, else the user's own data folder."""
    if given := os.environ.get("ZONOS_DATA"):
        return Path(given).expanduser()
    space_disk = Path("/data")
    if os.environ.get("SPACE_ID") and os.access(space_disk, os.W_OK):
        return space_disk / "zonos-studio"
    return platformdirs.user_data_path("zonos-studio")


class Store:
    """Threads of one process share one connection; a lock keeps their transactions apart.

    Args:
        folder: made when it is not there.

    Raises:
        StorageError: the folder or the database cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._mutex = threading.RLock()
        try:
            for part in (self.clips, self.takes, self.scratch):
                part.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(
                folder / "studio.sqlite",
                timeout=BUSY_SECONDS,
                isolation_level=None,
                check_same_thread=False,
            )
            self._db.row_factory = sqlite3.Row
            for setting in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
                self._db.execute(f"PRAGMA {setting}")
            migrate(self._db)
        except (OSError, ValueError) as error:
            raise StorageError(_refusal(why_not(folder, error))) from error
        except sqlite3.Error as error:
            raise StorageError(_refusal(f"{folder}: {error}.")) from error
        self._owner = FileLock(folder / "studio.lock")

    @property
    def clips(self) -> Path:
        """Voice clips, named by the hash of their content."""
        return self.folder / "clips"

    @property
    def takes(self) -> Path:
        """Finished takes, one folder a project."""
        return self.folder / "takes"

    @property
    def scratch(self) -> Path:
        """Half-made files; nothing here is ever offered."""
        return self.folder / "scratch"

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; nested calls of one thread join the outer transaction.

        Raises:
            StorageError: the disk is full, a file beside the database cannot be written, or another
                program holds the database.
        """
        with self._mutex:
            if self._db.in_transaction:
                yield self._db
                return
            try:
                self._db.execute("BEGIN IMMEDIATE")
                try:
                    yield self._db
                    self._db.execute("COMMIT")
                except BaseException:
                    if self._db.in_transaction:  # a full disk has rolled it back already
                        self._db.execute("ROLLBACK")
                    raise
            except sqlite3.OperationalError as error:
                raise StorageError(_words(error)) from error
            except OSError as error:
                raise StorageError(file_words(error)) from error

    def own(self) -> bool:
        """Whether this process is the only one that works in the folder; asked once, at the start."""
        try:
            self._owner.acquire(timeout=0)
        except Timeout:
            return False
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(exist_ok=True)
        return True

    def close(self) -> None:
        """Give the folder back."""
        with self._mutex:
            self._db.close()
        self._owner.release()


def _words(error: sqlite3.OperationalError) -> str:
    text = str(error).lower()
    if "locked" in text or "busy" in text:
        return "Another program is using the studio's database. Nothing was changed; try again in a moment."
    if "full" in text:
        return "The disk is full. Nothing was changed; free some space and try again."
    return f"The studio's database refused: {error}. Nothing was changed."


def file_words(error: OSError) -> str:
    """A sentence for a file other than a take."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk is full. Nothing was changed; free some space and try again."
    return f"A file could not be read or written ({error.strerror or error}). Nothing was changed."


def disk_words(error: OSError) -> str:
    """A sentence for a file that could not be written."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "The disk is full; this take was not kept. Free some space and generate the line again."
    return f"The file could not be written ({error.strerror or error}); this take was not kept."
