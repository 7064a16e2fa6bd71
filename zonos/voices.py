"""Where a voice's name leads: to the clips that a speaker vector is made from."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from zonos.errors import LineError

SAMPLE_VOICES = Path(__file__).resolve().parent.parent / "examples" / "voices"
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
        if self.allow_paths and (path := existing(name)) is not None:
            return _clips_of(path)
        known = ", ".join(self.names()) or "none yet"
        also = "a file's path or " if self.allow_paths else ""
        shown = name if len(name) <= 80 else f"{name[:60]}…"
        raise LineError("unknown_voice", f"There is no voice {shown!r}; use {also}one of: {known}.")


def existing(name: str) -> Path | None:
    """The file or folder of that path, None where there is none or no path can be so written."""
    try:
        path = Path(name).expanduser()
        return path if path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, the home of nobody, a zero byte
        return None


def _entries(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    return sorted(p for p in folder.iterdir() if p.is_dir() or p.suffix.lower() in CLIP_SUFFIXES)


def _clips_of(entry: Path) -> list[Path]:
    if entry.is_file():
        return [entry]
    if not entry.is_dir():
        raise LineError("unreadable_clip", f"{entry.name!r} is neither a file nor a folder of clips.")
    try:
        clips = sorted(p for p in entry.iterdir() if p.suffix.lower() in CLIP_SUFFIXES)
    except OSError as error:
        reason = f"The folder {entry.name!r} cannot be read: {error.strerror or error}."
        raise LineError("unreadable_clip", reason) from error
    if not clips:
        raise LineError("unreadable_clip", f"The folder {entry.name or str(entry)!r} holds no audio clip.")
    return clips
