"""A project's dictionary: words and how to say them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator

from zonos.errors import LineError
from zonos.text.dictionary import Dictionary, Entry
from zonos.text.languages import resolve_language

MAX_WORDS = 2000


class Word(BaseModel):
    """One entry; an empty ``language`` means every language, an empty ``say`` leaves the word out."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    word: Annotated[str, Field(min_length=1, max_length=200)]
    say: Annotated[str, Field(max_length=400)] = ""
    language: Annotated[str, Field(max_length=40)] = ""
    match_case: bool = False

    @field_validator("language")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            return resolve_language(value) if value else ""
        except LineError as error:
            raise ValueError(error.reason) from error


def every(db: sqlite3.Connection, project: str) -> list[Word]:
    """All entries, by word."""
    rows = db.execute(
        "SELECT word, say, language, match_case FROM words WHERE project = ? ORDER BY word, language",
        (project,),
    )
    return [Word.model_validate(dict(row) | {"match_case": bool(row["match_case"])}) for row in rows]


def dictionary(db: sqlite3.Connection, project: str) -> Dictionary:
    """As the engine takes it."""
    return Dictionary(
        Entry(word.word, word.say, word.language or None, word.match_case) for word in every(db, project)
    )


def write(db: sqlite3.Connection, project: str, words: Iterable[Word]) -> None:
    """Put these entries in the place of all others."""
    db.execute("DELETE FROM words WHERE project = ?", (project,))
    db.executemany(
        "INSERT OR REPLACE INTO words (project, word, say, language, match_case) VALUES (?, ?, ?, ?, ?)",
        [(project, word.word, word.say, word.language, int(word.match_case)) for word in words],
    )
