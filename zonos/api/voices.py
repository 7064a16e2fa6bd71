"""Voices of clients: made of uploaded clips, addressed by id, never by a path."""

from __future__ import annotations

import json
import secrets
import sqlite3
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from zonos.api.errors import ApiError
from zonos.api.settings import Settings
from zonos.api.store import Store
from zonos.audio import atomic_file, read_clip, report
from zonos.errors import LineError
from zonos.voices import CLIP_SUFFIXES, VoiceFolder
from zonos.words import count

MAX_NAME = 60
MAX_CLIPS = 10


class ClipInfo(BaseModel):
    """A clip of a voice, measured."""

    title: str
    seconds: float
    sample_rate: int
    advice: list[str]


class VoiceInfo(BaseModel):
    """A voice; ``id`` is what a line's ``voice`` takes (its name will do too)."""

    id: str
    name: str
    shared: bool
    created: float | None = None
    clips: list[ClipInfo] = []


class VoiceList(BaseModel):
    """All voices that a client may use."""

    voices: list[VoiceInfo]


# What clients of OpenAI's speech endpoint send where nobody chose.
_OPENAI = {"alloy", "ash", "ballad", "coral", "echo", "fable", "nova", "onyx", "sage", "shimmer", "verse"}


@dataclass(frozen=True, slots=True)
class Upload:
    """A clip as it arrived."""

    title: str
    content: bytes


class Voices:
    """The voices of all clients, and those that everybody shares."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self.store, self.settings = store, settings
        self.shared = VoiceFolder(settings.voices)

    def of(self, owner: str) -> ClientVoices:
        """The engine's way to a client's voices."""
        return ClientVoices(self, owner)

    def listed(self, owner: str) -> VoiceList:
        """A client's own, newest first, then the shared ones."""
        with self.store.transaction() as db:
            rows = db.execute(
                "SELECT * FROM voices WHERE owner = ? ORDER BY created DESC, id", (owner,)
            ).fetchall()
        own = [_info(row) for row in rows]
        own += [VoiceInfo(id=name, name=name, shared=False) for name in self._brought(owner)]
        known = {_key(voice.name) for voice in own}
        shared = [VoiceInfo(id=name, name=name, shared=True) for name in self.shared.names()]
        return VoiceList(voices=[*own, *(voice for voice in shared if _key(voice.name) not in known)])

    def names(self, owner: str) -> list[str]:
        """For a sentence."""
        return [voice.name for voice in self.listed(owner).voices]

    def find(self, owner: str, name: str) -> list[Path] | None:
        """Clips of a client's own voice, by id or name; a guest's also from where it comes from."""
        with self.store.transaction() as db:
            row = db.execute(
                "SELECT id, clips FROM voices WHERE owner = ? AND (id = ? OR key = ?)",
                (owner, name, _key(name)),
            ).fetchone()
        if row is None:
            guests = self.settings.guests
            return guests.clips(owner, name) if guests else None
        return [self.store.voices / row["id"] / clip["file"] for clip in json.loads(row["clips"])]

    def add(self, owner: str, name: str, uploads: Sequence[Upload]) -> VoiceInfo:
        """Keep clips as a voice.

        Raises:
            ApiError: no usable name, a name that is taken, too many.
            LineError: a clip cannot be read.
        """
        name = _voice_name(name)
        if not 1 <= len(uploads) <= MAX_CLIPS:
            raise ApiError(400, "invalid_request", f"Send 1 to {MAX_CLIPS} clips.", param="clip")
        measured = [_measured(upload) for upload in uploads]
        if _key(name) in {_key(known) for known in self.shared.names()}:
            raise _taken(name)
        voice = f"voice_{secrets.token_urlsafe(12)}"
        folder = self.store.voices / voice
        for upload, clip in zip(uploads, measured, strict=True):
            with atomic_file(folder / clip["file"]) as file:
                file.write(upload.content)
        try:
            return self._insert(voice, owner, name, measured)
        except BaseException:
            self.store.remove_folder(folder)
            raise

    def remove(self, owner: str, voice: str) -> None:
        """Removed means removed: lines that still name it fail.

        Raises:
            ApiError: no such voice of this client.
        """
        with self.store.transaction() as db:
            found = db.execute("DELETE FROM voices WHERE owner = ? AND id = ?", (owner, voice)).rowcount
        if not found:
            raise ApiError(404, "unknown_voice", f"You have no voice {voice!r}; GET /v1/audio/voices lists.")
        self.store.remove_folder(self.store.voices / voice)

    def _brought(self, owner: str) -> list[str]:
        return self.settings.guests.names(owner) if self.settings.guests else []

    def _insert(self, voice: str, owner: str, name: str, clips: Sequence[Mapping[str, Any]]) -> VoiceInfo:
        with self.store.transaction() as db:
            kept = db.execute("SELECT COUNT(*) FROM voices WHERE owner = ?", (owner,)).fetchone()[0]
            if kept >= self.settings.client_voices:
                sentence = f"You have {count(kept, 'voice')}, which is the most; delete one first."
                raise ApiError(409, "too_many_voices", sentence)
            try:
                db.execute(
                    "INSERT INTO voices (id, owner, name, key, clips, created) VALUES (?, ?, ?, ?, ?, ?)",
                    (voice, owner, name, _key(name), json.dumps(clips), time.time()),
                )
            except sqlite3.IntegrityError:
                raise _taken(name) from None
            return _info(db.execute("SELECT * FROM voices WHERE id = ?", (voice,)).fetchone())


@dataclass(frozen=True, slots=True)
class ClientVoices:
    """See :class:`zonos.voices.VoiceSource`."""

    voices: Voices
    owner: str

    def clips(self, name: str) -> list[Path]:
        """Own voices first, then the shared ones; an operator's other names for them last."""
        name = name.strip()
        own = self.voices.find(self.owner, name)
        if own is not None:
            return own
        try:
            return self.voices.shared.clips(name)
        except LineError:
            other = self.voices.settings.aliases.get(name)
            if other is not None:
                return self.voices.shared.clips(other)
            known = ", ".join(self.voices.names(self.owner)) or "none yet"
            sentence = f"There is no voice {name!r}; use one of: {known}."
            if name.lower() in _OPENAI:
                sentence += f" `python -m zonos serve --alias {name}=NAME` takes it for one of them."
            raise LineError("unknown_voice", sentence) from None


def _key(name: str) -> str:
    return " ".join(name.split()).casefold()


def _taken(name: str) -> ApiError:
    return ApiError(
        409, "voice_exists", f"There is a voice {name!r} already; choose another name.", param="name"
    )


def _voice_name(name: str) -> str:
    clean = " ".join("".join(c if c.isprintable() else " " for c in name).split())[:MAX_NAME].strip()
    if not clean:
        raise ApiError(400, "invalid_request", "Give the voice a name.", param="name")
    return clean


def _measured(upload: Upload) -> dict[str, Any]:
    """Read a clip once, to see that it is sound.

    Raises:
        LineError: it is not.
    """
    title = Path(upload.title.replace("\\", "/")).name[:200] or "clip"
    numbers = report(read_clip(upload.content, title))
    suffix = Path(title).suffix.lower()
    suffix = suffix if suffix in CLIP_SUFFIXES else ".clip"
    kept = {k: v for k, v in asdict(numbers).items() if not isinstance(v, float) or isfinite(v)}
    return {"file": f"{secrets.token_hex(8)}{suffix}", "title": title, **kept}


def _info(row: sqlite3.Row) -> VoiceInfo:
    clips = [ClipInfo.model_validate(clip) for clip in json.loads(row["clips"])]
    return VoiceInfo(id=row["id"], name=row["name"], shared=False, created=row["created"], clips=clips)
