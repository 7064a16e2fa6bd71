"""The finished script as a zip: files, one joined file, tracks by voice, subtitles, a manifest.

One take a line goes out: the starred one, else the newest that fits the line as it is now, else the
newest. Audio passes through in pieces, so that a long script needs no more memory than its longest line.
"""

from __future__ import annotations

import json
import sqlite3
import uuid
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from ui import lines, projects, takes
from ui.export_audio import Reel, load
from ui.projects import Project
from ui.store import Store
from ui.wording import counted
from zonos.line import Emotion, Line
from zonos.names import DEFAULT_TEMPLATE, check_template, file_name, fill

Format = Literal["wav", "wav24", "wav32f", "flac", "mp3", "ogg"]
Report = Callable[[int, int], None]
SHOWN_NAMES = 6


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
    name: str  # without suffix
    start: float

    @property
    def end(self) -> float:
        """Where it ends in the joined file."""
        return self.start + float(self.take["seconds"])

    @property
    def line(self) -> Line:
        """The line as it was spoken."""
        return takes.line_of(self.take, self.row.line)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that will be in the zip, and sentences on what will not."""

    items: list[Item]
    notes: list[str]


def plan(db: sqlite3.Connection, project: Project, options: Options) -> Plan:
    """Decide on takes, names and times."""
    rows = [row for row in lines.every(db, project.token) if row.ticked or not options.ticked_only]
    by_line = takes.best(db, project.token)
    found: list[Item] = []
    missing: list[int] = []
    changed: list[int] = []
    overruns: list[str] = []
    taken: set[str] = set()
    for number, row in enumerate(rows, start=1):
        take = by_line.get(row.id)
        if take is None:
            missing.append(number)
            continue
        if take["recipe"] != row.recipe:
            changed.append(number)
        start = _start(found[-1] if found else None, row, options)
        if row.slot and start + take["seconds"] > row.slot[1] + 0.005:
            over = start + take["seconds"] - row.slot[1]
            overruns.append(f"Line {number} runs {over:.1f} s past its slot.")
        found.append(Item(number, row, take, _name(number, row, take, project, options, taken), start))
    notes = [
        *_said("has no take and is left out", "have no take and are left out", missing),
        *_said("changed since its take was made", "changed since their takes were made", changed),
    ]
    return Plan(found, notes + overruns)


def _said(one: str, many: str, numbers: list[int]) -> list[str]:
    if len(numbers) < 2:
        return [f"Line {number} {one}." for number in numbers]
    return [f"{counted(len(numbers), 'line')} {many}: {', '.join(map(str, numbers))}."]


def names(made: Plan, options: Options) -> list[str]:
    """The first file names, for a preview."""
    suffix = Reel.suffix(options.format)
    return [item.name + suffix for item in made.items[:SHOWN_NAMES]]


def write(store: Store, token: str, options: Options, report: Report | None = None) -> tuple[Path, Plan]:
    """Make the zip, in the scratch folder; gives it and what went in.

    Raises:
        UnknownProject: no such project.
        OSError: the disk is full or a take's file is gone.
    """
    with store.transaction() as db:
        project = projects.get(db, token)
        made = plan(db, project, options)
    path = store.scratch / f"{uuid.uuid4().hex}.zip"
    work = store.scratch / uuid.uuid4().hex
    try:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
            with Reel(work, made.items, options) as reel:
                for done, item in enumerate(made.items, start=1):
                    _write_item(archive, reel, takes.folder(store, token), item, options)
                    if report:
                        report(done, len(made.items))
            for file in reel.files():
                archive.write(file, f"{Reel.FOLDER}/{file.name}")
            for name, content in _texts(made, options):
                archive.writestr(name, content, zipfile.ZIP_DEFLATED)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        Reel.remove(work)
    return path, made


def _write_item(archive: zipfile.ZipFile, reel: Reel, folder: Path, item: Item, options: Options) -> None:
    samples, rate = load(folder / item.take["file"], options.loudness)
    reel.add(item, samples, rate)
    if options.files:
        from zonos.audio.write import encode_audio

        archive.writestr(item.name + Reel.suffix(options.format), encode_audio(samples, rate, options.format))


def _texts(made: Plan, options: Options) -> Iterator[tuple[str, bytes]]:
    from zonos.script.subtitles import write_subtitles
    from zonos.script.write import write_script

    times = [(item.start, item.end) for item in made.items]
    if options.subtitles:
        yield "script.srt", write_subtitles([item.line.text for item in made.items], times, "srt").encode()
    if options.tracks:
        labels = [f"{start:.6f}\t{end:.6f}\t{item.name}\n" for item, (start, end) in _timed(made)]
        yield f"{Reel.FOLDER}/labels.txt", "".join(labels).encode()
    if options.manifest:
        entries = (json.dumps(_entry(item, options), ensure_ascii=False) + "\n" for item in made.items)
        yield "manifest.jsonl", "".join(entries).encode()
        yield "script.csv", write_script([item.line for item in made.items], "csv")
    if made.notes:
        yield "notes.txt", ("\n".join(made.notes) + "\n").encode()


def _timed(made: Plan) -> Iterator[tuple[Item, tuple[float, float]]]:
    return ((item, (item.start, item.end)) for item in made.items)


def _entry(item: Item, options: Options) -> dict[str, Any]:
    take = item.take
    return {
        "file": item.name + Reel.suffix(options.format) if options.files else None,
        "line": json.loads(take["fields"]),
        "take": take["number"],
        "seed": take["seed"],
        "model": take["model"],
        "seconds": take["seconds"],
        "ended": take["ended"],
        "start": round(item.start, 6),
        "note": item.row.note,
        "warnings": json.loads(take["warnings"]),
        "recipe": json.loads(take["detail"]),
    }


def _start(before: Item | None, row: lines.Row, options: Options) -> float:
    """A line with a slot starts there, or as soon as the line before it is over."""
    if before is None:
        return row.slot[0] if row.slot else 0.0
    same = (before.row.line.voice or "").casefold() == (row.line.voice or "").casefold()
    if row.slot:
        return max(row.slot[0], before.end)
    return before.end + (options.gap if same else options.voice_gap)


def _name(
    number: int, row: lines.Row, take: sqlite3.Row, project: Project, options: Options, taken: set[str]
) -> str:
    line = row.line
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
