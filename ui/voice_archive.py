"""Voices as a zip: names, clips, consent. A part of a project's zip, or one of its own."""

from __future__ import annotations

import lzma
import re
import shutil
import sqlite3
import uuid
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ui import library, projects
from ui.limits import Limits
from ui.scratch_zips import loose_zip, new_zip
from ui.store import Store
from ui.uploads import examined

KIND: Literal["zonos-studio-voices"] = "zonos-studio-voices"
CONTENT = "voices.json"
MAX_CONTENT_BYTES = 2**20
MAX_AUDIO_BYTES = 300 * 2**20
# Sound that somebody zipped once more gets smaller; by more than this it is no speech.
AUDIO_UPLOADS = 4
_CLIP_FILE = re.compile(r"clips/[a-f0-9]{32}\.[a-z0-9]{1,5}")


class ArchiveError(Exception):
    """The zip is not a project; the message is a sentence for the page."""


class Part(BaseModel):
    """Of an archive's JSON; what a newer studio adds is left out."""

    model_config = ConfigDict(extra="ignore")


class ArchivedClip(Part):
    """One clip of a voice."""

    file: Annotated[str, Field(pattern=_CLIP_FILE.pattern + "$")]
    title: str


class ArchivedVoice(Part):
    """A voice that the project's lines use."""

    name: str
    consent: bool
    clips: list[ArchivedClip]


class ArchivedVoices(Part):
    """What ``voices.json`` holds."""

    kind: Literal["zonos-studio-voices"]
    voices: Annotated[list[ArchivedVoice], Field(min_length=1, max_length=500)]


def write_voices(store: Store, token: str, name: str | None = None) -> Path:
    """Pack the voices of a project's shelf, or one of them; delete the zip when it is sent.

    Raises:
        UnknownProject: no such project.
        VoiceError: no such voice.
    """
    files: dict[str, Path] = {}
    with store.transaction() as db:
        shelf = projects.get(db, token).shelf
        wanted = [v for v in library.described(db, shelf) if name in (None, v["name"])]
        if not wanted:
            raise library.VoiceError(f"There is no voice {name!r} (any more).")
        content = ArchivedVoices(kind=KIND, voices=[pack_voice(store, db, shelf, v, files) for v in wanted])
    path = loose_zip(store)
    with new_zip(path) as archive:
        archive.writestr(CONTENT, content.model_dump_json(indent=1))
        for inside, source in files.items():
            archive.write(source, inside)
    return path


def read_voices(store: Store, file: BinaryIO, token: str, limits: Limits) -> list[str]:
    """Put the voices of a zip on the project's shelf; gives their names there.

    Raises:
        ArchiveError: not such a zip, damaged or too large.
        VoiceError: a clip cannot be read.
    """
    with store.transaction() as db:
        shelf = projects.get(db, token).shelf
    unpacked = store.scratch / uuid.uuid4().hex
    unpacked.mkdir()
    try:
        with whole_zip("save the voices again"), zipfile.ZipFile(file) as archive:
            content = _content(archive)
            names = {clip.file for voice in content.voices for clip in voice.clips}
            unpack(archive, names, unpacked, limits)
        with store.transaction() as db:
            return [take_voice(store, db, shelf, voice, unpacked) for voice in content.voices]
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)


def _content(archive: zipfile.ZipFile) -> ArchivedVoices:
    try:
        info = archive.getinfo(CONTENT)
        if info.file_size > MAX_CONTENT_BYTES:
            raise ArchiveError("This zip holds too many voices.")
        return ArchivedVoices.model_validate_json(archive.read(info))
    except KeyError as error:
        raise ArchiveError("This zip holds no voices of the studio: it has no voices.json.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "content"
        raise ArchiveError(f"These voices are damaged ({where}: {first['msg']}).") from error


def pack_voice(
    store: Store, db: sqlite3.Connection, shelf: str, voice: dict[str, Any], files: dict[str, Path]
) -> ArchivedVoice:
    """Describe a voice and note the files that belong to it."""
    clips = []
    for clip in library.clips(db, shelf, voice["name"]):
        path = store.clips / clip["file"]
        if not path.is_file():
            raise library.VoiceError(
                f"The clip “{clip['title']}” of the voice “{voice['name']}” is not on the disk any more. "
                "Remove it in the Voices tab, or add it to the voice again; then save once more."
            )
        name = f"clips/{clip['hash']}{path.suffix}"
        files[name] = path
        clips.append(ArchivedClip(file=name, title=clip["title"]))
    return ArchivedVoice(name=voice["name"], consent=voice["consent"], clips=clips)


@contextmanager
def whole_zip(again: str) -> Iterator[None]:
    """What damaged bytes raise while a zip is read becomes a sentence.

    Args:
        again: what the producer can do.

    Raises:
        ArchiveError: instead of it.
    """
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # the disk's; bzip2 has no error of its own
            raise
        raise ArchiveError(f"This file is not a whole zip ({error}); {again}.") from error


def unpack(archive: zipfile.ZipFile, names: Collection[str], folder: Path, limits: Limits) -> None:
    """Unpack audio. Names were checked against a pattern, so that none leads out of the folder.

    Args:
        archive: the zip.
        names: what to unpack; one that stands there twice will lie on the disk twice.
        folder: where to.
        limits: for all of it together, whatever the zip's own size is.

    Raises:
        ArchiveError: something is missing, or it would take too much room. Nothing is unpacked then.
    """
    found = {name: _info(archive, name) for name in names}
    most = AUDIO_UPLOADS * limits.upload_bytes
    if sum(found[name].file_size for name in names) > most:
        raise ArchiveError(
            f"The sound in this zip takes more room than the {most // 2**20} MB that are allowed here."
        )
    for name, info in found.items():
        with archive.open(info) as source, (folder / Path(name).name).open("wb") as file:
            shutil.copyfileobj(source, file)


def _info(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    try:
        info = archive.getinfo(name)
    except KeyError as error:
        raise ArchiveError(f"This project is damaged: {name} is missing.") from error
    if info.file_size > MAX_AUDIO_BYTES:
        raise ArchiveError(f"This project is damaged: {name} is too large.")
    return info


def take_voice(store: Store, db: sqlite3.Connection, shelf: str, voice: ArchivedVoice, unpacked: Path) -> str:
    """Use the shelf's voice where it is the same one; else add it, under a free name if need be."""
    name = library.voice_name(voice.name)
    wanted = {Path(clip.file).stem for clip in voice.clips}
    have = {clip["hash"] for clip in library.clips(db, shelf, name)}
    if have == wanted:
        return name
    clips = [examined(unpacked / Path(clip.file).name, clip.title) for clip in voice.clips]
    free = library.free_name(db, shelf, name)
    return library.add(store, shelf, free, clips, consent=voice.consent)
