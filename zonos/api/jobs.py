"""Jobs: lines that a client handed over, what became of each, on disk."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from zonos.api.admission import Limit
from zonos.api.errors import ApiError
from zonos.api.store import Store
from zonos.line import Line
from zonos.request import new_seed, take_seed

TakeState = Literal["waiting", "running", "done", "failed", "cancelled", "skipped"]
JobState = Literal["active", "done", "cancelled"]


class TakeInfo(BaseModel):
    """One take of one line. ``line`` and ``take`` address its audio."""

    n: int
    line: str
    take: int
    state: TakeState
    code: str | None = None
    reason: str | None = None
    seconds: float | None = None
    seed: int | None = None
    phonemes: str | None = None
    warnings: list[str] = []


class JobInfo(BaseModel):
    """A job and how far it is; a number of takes for every state there is."""

    id: str
    state: JobState
    created: float
    format: str
    counts: dict[str, int]
    warnings: list[str]
    lines: list[TakeInfo]


class JobList(BaseModel):
    """Jobs of a client, newest first, without their lines."""

    jobs: list[JobInfo]


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of a new job, or the reason why it is none."""

    name: str | None  # the id that the client gave
    line: Line | None
    code: str = ""
    reason: str = ""
    state: TakeState = "failed"


@dataclass(frozen=True, slots=True)
class Work:
    """A take that is to be spoken."""

    n: int
    take: int
    line: Line


class Jobs:
    """Every change gets the next number of its job, so that a listener can ask for what is new.

    Args:
        store: the database.
        limit: on takes that are not over.
    """

    def __init__(self, store: Store, limit: Limit) -> None:
        self.store, self.limit = store, limit

    def create(
        self,
        owner: str,
        client: str,
        entries: Sequence[Entry],
        *,
        format: str,
        template: str,
        warnings: Sequence[str] = (),
    ) -> str:
        """Write a job down; returns its id.

        Raises:
            ApiError: too many lines are open.
        """
        job = f"job_{secrets.token_urlsafe(16)}"
        rows = [row for n, entry in enumerate(_unique(entries), 1) for row in _rows(job, n, entry)]
        with self.store.transaction() as db:
            self.limit.check(len(rows), _open(db, client), _open(db))
            db.execute(
                """INSERT INTO jobs (id, owner, client, created, format, template, state, warnings, revision)
                   VALUES (?, ?, ?, ?, ?, ?, 'active', ?, 1)""",
                (job, owner, client, time.time(), format, template, json.dumps(list(warnings))),
            )
            db.executemany(
                """INSERT INTO takes (job, n, take, line, spec, state, code, reason, revision)
                   VALUES (?, ?, ?, ?, ?, ?, ?, ?, 1)""",
                rows,
            )
            _settle(db, job)
        return job

    def row(self, owner: str, job: str) -> sqlite3.Row:
        """A client's job.

        Raises:
            ApiError: not there, or somebody else's.
        """
        with self.store.transaction() as db:
            found: sqlite3.Row | None = db.execute(
                "SELECT * FROM jobs WHERE id = ? AND owner = ?", (job, owner)
            ).fetchone()
        if found is None:
            raise ApiError(404, "unknown_job", "There is no such job (any more).")
        return found

    def listed(self, owner: str) -> JobList:
        """All jobs of a client."""
        with self.store.transaction() as db:
            rows = db.execute(
                "SELECT * FROM jobs WHERE owner = ? ORDER BY created DESC LIMIT 1000", (owner,)
            ).fetchall()
            return JobList(jobs=[_job(row, _counts(db, row["id"]), []) for row in rows])

    def summary(self, owner: str, job: str) -> JobInfo:
        """A job without its lines.

        Raises:
            ApiError: see :meth:`row`.
        """
        row = self.row(owner, job)
        with self.store.transaction() as db:
            return _job(row, _counts(db, job), [])

    def info(self, owner: str, job: str) -> JobInfo:
        """A job with all its lines.

        Raises:
            ApiError: see :meth:`row`.
        """
        takes, _ = self.changes(job, 0)
        return self.summary(owner, job).model_copy(update={"lines": takes})

    def changes(self, job: str, after: int) -> tuple[list[TakeInfo], int]:
        """Takes that changed after a number, and the number of the last change."""
        with self.store.transaction() as db:
            rows = db.execute(
                "SELECT * FROM takes WHERE job = ? AND revision > ? ORDER BY n, take", (job, after)
            ).fetchall()
            last = db.execute("SELECT revision FROM jobs WHERE id = ?", (job,)).fetchone()
        return [_take(row) for row in rows], int(last[0]) if last else after

    def takes(self, job: str) -> list[sqlite3.Row]:
        """All rows, for the archive."""
        with self.store.transaction() as db:
            return db.execute("SELECT * FROM takes WHERE job = ? ORDER BY n, take", (job,)).fetchall()

    def exists(self, job: str) -> bool:
        """Whether it was not deleted."""
        with self.store.transaction() as db:
            return db.execute("SELECT 1 FROM jobs WHERE id = ?", (job,)).fetchone() is not None

    def open(self) -> int:
        """Takes of all clients that are not over."""
        with self.store.transaction() as db:
            return _open(db)

    def take(self, job: str, line: str, take: int) -> sqlite3.Row | None:
        """One row by its line's id."""
        with self.store.transaction() as db:
            found: sqlite3.Row | None = db.execute(
                "SELECT * FROM takes WHERE job = ? AND line = ? AND take = ?", (job, line, take)
            ).fetchone()
        return found

    # ---- for the workers ---------------------------------------------------------------------

    def recover(self) -> list[sqlite3.Row]:
        """After a restart: what was being spoken waits again; jobs that go on."""
        with self.store.transaction() as db:
            db.execute("UPDATE takes SET state = 'waiting' WHERE state = 'running'")
            return db.execute("SELECT * FROM jobs WHERE state = 'active' ORDER BY created").fetchall()

    def waiting(self, job: str) -> list[Work]:
        """Takes that are to be spoken."""
        with self.store.transaction() as db:
            rows = db.execute(
                "SELECT n, take, spec FROM takes WHERE job = ? AND state = 'waiting' ORDER BY n, take", (job,)
            ).fetchall()
        return [Work(row["n"], row["take"], Line.model_validate_json(row["spec"])) for row in rows]

    def change(
        self,
        job: str,
        work: Work,
        state: TakeState,
        *,
        code: str | None = None,
        reason: str | None = None,
        file: str | None = None,
        seconds: float | None = None,
        result: dict[str, Any] | None = None,
    ) -> bool:
        """A take's new state; False when its job was deleted."""
        key = (job, work.n, work.take)
        with self.store.transaction() as db:
            changed = db.execute(
                "UPDATE jobs SET revision = revision + 1 WHERE id = ? RETURNING revision", (job,)
            ).fetchone()
            if changed is None:
                return False
            db.execute(
                """UPDATE takes SET state = ?, code = ?, reason = ?, file = ?, seconds = ?, result = ?,
                       revision = ? WHERE job = ? AND n = ? AND take = ?""",
                (state, code, reason, file, seconds, result and json.dumps(result), changed[0], *key),
            )
            _settle(db, job)
        return True

    def cancel(self, job: str) -> None:
        """Everything that is not done is cancelled."""
        with self.store.transaction() as db:
            db.execute(
                "UPDATE jobs SET revision = revision + 1, state = 'cancelled' WHERE id = ? AND state = 'active'",
                (job,),
            )
            db.execute(
                """UPDATE takes SET state = 'cancelled',
                       revision = (SELECT revision FROM jobs WHERE id = takes.job)
                   WHERE job = ? AND state IN ('waiting', 'running')""",
                (job,),
            )

    def fail_rest(self, job: str, code: str, reason: str, warning: str | None = None) -> None:
        """Everything that is not done has failed, each with the same reason; a warning stands once."""
        with self.store.transaction() as db:
            db.execute(
                """UPDATE jobs SET revision = revision + 1, state = 'done',
                       warnings = CASE WHEN ?2 IS NULL THEN warnings ELSE json_insert(warnings, '$[#]', ?2) END
                   WHERE id = ?1""",
                (job, warning),
            )
            db.execute(
                """UPDATE takes SET state = 'failed', code = ?, reason = ?,
                       revision = (SELECT revision FROM jobs WHERE id = takes.job)
                   WHERE job = ? AND state IN ('waiting', 'running')""",
                (code, reason, job),
            )

    def delete(self, job: str) -> None:
        """Forget a job; its files are the caller's."""
        with self.store.transaction() as db:
            db.execute("DELETE FROM jobs WHERE id = ?", (job,))

    def outdated(self, before: float) -> list[str]:
        """Jobs that are over and older."""
        with self.store.transaction() as db:
            rows = db.execute("SELECT id FROM jobs WHERE state != 'active' AND created < ?", (before,))
            return [row[0] for row in rows]


def _unique(entries: Sequence[Entry]) -> list[Entry]:
    """Every line gets an id of its own; a second line of the same id fails alone."""
    seen: dict[str, int] = {}
    checked = []
    for n, entry in enumerate(entries, 1):
        name = entry.name or str(n)
        if name in seen:
            reason = f"The id {name!r} belongs to line {seen[name]} already."
            entry = Entry(_free(f"{name} ({n})", seen), None, "duplicate_id", reason)
        else:
            entry = Entry(name, entry.line, entry.code, entry.reason, entry.state)
        seen[str(entry.name)] = n
        checked.append(entry)
    return checked


def _free(name: str, seen: dict[str, int]) -> str:
    while name in seen:
        name += "'"
    return name


def _rows(job: str, n: int, entry: Entry) -> list[tuple]:
    line = entry.line
    if line is None:
        return [(job, n, 0, entry.name, None, entry.state, entry.code, entry.reason)]
    seed = new_seed() if line.seed is None else line.seed
    alone = [line.model_copy(update={"takes": 1, "seed": take_seed(seed, k)}) for k in range(line.takes)]
    return [
        (job, n, k, entry.name, each.model_dump_json(exclude_none=True), "waiting", None, None)
        for k, each in enumerate(alone)
    ]


def _settle(db: sqlite3.Connection, job: str) -> None:
    """A job with nothing left to do is done."""
    db.execute(
        """UPDATE jobs SET state = 'done' WHERE id = ? AND state = 'active' AND NOT EXISTS
           (SELECT 1 FROM takes WHERE job = jobs.id AND state IN ('waiting', 'running'))""",
        (job,),
    )


def _open(db: sqlite3.Connection, client: str | None = None) -> int:
    """Takes that are not over, of one client or of all."""
    found = db.execute(
        """SELECT COUNT(*) FROM takes JOIN jobs ON jobs.id = takes.job
           WHERE takes.state IN ('waiting', 'running') AND (? IS NULL OR jobs.client = ?)""",
        (client, client),
    ).fetchone()
    return int(found[0])


def _counts(db: sqlite3.Connection, job: str) -> dict[str, int]:
    rows = db.execute("SELECT state, COUNT(*) FROM takes WHERE job = ? GROUP BY state", (job,))
    return {row[0]: row[1] for row in rows}


def _job(row: sqlite3.Row, counts: dict[str, int], takes: list[TakeInfo]) -> JobInfo:
    return JobInfo(
        id=row["id"],
        state=row["state"],
        created=row["created"],
        format=row["format"],
        counts=counts,
        warnings=json.loads(row["warnings"]),
        lines=takes,
    )


def _take(row: sqlite3.Row) -> TakeInfo:
    result = json.loads(row["result"]) if row["result"] else {}
    seed = result.get("seed")
    if seed is None and row["spec"]:
        seed = json.loads(row["spec"]).get("seed")
    return TakeInfo(
        **{name: row[name] for name in ("n", "line", "take", "state", "code", "reason", "seconds")},
        seed=seed,
        phonemes=result.get("phonemes"),
        warnings=result.get("warnings", []),
    )
