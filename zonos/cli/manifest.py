"""``manifest.jsonl``: one object a take, added the moment the take ends, so that a kill loses nothing."""

from __future__ import annotations

import errno
import json
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from zonos.audio.write import atomic_file

log = logging.getLogger(__name__)

FILE_NAME = "manifest.jsonl"
Entry = dict[str, Any]


class Busy(Exception):
    """Another run writes into the folder."""


@contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Keep other runs out of a folder: both would give their takes the same names.

    The folder itself is locked, so that nothing is left behind; where that is not known (Windows,
    some disks of other machines) nobody is kept out.

    Raises:
        Busy: another run holds it.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Busy(str(folder)) from None
        except OSError as error:
            log.debug("%s cannot be locked: %s", folder, error)
        yield
    finally:
        os.close(handle)


class Manifest:
    """The manifest of one folder.

    While a run goes on, an entry replaces an older one by coming later; :meth:`tidy` leaves one a take.

    Args:
        folder: where the takes are; made when it is not there.

    Raises:
        OSError: the folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / FILE_NAME
        folder.mkdir(parents=True, exist_ok=True)

    def entries(self) -> list[Entry]:
        """The newest of each take, in the order in which takes were first written."""
        return list({_key(entry): entry for entry in self._all()}.values())

    def add(self, entry: Entry) -> None:
        """Append one entry; it is on the disk, whole, when this returns.

        Raises:
            OSError: it could not be written; what was there before stays whole.
        """
        with self.path.open("ab", buffering=0) as file:
            size = file.tell()
            # What a killed run left half-written ends here, so that it spoils no other line.
            data = _encoded(entry) if self._ends_a_line(size) else b"\n" + _encoded(entry)
            try:
                if file.write(data) != len(data):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                os.fsync(file.fileno())
            except OSError:
                file.truncate(size)
                raise

    def tidy(self, made: Iterable[tuple[str, str]] = ()) -> None:
        """Leave the newest entry of each take, this run's in script order; failures of older runs go.

        Args:
            made: name and format of this run's takes, in order.

        Raises:
            OSError: it could not be written; the longer manifest stays.
        """
        places = {key: place for place, key in enumerate(made)}
        entries = [e for e in self.entries() if e.get("status") == "done" or _key(e) in places]
        entries.sort(key=lambda entry: places.get(_key(entry), -1))
        if entries:
            with atomic_file(self.path) as file:
                file.writelines(map(_encoded, entries))

    def _all(self) -> list[Entry]:
        if not self.path.exists():
            return []
        found = []
        for number, line in enumerate(self.path.read_bytes().split(b"\n"), start=1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                _key(entry)
            except (ValueError, KeyError, TypeError):
                log.warning("%s, line %d is not whole and is left out", self.path, number)
            else:
                found.append(entry)
        return found

    def _ends_a_line(self, size: int) -> bool:
        if size == 0:
            return True
        with self.path.open("rb") as file:
            file.seek(-1, os.SEEK_END)
            return file.read(1) == b"\n"


def _key(entry: Entry) -> tuple[str, str]:
    return str(entry["name"]), str(entry["format"])


def _encoded(entry: Entry) -> bytes:
    # A lone surrogate has no UTF-8; its escape is JSON all the same.
    return json.dumps(entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
