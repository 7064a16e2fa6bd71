"""The rows of a project's table, as they lie in the database and as the page gets them."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ui import takes
from zonos.line import Line

# A row's own name, its number of takes and its seed do not change how the words are spoken; of a voice
# its clips count, not what it is called.
NOT_IN_RECIPE = frozenset({"id", "name", "takes", "seed", "voice", "prefix_audio"})
SMALLEST_GAP = 1e-6


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table."""

    id: str
    position: float
    line: Line
    recipe: str
    ticked: bool
    note: str
    state: str | None
    reason: str | None
    slot: tuple[float, float] | None = None  # seconds in a film

    @property
    def busy(self) -> bool:
        """Whether it waits or speaks just now."""
        return self.state in ("queued", "running")


def stored(line: Line) -> dict[str, Any]:
    """The fields that differ from a plain line, as JSON values; text and language always."""
    fields = line.model_dump(mode="json", exclude_defaults=True, exclude={"id"})
    return {"text": line.text, "language": line.language} | fields


def for_page(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields as the page gets them: a seed as text, for it may have more digits than a JavaScript number."""
    return fields | {"seed": str(fields["seed"])} if "seed" in fields else fields


def recipe_hash(line: Line, voice_content: str, respelled: str = "") -> str:
    """Everything that decides how a line sounds, but for seed and model.

    Args:
        voice_content: what the line's voices are made of.
        respelled: the text as the dictionary says it, empty where it says nothing.
    """
    fields = {name: value for name, value in stored(line).items() if name not in NOT_IN_RECIPE}
    text = json.dumps([fields, voice_content, respelled], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def get(db: sqlite3.Connection, project: str, line_id: str) -> Row | None:
    """One row that is not deleted."""
    row = db.execute(
        "SELECT * FROM lines WHERE project = ? AND id = ? AND deleted IS NULL", (project, line_id)
    ).fetchone()
    return _row(row) if row else None


def exists(db: sqlite3.Connection, project: str, line_id: str) -> bool:
    """Whether an id is in use, be it by a deleted row."""
    query = "SELECT 1 FROM lines WHERE project = ? AND id = ?"
    return db.execute(query, (project, line_id)).fetchone() is not None


def every(db: sqlite3.Connection, project: str) -> list[Row]:
    """All rows in the table's order."""
    rows = db.execute(
        "SELECT * FROM lines WHERE project = ? AND deleted IS NULL ORDER BY position, id", (project,)
    )
    return [_row(row) for row in rows]


def count(db: sqlite3.Connection, project: str) -> int:
    """How many rows there are."""
    query = "SELECT count(*) FROM lines WHERE project = ? AND deleted IS NULL"
    return int(db.execute(query, (project,)).fetchone()[0])


def insert(
    db: sqlite3.Connection,
    project: str,
    line_id: str,
    line: Line,
    recipe: str,
    position: float,
    revision: int,
) -> None:
    """Add a row."""
    db.execute(
        "INSERT INTO lines (project, id, position, fields, recipe, revision) VALUES (?, ?, ?, ?, ?, ?)",
        (project, line_id, position, _json(stored(line)), recipe, revision),
    )


def rewrite(
    db: sqlite3.Connection, project: str, line_id: str, line: Line, recipe: str, revision: int
) -> None:
    """Change a row's fields; what failed or stopped before is forgotten when the recipe is another."""
    db.execute(
        """UPDATE lines SET fields = ?, version = version + 1, revision = ?,
             state = CASE WHEN recipe <> ? AND state IN ('failed', 'stopped') THEN NULL ELSE state END,
             reason = CASE WHEN recipe <> ? AND state IN ('failed', 'stopped') THEN NULL ELSE reason END,
             recipe = ?
           WHERE project = ? AND id = ?""",
        (_json(stored(line)), revision, recipe, recipe, recipe, project, line_id),
    )


def set_state(
    db: sqlite3.Connection,
    project: str,
    ids: Iterable[str],
    state: str | None,
    reason: str | None,
    revision: int,
) -> None:
    """What is going on with some rows."""
    db.executemany(
        "UPDATE lines SET state = ?, reason = ?, revision = ? WHERE project = ? AND id = ?",
        [(state, reason, revision, project, line_id) for line_id in ids],
    )


def set_ticked(db: sqlite3.Connection, project: str, ids: Iterable[str], on: bool, revision: int) -> None:
    """Tick or untick."""
    db.executemany(
        "UPDATE lines SET ticked = ?, revision = ? WHERE project = ? AND id = ?",
        [(int(on), revision, project, line_id) for line_id in ids],
    )


def set_note(db: sqlite3.Connection, project: str, line_id: str, note: str, revision: int) -> None:
    """Keep a remark for people."""
    db.execute(
        "UPDATE lines SET note = ?, revision = ? WHERE project = ? AND id = ?",
        (note, revision, project, line_id),
    )


def annotate(
    db: sqlite3.Connection, project: str, line_id: str, slot: tuple[float, float] | None, note: str
) -> None:
    """Keep what a new row brought along: its time in a film, a remark."""
    db.execute(
        "UPDATE lines SET slot = ?, note = ? WHERE project = ? AND id = ?",
        (json.dumps(slot) if slot else None, note, project, line_id),
    )


def set_deleted(db: sqlite3.Connection, project: str, ids: Iterable[str], gone: bool, revision: int) -> None:
    """Delete, or bring back."""
    when = time.time() if gone else None
    db.executemany(
        "UPDATE lines SET deleted = ?, revision = ? WHERE project = ? AND id = ?",
        [(when, revision, project, line_id) for line_id in ids],
    )


def touched(db: sqlite3.Connection, project: str, line_id: str, revision: int) -> None:
    """Tell the page about a row whose takes changed."""
    db.execute("UPDATE lines SET revision = ? WHERE project = ? AND id = ?", (revision, project, line_id))


def place(db: sqlite3.Connection, project: str, line_id: str, position: float, revision: int) -> None:
    """Move one row."""
    db.execute(
        "UPDATE lines SET position = ?, revision = ? WHERE project = ? AND id = ?",
        (position, revision, project, line_id),
    )


def positions_after(
    db: sqlite3.Connection, project: str, after: str | None, n: int, revision: int
) -> list[float]:
    """``n`` rising positions behind a row (before all rows for None), renumbering when it is too tight."""
    low, high = _gap(db, project, after)
    if high - low < SMALLEST_GAP * (n + 1):
        _renumber(db, project, revision)
        low, high = _gap(db, project, after)
    step = (high - low) / (n + 1)
    return [low + step * (i + 1) for i in range(n)]


def _gap(db: sqlite3.Connection, project: str, after: str | None) -> tuple[float, float]:
    low = 0.0
    if after is not None:
        found = db.execute(
            "SELECT position FROM lines WHERE project = ? AND id = ?", (project, after)
        ).fetchone()
        low = float(found[0]) if found else _last(db, project)
    following = db.execute(
        "SELECT min(position) FROM lines WHERE project = ? AND deleted IS NULL AND position > ?",
        (project, low),
    ).fetchone()[0]
    return low, float(following) if following is not None else low + 1024.0


def last_id(db: sqlite3.Connection, project: str) -> str | None:
    """The row at the end."""
    row = db.execute(
        "SELECT id FROM lines WHERE project = ? AND deleted IS NULL ORDER BY position DESC, id DESC LIMIT 1",
        (project,),
    ).fetchone()
    return str(row[0]) if row else None


def _last(db: sqlite3.Connection, project: str) -> float:
    found = db.execute("SELECT max(position) FROM lines WHERE project = ?", (project,)).fetchone()[0]
    return float(found or 0.0)


def _renumber(db: sqlite3.Connection, project: str, revision: int) -> None:
    ids = db.execute("SELECT id FROM lines WHERE project = ? ORDER BY position, id", (project,)).fetchall()
    db.executemany(
        "UPDATE lines SET position = ?, revision = ? WHERE project = ? AND id = ?",
        [(1024.0 * (i + 1), revision, project, row["id"]) for i, row in enumerate(ids)],
    )


def changed(db: sqlite3.Connection, project: str, after: int) -> tuple[list[dict[str, Any]], list[str]]:
    """Rows changed later than change ``after``, as the page gets them, and the ids of deleted ones."""
    rows = db.execute(
        "SELECT * FROM lines WHERE project = ? AND revision > ? ORDER BY position, id", (project, after)
    ).fetchall()
    alive = [row for row in rows if row["deleted"] is None]
    by_line = takes.by_line(db, project, [row["id"] for row in alive] if after else None)
    shown = [_shown(row, by_line.get(row["id"], [])) for row in alive]
    return shown, [row["id"] for row in rows if row["deleted"] is not None]


def _shown(row: sqlite3.Row, its_takes: Sequence[sqlite3.Row]) -> dict[str, Any]:
    """Short: what is off, empty or default is left out."""
    fields: dict[str, Any] = json.loads(row["fields"])
    extra = {
        "tick": row["ticked"],
        "note": row["note"],
        "slot": json.loads(row["slot"] or "null"),
        "state": row["state"],
        "why": row["reason"],
        "made": [takes.shown(take, row["recipe"]) for take in its_takes],
    }
    return (
        {"id": row["id"], "p": round(row["position"], 6)}
        | for_page(fields)
        | {name: value for name, value in extra.items() if value}
    )


def _row(row: sqlite3.Row) -> Row:
    line = Line.model_validate(json.loads(row["fields"]) | {"id": row["id"]})
    return Row(
        id=row["id"],
        position=row["position"],
        line=line,
        recipe=row["recipe"],
        ticked=bool(row["ticked"]),
        note=row["note"],
        state=row["state"],
        reason=row["reason"],
        slot=tuple(json.loads(row["slot"])) if row["slot"] else None,
    )


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
