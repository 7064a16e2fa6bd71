"""A whole project as one zip: lines, takes with their audio, the voices they use, the dictionary."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import uuid
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ui import library, lines, projects, sample, takes, words
from ui.limits import Limits
from ui.projects import Project, Settings
from ui.recipes import Recipes
from ui.store import Store
from ui.uploads import examined
from zonos.errors import LineError
from zonos.line import Line

KIND: Literal["zonos-studio-project"] = "zonos-studio-project"
CONTENT = "project.json"
MAX_CONTENT_BYTES = 64 * 2**20
MAX_AUDIO_BYTES = 300 * 2**20
_TAKE_FILE = re.compile(r"takes/[a-f0-9]{32}\.wav")
_CLIP_FILE = re.compile(r"clips/[a-f0-9]{32}\.[a-z0-9]{1,5}")


class ArchiveError(Exception):
    """The zip is not a project; the message is a sentence for the page."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")


class ArchivedTake(_Part):
    """One take; ``file`` is its place in the zip."""

    file: Annotated[str, Field(pattern=_TAKE_FILE.pattern + "$")]
    seconds: Annotated[float, Field(ge=0)]
    sample_rate: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0)]
    ended: str
    model: str
    starred: bool
    fields: dict[str, Any]
    recipe: str
    detail: dict[str, Any]
    warnings: list[str]


class ArchivedLine(_Part):
    """One row."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]{6,24}$")]
    fields: dict[str, Any]
    note: Annotated[str, Field(max_length=2000)] = ""
    slot: tuple[float, float] | None = None
    ticked: bool = False
    takes: list[ArchivedTake] = []


class ArchivedClip(_Part):
    """One clip of a voice."""

    file: Annotated[str, Field(pattern=_CLIP_FILE.pattern + "$")]
    title: str


class ArchivedVoice(_Part):
    """A voice that the project's lines use."""

    name: str
    consent: bool
    clips: list[ArchivedClip]


class ArchivedProject(_Part):
    """What ``project.json`` holds."""

    kind: Literal["zonos-studio-project"]
    name: str
    settings: Settings
    lines: list[ArchivedLine]
    voices: list[ArchivedVoice]
    words: list[words.Word]


def write_archive(store: Store, token: str) -> tuple[Path, str]:
    """Pack a project; gives the zip (in the scratch folder: delete it when it is sent) and its name.

    Raises:
        UnknownProject: no such project.
    """
    with store.transaction() as db:
        project = projects.get(db, token)
        content, files = _content(store, db, project)
    path = store.scratch / f"{uuid.uuid4().hex}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        text = content.model_dump_json(indent=1)
        archive.writestr(CONTENT, text, zipfile.ZIP_DEFLATED)
        for name, source in files.items():
            archive.write(source, name)
    return path, project.name


def read_archive(store: Store, source: Path, shelf: str, limits: Limits) -> Project:
    """Unpack a zip as a new project on a shelf. All of it is checked first; nothing of a bad one stays.

    Raises:
        ArchiveError: not a project, damaged or too large.
        VoiceError: a voice's clip cannot be read.
    """
    try:
        with zipfile.ZipFile(source) as archive:
            content = _checked(archive, limits)
            unpacked = store.scratch / uuid.uuid4().hex
            unpacked.mkdir()
            try:
                names = {take.file for line in content.lines for take in line.takes}
                names |= {clip.file for voice in content.voices for clip in voice.clips}
                for name in names:
                    _unpack(archive, name, unpacked)
                return _insert(store, content, unpacked, shelf)
            finally:
                shutil.rmtree(unpacked, ignore_errors=True)
    except (zipfile.BadZipFile, EOFError, RuntimeError) as error:
        raise ArchiveError(f"This file is not a whole zip ({error}); export the project again.") from error


def _content(
    store: Store, db: sqlite3.Connection, project: Project
) -> tuple[ArchivedProject, dict[str, Path]]:
    files: dict[str, Path] = {}
    rows = lines.every(db, project.token)
    archived = [_line(store, db, project, row, files) for row in rows]
    voices = [_voice(store, db, project.shelf, voice, files) for voice in _voices(db, project, rows)]
    content = ArchivedProject(
        kind=KIND,
        name=project.name,
        settings=project.settings,
        lines=archived,
        voices=voices,
        words=words.every(db, project.token),
    )
    return content, files


def _line(
    store: Store, db: sqlite3.Connection, project: Project, row: lines.Row, files: dict[str, Path]
) -> ArchivedLine:
    found = []
    for take in takes.whole(db, project.token, row.id):
        path = takes.folder(store, project.token) / take["file"]
        if path.is_file():
            name = f"takes/{take['id']}.wav"
            files[name] = path
            found.append(
                ArchivedTake(
                    file=name,
                    fields=json.loads(take["fields"]),
                    detail=json.loads(take["detail"]),
                    warnings=json.loads(take["warnings"]),
                    starred=bool(take["starred"]),
                    **{
                        key: take[key]
                        for key in ("seconds", "sample_rate", "seed", "ended", "model", "recipe")
                    },
                )
            )
    return ArchivedLine(
        id=row.id, fields=lines.stored(row.line), note=row.note, slot=row.slot, ticked=row.ticked, takes=found
    )


def _voices(db: sqlite3.Connection, project: Project, rows: Iterable[lines.Row]) -> list[dict[str, Any]]:
    used = {(row.line.voice or "").casefold() for row in rows}
    return [voice for voice in library.described(db, project.shelf) if voice["name"].casefold() in used]


def _voice(
    store: Store, db: sqlite3.Connection, shelf: str, voice: dict[str, Any], files: dict[str, Path]
) -> ArchivedVoice:
    clips = []
    for clip in library.clips(db, shelf, voice["name"]):
        path = store.clips / clip["file"]
        name = f"clips/{clip['hash']}{path.suffix}"
        files[name] = path
        clips.append(ArchivedClip(file=name, title=clip["title"]))
    return ArchivedVoice(name=voice["name"], consent=voice["consent"], clips=clips)


def _checked(archive: zipfile.ZipFile, limits: Limits) -> ArchivedProject:
    try:
        info = archive.getinfo(CONTENT)
    except KeyError as error:
        raise ArchiveError("This zip is not a project of the studio: it holds no project.json.") from error
    if info.file_size > MAX_CONTENT_BYTES:
        raise ArchiveError("This project is too large to be opened here.")
    try:
        content = ArchivedProject.model_validate_json(archive.read(info))
        for line in content.lines:
            Line.model_validate(line.fields)
            for take in line.takes:
                Line.model_validate(take.fields)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "content"
        raise ArchiveError(f"This project is damaged ({where}: {first['msg']}).") from error
    if len(content.lines) > limits.rows:
        raise ArchiveError(
            f"This project has {len(content.lines)} rows; at most {limits.rows} are allowed here."
        )
    return content


def _unpack(archive: zipfile.ZipFile, name: str, folder: Path) -> None:
    """Names were checked against a pattern, so that none leads out of the folder."""
    try:
        info = archive.getinfo(name)
    except KeyError as error:
        raise ArchiveError(f"This project is damaged: {name} is missing.") from error
    if info.file_size > MAX_AUDIO_BYTES:
        raise ArchiveError(f"This project is damaged: {name} is too large.")
    target = folder / Path(name).name
    with archive.open(info) as source, target.open("wb") as file:
        shutil.copyfileobj(source, file)


def _insert(store: Store, content: ArchivedProject, unpacked: Path, shelf: str) -> Project:
    with store.transaction() as db:
        project = projects.create(store, content.name, shelf, content.settings)
        renamed = {
            voice.name.casefold(): _take_voice(store, db, shelf, voice, unpacked) for voice in content.voices
        }
        words.write(db, project.token, content.words)
        for index, archived in enumerate(content.lines):
            line = Line.model_validate(archived.fields)
            if line.voice:
                line = line.model_copy(update={"voice": renamed.get(line.voice.casefold(), line.voice)})
            _insert_line(store, db, project, archived, line, 1024.0 * (index + 1), unpacked)
        return projects.get(db, project.token)


def _take_voice(
    store: Store, db: sqlite3.Connection, shelf: str, voice: ArchivedVoice, unpacked: Path
) -> str:
    """Use the shelf's voice where it is the same one; else add it, under a free name if need be."""
    name = library.voice_name(voice.name)
    wanted = {Path(clip.file).stem for clip in voice.clips}
    have = {clip["hash"] for clip in library.clips(db, shelf, name)}
    if have == wanted:
        return name
    clips = [examined(unpacked / Path(clip.file).name, clip.title) for clip in voice.clips]
    free = library.free_name(db, shelf, name)
    return library.add(store, shelf, free, clips, consent=voice.consent)


def _insert_line(
    store: Store,
    db: sqlite3.Connection,
    project: Project,
    archived: ArchivedLine,
    line: Line,
    position: float,
    unpacked: Path,
) -> None:
    line_id = archived.id
    if lines.exists(db, project.token, line_id):
        line_id = sample.new_id()
    recipe = Recipes(db, project).of(line)
    revision = projects.bump(db, project.token)
    lines.insert(db, project.token, line_id, line, recipe, position, revision)
    lines.annotate(db, project.token, line_id, archived.slot, archived.note)
    lines.set_ticked(db, project.token, [line_id], archived.ticked, revision)
    before = lines.recipe_hash(Line.model_validate(archived.fields), "")
    for take in archived.takes:
        source = unpacked / Path(take.file).name
        take_id = uuid.uuid4().hex
        target = takes.folder(store, project.token) / f"{take_id}.wav"
        shutil.copyfile(source, target)
        outline = takes.peaks_of(_sound(target))
        # Voices may lie under another name here, so hashes of the old place mean nothing.
        same = lines.recipe_hash(Line.model_validate(take.fields), "") == before
        made = takes.NewTake(
            id=take_id,
            line=line_id,
            file=target.name,
            recipe=recipe if same else f"imported {take.recipe}",
            peaks=outline,
            warnings=tuple(take.warnings),
            **take.model_dump(
                include={"seconds", "sample_rate", "seed", "ended", "model", "fields", "detail"}
            ),
        )
        takes.add(db, project.token, made)
        if take.starred:
            takes.star(db, project.token, take_id, True)


def _sound(path: Path) -> np.ndarray:
    from zonos.audio_read import read_clip

    try:
        return read_clip(path).mono
    except LineError as error:
        raise ArchiveError(f"This project is damaged: {error.reason}") from error
