"""How rows come out of a run, as the database tells it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass

from ui import lines


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a row; ``recipe`` is the hash of what was asked, whatever was edited meanwhile."""

    line: str
    recipe: str
    state: str | None
    reason: str | None = None

    @property
    def is_verdict(self) -> bool:
        """Whether it speaks of the words that were asked, and so says nothing of others."""
        return self.state in ("failed", "stopped")


def tell(db: sqlite3.Connection, project: str, outcomes: Iterable[Outcome], revision: int) -> None:
    """Write outcomes to their rows; a row mended since is pending, whatever came of its old words."""
    for one in outcomes:
        lines.set_state(db, project, [one.line], one.state, one.reason, revision)
        if one.is_verdict:
            db.execute(
                """UPDATE lines SET state = NULL, reason = NULL
                   WHERE project = ? AND id = ? AND recipe <> ?""",
                (project, one.line, one.recipe),
            )


def recover(db: sqlite3.Connection, reason: str) -> int:
    """Stop every row that a run held when the process ended, deleted ones too; gives how many."""
    db.execute(
        """UPDATE projects SET revision = revision + 1
           WHERE token IN (SELECT project FROM lines WHERE state IN ('queued', 'running'))"""
    )
    return db.execute(
        """UPDATE lines SET state = 'stopped', reason = ?,
             revision = (SELECT revision FROM projects WHERE token = lines.project)
           WHERE state IN ('queued', 'running')""",
        (reason,),
    ).rowcount
