"""Where a voice's name leads: to the clips that a speaker vector is made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from zonos.errors import LineError

CLIP_SUFFIXES = frozenset(
    {
        ".wav",
        ".flac",
        ".mp3",
        ".ogg",
        ".opus",
        ".oga",
        ".m4a",
        ".aac",
        ".mp4",
        ".webm",
        ".aiff",
        ".aif",
        ".mka",
    }
)


class VoiceSource(Protocol):
    """Anything that knows voices by name."""

    def clips(self, name: str) -> list[Path]:
        """Clips of a voice; several are averaged.

        Raises:
            LineError: ``unknown_voice``, with the names that exist.
        """
        ...


class VoiceFolder:
    """Voices as files: ``folder/name.wav`` is a voice, ``folder/name/*.wav`` one of several clips.

    Args:
        folders: looked through in order.
        allow_paths: a name that is an existing file or folder is taken as such. For the command
            line only: a server must never open a path that came in a request.
    """

    def __init__(self, folders: Iterable[Path], *, allow_paths: bool = False) -> None:
        self.folders = [Path(folder) for folder in folders]
        self.allow_paths = allow_paths

    def names(self) -> list[str]:
        """Names of all voices, sorted."""
        return sorted({entry.stem for folder in self.folders for entry in _entries(folder)}, key=str.casefold)

    def clips(self, name: str) -> list[Path]:
        """See :class:`VoiceSource`."""
        wanted = name.strip().casefold()
        for folder in self.folders:
            for entry in _entries(folder):
                if wanted in (entry.stem.casefold(), entry.name.casefold()):
                    return _clips_of(entry)
        if self.allow_paths and (path := Path(name).expanduser()).exists():
            return _clips_of(path)
        known = ", ".join(self.names()) or "none yet"
        also = "a file's path, " if self.allow_paths else ""
        raise LineError("unknown_voice", f"There is no voice {name!r}; use {also}one of: {known}.")


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_dir() or p.suffix.lower() in CLIP_SUFFIXES)


def _clips_of(entry: Path) -> list[Path]:
    if entry.is_file():
        return [entry]
    clips = sorted(p for p in entry.iterdir() if p.suffix.lower() in CLIP_SUFFIXES)
    if not clips:
        raise LineError("unreadable_clip", f"The folder {entry.name!r} holds no audio clip.")
    return clips
