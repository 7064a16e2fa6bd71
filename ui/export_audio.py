"""Audio of an export that runs over all lines: the joined file and one track a voice, written as it comes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ui.export_plan import Item, Options
from ui.store import StorageError
from zonos.names import file_name

NO_VOICE = "no voice"


def load(path: Path, lufs: float | None, whose: str) -> tuple[np.ndarray, int]:
    """A take's samples ``[n]``, at a loudness where one is asked for, and their rate.

    Args:
        path: of its file.
        lufs: the loudness, or None.
        whose: take it is, for the sentence that says what is wrong with it.

    Raises:
        StorageError: the file is gone or damaged.
    """
    import soundfile

    try:
        samples, rate = soundfile.read(path, dtype="float32")
    except soundfile.LibsndfileError as error:
        raise StorageError(
            f"The file of {whose} cannot be read ({error.error_string.rstrip('.')}). "
            "Generate the line again, or star another take of it."
        ) from error
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
        with _written():
            if items and options.joined:
                self._joined.append(self._file("all", taken))
            if items and options.tracks:
                voices: dict[str, str] = {}  # as the first line of each spells it
                for item in items:
                    voices.setdefault(_track(item), item.line.voice or NO_VOICE)
                self._tracks = {track: self._file(voice, taken) for track, voice in voices.items()}

    def __enter__(self) -> Reel:
        return self

    def __exit__(self, *_: object) -> None:
        with _written():
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
        """Silence up to the line's start, then the line: in its voice's track, silence in the others.

        Raises:
            StorageError: the disk is full.
        """
        if not self._joined and not self._tracks:
            return
        from zonos.audio.edit import limit
        from zonos.audio.resample import resample

        samples = limit(resample(samples, rate, self.rate), self.rate)
        gap = max(0, round(item.start * self.rate) - self.written)
        self.written += gap + len(samples)
        silence = np.zeros(gap, np.float32)
        own = self._tracks.get(_track(item))
        with _written():
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


def _track(item: Item) -> str:
    """What lines of one voice share, however they spell it."""
    return (item.line.voice or "").casefold()


@contextmanager
def _written() -> Iterator[None]:
    """What soundfile makes of a full disk, as a sentence."""
    import soundfile

    try:
        yield
    # An encoder that writes less than it was given says nothing else.
    except (soundfile.LibsndfileError, AssertionError) as error:
        raise StorageError(
            "The joined file or a voice's track could not be written; the disk may be full. "
            "Nothing was changed; free some space and make the zip again."
        ) from error
