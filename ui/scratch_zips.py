"""Zips that wait in the scratch folder to be fetched: whole or not there, and not for long."""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
import uuid
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ui.store import Store

KEEP_SECONDS = 3600.0


@contextmanager
def new_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """A zip to fill; nothing half-made stays. Zips that nobody has fetched make room for it first."""
    _sweep(path.parent)
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            yield archive
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def loose_zip(store: Store) -> Path:
    """A place for a zip that is sent, and deleted, by the request that made it."""
    return store.scratch / f"{uuid.uuid4().hex}.zip"


def export_zip(store: Store, token: str) -> Path:
    """A place for an export of a project; the one before is deleted, whether it was fetched or not."""
    _remove(store.scratch.glob(f"{_mark(token)}-*.zip"))
    return store.scratch / f"{_mark(token)}-{uuid.uuid4().hex}.zip"


def found_export(store: Store, token: str, made: str) -> Path | None:
    """The export that :func:`export_zip` gave a place, by the name that the page was told."""
    if not re.fullmatch(rf"{_mark(token)}-[a-f0-9]{{32}}", made):
        return None
    path = store.scratch / f"{made}.zip"
    return path if path.is_file() else None


def _mark(token: str) -> str:
    """Begins the names of a project's exports, and tells nobody its token."""
    return hashlib.sha256(f"zonos studio, export, {token}".encode()).hexdigest()[:16]


def _sweep(folder: Path) -> None:
    before = time.time() - KEEP_SECONDS
    with contextlib.suppress(OSError):  # one may be fetched, and deleted, just now
        _remove([path for path in folder.glob("*.zip") if path.stat().st_mtime < before])


def _remove(paths: Iterable[Path]) -> None:
    for path in list(paths):
        with contextlib.suppress(OSError):  # Windows keeps what is being sent; a later sweep takes it
            path.unlink()
