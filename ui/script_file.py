"""The script of a project without its audio, in any kind of file that can be imported again."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from ui import lines, takes
from ui.projects import Project

KINDS = ("csv", "tsv", "xlsx", "jsonl", "txt", "srt", "vtt")
SUBTITLES = frozenset({"srt", "vtt"})
CHARACTERS_PER_SECOND = 15.0  # of a line that has neither a slot nor a take


def script_file(db: sqlite3.Connection, project: Project, kind: str) -> bytes:
    """All lines as a file of a kind in :data:`KINDS`.

    Subtitles keep the slots of a film; a line without one follows the line before it, as long as its take.
    """
    from zonos.script import write_script

    rows = lines.every(db, project.token)
    # A row's id is the table's own and would only be a column to wonder at.
    said = [row.line.model_copy(update={"id": None}) for row in rows]
    times = _times(rows, takes.best(db, project.token)) if kind in SUBTITLES else None
    return write_script(said, kind, times=times)


def _times(rows: Iterable[lines.Row], best: dict[str, sqlite3.Row]) -> list[tuple[float, float]]:
    times: list[tuple[float, float]] = []
    for row in rows:
        take = best.get(row.id)
        long = take["seconds"] if take else max(1.0, len(row.line.text) / CHARACTERS_PER_SECOND)
        start = times[-1][1] if times else 0.0
        times.append(row.slot or (start, start + long))
    return times
