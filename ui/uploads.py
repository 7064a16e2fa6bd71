"""Files that a browser sends: copied under names of our own, read once to see that they are sound."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import BinaryIO

from ui import library, projects
from ui.store import Store
from zonos.errors import LineError

LEAST_SOUND_SECONDS = 0.5


def add_clip(
    store: Store, token: str, file: BinaryIO, title: str, name: str, *, consent: bool, join: bool
) -> tuple[str, str]:
    """Put a clip into a voice.

    Args:
        store: where voices live.
        token: of a project on the shelf that gets the voice.
        file: the clip's content.
        title: what the browser calls the file; shown, never opened.
        name: of the voice; from the title when empty.
        consent: the producer may use this voice.
        join: a voice of that name gets one more clip; else a new voice gets a free name.

    Returns:
        The voice's name and a sentence about the clip.

    Raises:
        VoiceError: the clip cannot be read or used.
        UnknownProject: no such project.
    """
    if not consent:
        raise library.VoiceError("Tick that you may use this voice first.")
    with store.transaction() as db:
        shelf = projects.get(db, token).shelf
    with _scratch(store, file, title) as path:
        clip = examined(path, title)
        with store.transaction() as db:
            wanted = name or Path(title).stem or "Voice"
            if not join:
                wanted = library.free_name(db, shelf, wanted)
            voice = library.add(store, shelf, wanted, [clip], consent=True)
    return voice, " ".join([f"Voice “{voice}” is ready.", *clip.report["advice"]])


def examined(path: Path, title: str) -> library.Clip:
    """Read a clip and describe it.

    Raises:
        VoiceError: unreadable, or nothing that a voice can be made of.
    """
    from zonos.audio.read import read_clip
    from zonos.audio.report import report

    try:
        found = asdict(report(read_clip(path, title)))
    except LineError as error:
        raise library.VoiceError(error.reason) from error
    if found["sound_seconds"] < LEAST_SOUND_SECONDS:
        raise library.VoiceError(
            f"The clip {title!r} holds {found['sound_seconds']:.1f} s of sound; "
            f"a voice needs at least {LEAST_SOUND_SECONDS} s, better 10 to 30 s."
        )
    finite = {name: None if value in (inf, -inf) else value for name, value in found.items()}
    return library.Clip(path, Path(title).name[:200], finite)


@contextmanager
def _scratch(store: Store, file: BinaryIO, title: str) -> Iterator[Path]:
    path = store.scratch / f"{uuid.uuid4().hex}{library.safe_suffix(title)}"
    try:
        with path.open("wb") as target:
            shutil.copyfileobj(file, target)
        yield path
    finally:
        path.unlink(missing_ok=True)
