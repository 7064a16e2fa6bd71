"""What the page has not seen yet: everything that carries a higher number than its last."""

from __future__ import annotations

import sqlite3
from typing import Any

from ui import library, lines, projects


def since(db: sqlite3.Connection, token: str, after: int) -> dict[str, Any]:
    """Changes later than number ``after`` (everything for 0).

    A number that lies ahead of ours comes from a database put back from a copy: everything is sent.
    """
    project = projects.get(db, token)
    if after > project.revision:
        after = 0
    answer: dict[str, Any] = {"revision": project.revision, "all": after == 0}
    if after < project.revision:
        answer["lines"], answer["gone"] = lines.changed(db, token, after)
    if after < project.about_revision:
        answer["project"] = {
            "name": project.name,
            "settings": project.settings.model_dump(mode="json"),
            "voices": library.described(db, project.shelf),
        }
    return answer
