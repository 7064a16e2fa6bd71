"""A job's audio as one zip, made while it is sent."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any

from anyio import to_thread

from zonos.names import file_name, fill

MANIFEST = "manifest.jsonl"


class _Sink:
    """What the zip was written to and not yet sent; it cannot seek, so sizes follow each file."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        self._length += len(data)
        return len(data)

    def tell(self) -> int:
        return self._length

    def flush(self) -> None:
        """Nothing to do."""

    def take(self) -> bytes:
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


async def archive(folder: Path, takes: Sequence[sqlite3.Row], template: str) -> AsyncGenerator[bytes, None]:
    """The zip in pieces, a file at a time: what is done, and a manifest that also names what is not.

    Args:
        folder: of the job.
        takes: its rows.
        template: of the file names; see ``zonos.names``.
    """
    pieces = _pieces(folder, takes, template)
    while piece := await to_thread.run_sync(next, pieces, b""):
        yield piece


def _pieces(folder: Path, takes: Sequence[sqlite3.Row], template: str) -> Iterator[bytes]:
    sink, taken, manifest = _Sink(), {MANIFEST}, []
    # Audio does not shrink much; stored, it costs no time.
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as zip_file:  # type: ignore[call-overload]
        for row in takes:
            source = folder / row["file"] if row["file"] else None
            name = None
            if source is not None and source.is_file():
                name = file_name(_name(template, row), taken, suffix=source.suffix)
                zip_file.write(source, name)
                yield sink.take()
            manifest.append(json.dumps(_entry(row, name), ensure_ascii=False))
        zip_file.writestr(MANIFEST, "\n".join(manifest) + "\n")
    yield sink.take()


def _name(template: str, row: sqlite3.Row) -> str:
    line = json.loads(row["spec"])
    values: dict[str, Any] = {
        "n": row["n"],
        "name": line.get("name") or row["line"],
        "voice": line.get("voice"),
        "language": line.get("language"),
        "text": line["text"],
        "take": row["take"] + 1,
        "seed": line.get("seed"),
        "emotion": None,
        "project": row["job"],
    }
    return fill(template, values)


def _entry(row: sqlite3.Row, name: str | None) -> dict[str, Any]:
    """A line of the manifest: enough to make the take again."""
    result = json.loads(row["result"]) if row["result"] else {}
    return {
        "n": row["n"],
        "line": row["line"],
        "take": row["take"],
        "state": row["state"],
        "reason": row["reason"],
        "file": name,
        "seconds": row["seconds"],
        "recipe": result.get("recipe"),
    }
