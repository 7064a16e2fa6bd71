"""Audio of an export that runs over all lines: the joined file and one track a voice, written as it comes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np

from ui.export_plan import Item, Options
from zonos.names import file_name

NO_VOICE = "no voice"


def load(path: Path, lufs: float | None) -> tuple[np.ndarray, int]:
    """A take's samples ``[n]``, at a loudness where one is asked for, and their rate."""
    import soundfile

    samples, rate = soundfile.read(path, dtype="float32")
    if lufs is not None:
        from zonos.audio.edit import normalise_loudness

        samples = normalise_loudness(samples, rate, lufs)
    return samples, int(rate)


class Reel:
    """Open files for the joined sound and for each voice's track, all equally long at every moment.

    Args:
        folder: for the files; made here.
        items: all lines, for voices and the rate (that of the first take).
        options: which of them are wanted, and the format.
    """

    FOLDER = "joined"

    def __init__(self, folder: Path, items: Sequence[Item], options: Options) -> None:
        from zonos.audio.write import format_named

        self.folder = folder
        self.kind = format_named(options.format)
        self.rate = self.kind.rate_for(int(items[0].take["sample_rate"])) if items else 0
        self.written = 0
        self._open = ExitStack()
        self._joined: list[Any] = []
        self._tracks: dict[str, Any] = {}
        folder.mkdir()
        taken: set[str] = set()
        if items and options.joined:
            self._joined.append(self._file("all", taken))
        if items and options.tracks:
            voices = dict.fromkeys(item.row.line.voice or NO_VOICE for item in items)
            self._tracks = {voice: self._file(voice, taken) for voice in voices}

    def __enter__(self) -> Reel:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    @staticmethod
    def suffix(format: str) -> str:
        """Of files in a format, with the dot."""
        from zonos.audio.write import format_named

        return format_named(format).suffix

    @staticmethod
    def remove(folder: Path) -> None:
        """Delete the working folder."""
        shutil.rmtree(folder, ignore_errors=True)

    def add(self, item: Item, samples: np.ndarray, rate: int) -> None:
        """Silence up to the line's start, then the line: in its voice's track, silence in the others."""
        if not self._joined and not self._tracks:
            return
        from zonos.audio.edit import limit
        from zonos.audio.resample import resample

        samples = limit(resample(samples, rate, self.rate), self.rate)
        gap = max(0, round(item.start * self.rate) - self.written)
        self.written += gap + len(samples)
        silence = np.zeros(gap, np.float32)
        own = self._tracks.get(item.row.line.voice or NO_VOICE)
        for file in (*self._joined, *self._tracks.values()):
            file.write(silence)
            file.write(samples if file is own or file in self._joined else np.zeros_like(samples))

    def files(self) -> list[Path]:
        """The finished files."""
        return sorted(self.folder.iterdir())

    def _file(self, name: str, taken: set[str]) -> Any:
        import soundfile

        assert self.kind.coder is not None, "the page offers formats that libsndfile writes"
        container, subtype = self.kind.coder
        path = self.folder / file_name(name, taken, suffix=self.kind.suffix)
        sound = soundfile.SoundFile(path, "w", self.rate, 1, subtype, format=container)
        return self._open.enter_context(sound)
