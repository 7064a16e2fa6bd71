"""A studio in a temporary folder, for tests that need no browser."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np

from ui import changes, edits, keep, lines, projects, sample, takes
from ui.limits import Limits
from ui.projects import Project
from ui.store import Store
from zonos.events import Speech


class Bench:
    """One project on a store, with the page's way of talking to it."""

    def __init__(self, folder: Path) -> None:
        self.store = Store(folder)
        self.limits = Limits()
        self.project: Project = sample.first_project(self.store)

    @property
    def token(self) -> str:
        return self.project.token

    def edit(self, *some: dict[str, Any]) -> list[dict[str, Any]]:
        with self.store.transaction() as db:
            return edits.apply(db, self.project, list(some), self.limits)

    def since(self, after: int = 0) -> dict[str, Any]:
        with self.store.transaction() as db:
            return changes.since(db, self.token, after)

    def lines(self) -> list[dict[str, Any]]:
        return self.since()["lines"]

    def ids(self) -> list[str]:
        return [line["id"] for line in self.lines()]

    def line(self, line_id: str) -> dict[str, Any]:
        return next(line for line in self.lines() if line["id"] == line_id)

    def give_take(self, line_id: str, seconds: float = 0.5, seed: int = 7) -> str:
        """A take as a run would keep it."""
        with self.store.transaction() as db:
            row = lines.get(db, self.token, line_id)
        assert row is not None
        tone = np.sin(np.arange(int(24_000 * seconds)) / 20).astype(np.float32) * 0.3
        speech = Speech(tone, 24_000, seconds, "eos", seed, {"line": "as spoken"}, ())
        take = keep.keep_take(self.store, self.project, row.line, row.recipe, speech)
        with self.store.transaction() as db:
            takes.add(db, self.token, take)
            lines.touched(db, self.token, line_id, projects.bump(db, self.token))
        return take.id


def connection(store: Store) -> sqlite3.Connection:
    """The store's own connection, to look beneath."""
    with store.transaction() as db:
        return db
