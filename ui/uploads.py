"""Files that a browser sends: copied under names of our own, read once to see that they are sound."""

from __future__ import annotations

import shutil
import uuid
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any, BinaryIO

from ui import library, projects
from ui.store import Store
from zonos.errors import LineError

LEAST_SOUND_SECONDS = 0.5


def voice_from_upload(
    store: Store, token: str, file: BinaryIO, title: str, name: str, consent: bool
) -> dict[str, Any]:
    """Make a voice of one clip.

    Returns:
        ``name`` of the new voice and ``said``, a sentence about the clip.

    Raises:
        VoiceError: the clip cannot be read or used.
        UnknownProject: no such project.
    """
    if not consent:
        raise library.VoiceError("Tick that you may use this voice first.")
    with store.transaction() as db:
        shelf = projects.get(db, token).shelf
    path = store.scratch / f"{uuid.uuid4().hex}{library.safe_suffix(title)}"
    try:
        with path.open("wb") as target:
            shutil.copyfileobj(file, target)
        clip = examined(path, title)
        with store.transaction() as db:
            free = library.free_name(db, shelf, name or Path(title).stem or "Voice")
            voice = library.add(store, shelf, free, [clip], consent=consent)
    finally:
        path.unlink(missing_ok=True)
    return {"name": voice, "said": " ".join([f"Voice “{voice}” is ready.", *clip.report["advice"]])}


def examined(path: Path, title: str) -> library.Clip:
    """Read a clip and describe it.

    Raises:
        VoiceError: unreadable, or nothing that a voice can be made of.
    """
    from zonos.audio_read import read_clip
    from zonos.audio_report import report

    try:
        found = asdict(report(read_clip(path, title)))
    except LineError as error:
        raise library.VoiceError(error.reason) from error
    if found["sound_seconds"] < LEAST_SOUND_SECONDS:
        raise library.VoiceError(
            f"The clip {title!r} holds {found['sound_seconds']:.1f} s of sound; "
            f"a voice needs at least {LEAST_SOUND_SECONDS} s, better 10 to 30."
        )
    finite = {name: None if value in (inf, -inf) else value for name, value in found.items()}
    return library.Clip(path, Path(title).name[:200], finite)
