"""What an export holds: one take a line, under which name, at what time.

The starred take goes out, else the newest that fits the line as it is now, else the newest.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ui import lines, takes
from ui.projects import Project
from zonos.line import Emotion, Line
from zonos.names import DEFAULT_TEMPLATE, check_template, file_name, fill
from zonos.words import count

Format = Literal["wav", "wav24", "wav32f", "flac", "mp3", "ogg"]


class Options(BaseModel):
    """What goes into the zip."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Format = "wav"
    template: Annotated[str, Field(max_length=200)] = DEFAULT_TEMPLATE
    loudness: Annotated[float, Field(ge=-40, le=-8)] | None = None  # LUFS of each line
    gap: Annotated[float, Field(ge=0, le=30)] = 0.4  # seconds between lines
    voice_gap: Annotated[float, Field(ge=0, le=30)] = 0.8  # where the voice changes
    files: bool = True
    joined: bool = False
    tracks: bool = False
    subtitles: bool = False
    manifest: bool = True
    ticked_only: bool = False

    @field_validator("template")
    @classmethod
    def _fillable(cls, value: str) -> str:
        check_template(value)
        return value


@dataclass(frozen=True, slots=True)
class Item:
    """One line and the take of it that goes out; ``start`` is its time in the joined file."""

    number: int
    row: lines.Row
    take: sqlite3.Row
    line: Line  # as it was spoken, which the row may not say any more
    name: str  # without suffix
    start: float

    @property
    def end(self) -> float:
        """Where it ends in the joined file."""
        return self.start + float(self.take["seconds"])


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be in the zip, and sentences on what will not."""

    items: list[Item]
    notes: list[str]


def plan(db: sqlite3.Connection, project: Project, options: Options, folder: Path) -> Plan:
    """Decide on takes, names and times; ``folder`` is that of the takes' files."""
    # Numbers are the table's, whichever rows go out.
    rows = enumerate(lines.every(db, project.token), start=1)
    chosen = [(number, row) for number, row in rows if row.ticked or not options.ticked_only]
    by_line = takes.best(db, project.token)
    found: list[Item] = []
    missing: list[int] = []
    lost: list[int] = []
    changed: list[int] = []
    overruns: list[str] = []
    taken: set[str] = set()
    files = {file.name for file in folder.iterdir()}
    for number, row in chosen:
        take = by_line.get(row.id)
        if take is None:
            missing.append(number)
            continue
        if take["file"] not in files:
            lost.append(number)
            continue
        if take["recipe"] != row.recipe:
            changed.append(number)
        line = takes.line_of(take, row.line)
        start = _start(found[-1] if found else None, line, row.slot, options)
        if row.slot and start + take["seconds"] > row.slot[1] + 0.005:
            over = start + take["seconds"] - row.slot[1]
            overruns.append(f"Line {number} runs {over:.1f} s past its slot.")
        name = name_of(number, line, take, project, options, taken)
        found.append(Item(number, row, take, line, name, start))
    notes = [
        *_said("has no take and is left out", "have no take and are left out", missing),
        *_said(
            "has lost its take's file and is left out", "have lost their takes' files and are left out", lost
        ),
        *_said("changed since its take was made", "changed since their takes were made", changed),
    ]
    return Plan(found, notes + overruns)


def _said(one: str, many: str, numbers: list[int]) -> list[str]:
    if len(numbers) < 2:
        return [f"Line {number} {one}." for number in numbers]
    return [f"{count(len(numbers), 'line')} {many}: {', '.join(map(str, numbers))}."]


def _start(before: Item | None, line: Line, slot: tuple[float, float] | None, options: Options) -> float:
    """A line with a slot starts there, or as soon as the line before it is over."""
    if before is None:
        return slot[0] if slot else 0.0
    same = (before.line.voice or "").casefold() == (line.voice or "").casefold()
    if slot:
        return max(slot[0], before.end)
    return before.end + (options.gap if same else options.voice_gap)


def name_of(
    number: int, line: Line, take: sqlite3.Row, project: Project, options: Options, taken: set[str]
) -> str:
    """Name of a line's file without its suffix, unlike all in ``taken``; it is added to them.

    Args:
        number: of the row in the table, from 1.
        line: as it was spoken.
        take: of that line.
        project: for its name.
        options: for the template.
        taken: see :func:`zonos.names.file_name`.
    """
    values = {
        "n": number,
        "name": line.name or line.text[:60],
        "voice": line.voice,
        "language": line.language,
        "emotion": _feeling(line),
        "text": line.text[:60],
        "take": take["number"],
        "seed": take["seed"],
        "project": project.name,
    }
    return file_name(fill(options.template, values), taken)


def _feeling(line: Line) -> str:
    if not isinstance(line.emotion, Emotion):
        return line.emotion or "default"
    weights: Counter[str] = Counter(line.emotion.model_dump())
    return weights.most_common(1)[0][0]
