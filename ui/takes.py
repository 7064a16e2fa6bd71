"""Takes: what a line sounded like, and everything needed to make it again."""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ui.store import Store
from zonos.line import Line

PEAKS = 200


@dataclass(frozen=True, slots=True)
class NewTake:
    """A finished take whose file is already on disk."""

    id: str
    line: str
    file: str  # its name inside the project's folder
    seconds: float
    sample_rate: int
    seed: int
    ended: str
    model: str
    fields: dict[str, Any]  # the line as it was spoken
    recipe: str  # hash of the line as it was spoken
    detail: dict[str, Any]
    warnings: tuple[str, ...]
    peaks: bytes


def folder(store: Store, project: str) -> Path:
    """Where a project's takes lie; made when it is not there."""
    path = store.takes / project
    path.mkdir(exist_ok=True)
    return path


def add(db: sqlite3.Connection, project: str, take: NewTake) -> None:
    """Record a take under the next number of its line."""
    number = db.execute(
        "SELECT coalesce(max(number), 0) + 1 FROM takes WHERE project = ? AND line = ?", (project, take.line)
    ).fetchone()[0]
    db.execute(
        """INSERT INTO takes (id, project, line, number, file, seconds, sample_rate, seed, ended, model,
             fields, recipe, detail, warnings, peaks, created)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
        (
            take.id,
            project,
            take.line,
            number,
            take.file,
            take.seconds,
            take.sample_rate,
            take.seed,
            take.ended,
            take.model,
            json.dumps(take.fields, ensure_ascii=False),
            take.recipe,
            json.dumps(take.detail, ensure_ascii=False),
            json.dumps(take.warnings, ensure_ascii=False),
            take.peaks,
            time.time(),
        ),
    )


def get(db: sqlite3.Connection, project: str, take: str) -> sqlite3.Row | None:
    """One take of this project."""
    found: sqlite3.Row | None = db.execute(
        "SELECT * FROM takes WHERE project = ? AND id = ? AND deleted IS NULL", (project, take)
    ).fetchone()
    return found


def whole(db: sqlite3.Connection, project: str, line: str) -> list[sqlite3.Row]:
    """A line's takes with everything that is known of them, oldest first."""
    return db.execute(
        "SELECT * FROM takes WHERE project = ? AND line = ? AND deleted IS NULL ORDER BY number",
        (project, line),
    ).fetchall()


def by_line(
    db: sqlite3.Connection, project: str, ids: Iterable[str] | None = None
) -> dict[str, list[sqlite3.Row]]:
    """Takes of some lines (of all for None), oldest first."""
    where, values = "", [project]
    if ids is not None:
        values += list(ids)
        where = f"AND line IN ({','.join('?' * (len(values) - 1))})"
    rows = db.execute(
        f"""SELECT id, line, number, seconds, starred, recipe, seed, ended, warnings FROM takes
            WHERE project = ? AND deleted IS NULL {where} ORDER BY number""",
        values,
    )
    found: dict[str, list[sqlite3.Row]] = {}
    for row in rows:
        found.setdefault(row["line"], []).append(row)
    return found


def shown(take: sqlite3.Row, recipe_now: str) -> dict[str, Any]:
    """As the page gets it: short, what is off left out."""
    warnings = json.loads(take["warnings"])
    extra = {
        "star": take["starred"],
        "old": int(take["recipe"] != recipe_now),
        "warn": " ".join(warnings),
    }
    # As text: a derived seed has more digits than a JavaScript number can hold.
    short = {"id": take["id"], "n": take["number"], "s": round(take["seconds"], 2), "seed": str(take["seed"])}
    return short | {name: value for name, value in extra.items() if value}


def star(db: sqlite3.Connection, project: str, take: str, on: bool) -> str | None:
    """Choose the take to export (one a line); gives its line, None when there is no such take."""
    found = get(db, project, take)
    if found is None:
        return None
    line = str(found["line"])
    db.execute("UPDATE takes SET starred = 0 WHERE project = ? AND line = ?", (project, line))
    db.execute("UPDATE takes SET starred = ? WHERE id = ?", (int(on), take))
    return line


def set_deleted(db: sqlite3.Connection, project: str, take: str, gone: bool) -> str | None:
    """Put a take away or bring it back; gives its line."""
    found = db.execute("SELECT line FROM takes WHERE project = ? AND id = ?", (project, take)).fetchone()
    if found is None:
        return None
    db.execute("UPDATE takes SET deleted = ? WHERE id = ?", (time.time() if gone else None, take))
    return str(found["line"])


def current_lines(db: sqlite3.Connection, project: str) -> set[str]:
    """Ids of lines that have a take made by their present recipe."""
    rows = db.execute(
        """SELECT DISTINCT lines.id FROM lines JOIN takes
             ON takes.project = lines.project AND takes.line = lines.id AND takes.recipe = lines.recipe
           WHERE lines.project = ? AND takes.deleted IS NULL""",
        (project,),
    )
    return {row[0] for row in rows}


def line_of(take: sqlite3.Row, now: Line) -> Line:
    """The line as it was when the take was made; name and number of takes stay as they are now."""
    fields = json.loads(take["fields"])
    kept = {"id": now.id, "name": now.name, "takes": now.takes, "seed": now.seed}
    return Line.model_validate(fields | kept)


def peaks_of(samples: np.ndarray) -> bytes:
    """Outline of a waveform: the largest magnitude of each of up to 200 stretches, 0 to 255."""
    if samples.size == 0:
        return b""
    edges = np.linspace(0, samples.size, min(PEAKS, samples.size) + 1).astype(np.int64)[:-1]
    loudest = np.maximum.reduceat(np.abs(samples), edges)
    return bytes((np.clip(loudest, 0.0, 1.0) * 255).astype(np.uint8))


def best(db: sqlite3.Connection, project: str) -> dict[str, sqlite3.Row]:
    """The take of each line that goes out: starred, else the newest that fits the line, else the newest."""
    rows = db.execute(
        """SELECT takes.*, lines.recipe AS recipe_now FROM takes JOIN lines
             ON lines.project = takes.project AND lines.id = takes.line
           WHERE takes.project = ? AND takes.deleted IS NULL AND lines.deleted IS NULL
           ORDER BY takes.starred, takes.recipe = lines.recipe, takes.number""",
        (project,),
    )
    return {row["line"]: row for row in rows}  # the last of each line is the best
