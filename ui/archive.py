"""A whole project as one zip: lines, takes with their audio, the voices they use, the dictionary."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, ValidationError

from ui import library, lines, models, projects, sample, takes, words
from ui.edits import Seconds
from ui.limits import Limits
from ui.projects import Project, Settings
from ui.recipes import Recipes
from ui.scratch_zips import loose_zip, new_zip
from ui.store import Store
from ui.voice_archive import ArchivedVoice, ArchiveError, Part, pack_voice, take_voice, unpack, whole_zip
from zonos.errors import LineError
from zonos.line import Line
from zonos.words import count

KIND: Literal["zonos-studio-project"] = "zonos-studio-project"
CONTENT = "project.json"
MAX_CONTENT_BYTES = 64 * 2**20
_TAKE_FILE = re.compile(r"takes/[a-f0-9]{32}\.wav")


class ArchivedTake(Part):
    """One take; ``file`` is its place in the zip."""

    file: Annotated[str, Field(pattern=_TAKE_FILE.pattern + "$")]
    seconds: Seconds
    sample_rate: Annotated[int, Field(ge=1, le=10**6)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]  # what the database holds
    ended: str
    model: str
    starred: bool
    fields: dict[str, Any]
    recipe: str
    detail: dict[str, Any]
    warnings: list[str]


class ArchivedLine(Part):
    """One row."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9]{6,24}$")]
    fields: dict[str, Any]
    note: Annotated[str, Field(max_length=2000)] = ""
    slot: tuple[Seconds, Seconds] | None = None
    ticked: bool = False
    takes: list[ArchivedTake] = Field(default_factory=list)


class ArchivedProject(Part):
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
    path = loose_zip(store)
    with new_zip(path) as archive:
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
    with whole_zip("export the project again"), zipfile.ZipFile(source) as archive:
        content = _checked(archive, limits)
        unpacked = store.scratch / uuid.uuid4().hex
        unpacked.mkdir()
        try:
            # A take is copied for every line that names it; a clip is kept once.
            names = [take.file for line in content.lines for take in line.takes]
            names += {clip.file for voice in content.voices for clip in voice.clips}
            unpack(archive, names, unpacked, limits)
            return _insert(store, content, unpacked, shelf)
        finally:
            shutil.rmtree(unpacked, ignore_errors=True)


def _content(
    store: Store, db: sqlite3.Connection, project: Project
) -> tuple[ArchivedProject, dict[str, Path]]:
    files: dict[str, Path] = {}
    rows = lines.every(db, project.token)
    archived = [_line(store, db, project, row, files) for row in rows]
    voices = [pack_voice(store, db, project.shelf, voice, files) for voice in _voices(db, project, rows)]
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
    named = {name for row in rows for name in (row.line.voice, row.line.prefix_audio) if name}
    used = {name.casefold() for name in named}
    return [voice for voice in library.described(db, project.shelf) if voice["name"].casefold() in used]


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
            f"This project has {count(len(content.lines), 'row')}; at most {limits.rows} may be here."
        )
    return content


def _insert(store: Store, content: ArchivedProject, unpacked: Path, shelf: str) -> Project:
    with store.transaction() as db:
        project = projects.create(store, content.name, shelf, _settings(content.settings))
        renamed = {
            voice.name.casefold(): take_voice(store, db, shelf, voice, unpacked) for voice in content.voices
        }
        words.write(db, project.token, content.words)
        for index, given in enumerate(content.lines):
            archived = _with_voices(given, renamed)
            line = Line.model_validate(archived.fields)
            _insert_line(store, db, project, archived, line, 1024.0 * (index + 1), unpacked)
        return projects.get(db, project.token)


def _settings(archived: Settings) -> Settings:
    """With the usual model where the archived one is not to be had here."""
    if models.refusal(archived.model) is None:
        return archived
    return archived.model_copy(update={"model": Settings().model})


def _with_voices(archived: ArchivedLine, renamed: Mapping[str, str]) -> ArchivedLine:
    """A line and its takes with the names that their voices have here."""

    def here(fields: dict[str, Any]) -> dict[str, Any]:
        named = {name: str(fields.get(name) or "").casefold() for name in ("voice", "prefix_audio")}
        return fields | {name: renamed[voice] for name, voice in named.items() if voice in renamed}

    its_takes = [take.model_copy(update={"fields": here(take.fields)}) for take in archived.takes]
    return archived.model_copy(update={"fields": here(archived.fields), "takes": its_takes})


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
    before = _named_recipe(archived.fields)
    for take in archived.takes:
        source = unpacked / Path(take.file).name
        take_id = uuid.uuid4().hex
        target = takes.folder(store, project.token) / f"{take_id}.wav"
        shutil.copyfile(source, target)
        outline = takes.peaks_of(_sound(target))
        # Voices may be made of other clips here, so hashes of the old place mean nothing.
        same = _named_recipe(take.fields) == before
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


def _named_recipe(fields: dict[str, Any]) -> str:
    """A recipe that knows voices by name, as all a zip can tell."""
    line = Line.model_validate(fields)
    return lines.recipe_hash(line, f"{line.voice}, {line.prefix_audio}")


def _sound(path: Path) -> np.ndarray:
    from zonos.audio.read import read_clip

    try:
        return read_clip(path).mono
    except LineError as error:
        raise ArchiveError(f"This project is damaged: {error.reason}") from error
