"""What a line's sound depends on, as one hash: its fields, its voice's clips, the dictionary.

A take keeps the hash it was made with; where the line's present hash is another, it is "changed since".
"""

from __future__ import annotations

import json
import sqlite3
from functools import cache

from ui import lines, words
from ui.projects import Project
from ui.voice_names import stored_name
from zonos.errors import LineError
from zonos.line import Line
from zonos.text.languages import resolve_language


class Recipes:
    """Hashes the lines of one project; reads dictionary and voices once. For one transaction."""

    def __init__(self, db: sqlite3.Connection, project: Project) -> None:
        self.project = project
        self._words = words.dictionary(db, project.token)

        @cache
        def voice(name: str) -> str:
            rows = db.execute(
                "SELECT hash FROM clips WHERE shelf = ? AND voice = ? ORDER BY created, hash",
                (project.shelf, stored_name(db, project.shelf, name)),
            )
            return ",".join(row[0] for row in rows)

        self._voice = voice

    def of(self, line: Line) -> str:
        """Hash of all that decides how the line sounds, but for seed and model."""
        clips = [self._made_of(name) for name in (line.voice, line.prefix_audio)]
        return lines.recipe_hash(line, ";".join(clips), self._respelled(line))

    def _made_of(self, name: str | None) -> str:
        return (self._voice(name) or f"unknown {name.casefold()}") if name else ""

    def _respelled(self, line: Line) -> str:
        try:
            said = self._words.apply(line.text, resolve_language(line.language))
        except LineError:  # an unknown language: the line itself will say so
            return ""
        return "" if said == line.text else said


def refresh(db: sqlite3.Connection, project: Project, revision: int) -> int:
    """Hash every line anew after voices or the dictionary changed; gives how many came out different."""
    recipes = Recipes(db, project)
    changed = 0
    for row in lines.every(db, project.token):
        recipe = recipes.of(row.line)
        if recipe != row.recipe:
            lines.rewrite(db, project.token, row.id, row.line, recipe, revision)
            changed += 1
    return changed


def rename_voice(db: sqlite3.Connection, token: str, shelf: str, old: str, new: str) -> None:
    """Lines and takes follow a voice's new name: it sounds as before, so nothing is "changed since"."""

    @cache
    def means_it(name: str) -> bool:
        return stored_name(db, shelf, name) == old

    for table, key in (("lines", "id"), ("takes", "id")):
        for row in db.execute(f"SELECT {key}, fields FROM {table} WHERE project = ?", (token,)).fetchall():
            fields = json.loads(row["fields"])
            named = [name for name in ("voice", "prefix_audio") if means_it(fields.get(name) or "")]
            if named:
                fields |= dict.fromkeys(named, new)
                db.execute(
                    f"UPDATE {table} SET fields = ? WHERE project = ? AND {key} = ?",
                    (json.dumps(fields, ensure_ascii=False), token, row[key]),
                )
