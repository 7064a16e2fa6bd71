"""Takes as files: what each is called, which are there already, how they are written and joined."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from zonos.cli.lines import BadRow, Job
from zonos.cli.manifest import Entry, Manifest
from zonos.errors import LineError
from zonos.line import PRESETS, Emotion, Line
from zonos.names import file_name, fill, key, safe_name
from zonos.request import take_seed
from zonos.voices import VoiceSource

if TYPE_CHECKING:
    from zonos.events import Speech


@dataclass(frozen=True)
class Sound:
    """How finished samples are stored."""

    format: str  # see zonos.audio.write.FORMATS
    loudness: float | None = None  # LUFS
    trim: bool = False

    def finish(self, samples: np.ndarray, sample_rate: int) -> np.ndarray:
        """Samples ``[n]`` trimmed and brought to the loudness that was asked for."""
        from zonos.audio import fade, normalise_loudness, trim_silence

        if self.trim:
            samples = fade(trim_silence(samples, sample_rate), sample_rate)
        if self.loudness is not None:
            samples = normalise_loudness(samples, sample_rate, self.loudness)
        return samples

    @property
    def suffix(self) -> str:
        """Of files, with the dot."""
        from zonos.audio import format_named

        return format_named(self.format).suffix


@dataclass(frozen=True)
class Planned:
    """One take: what is to be made, and the file it goes to."""

    job: Job
    take: int  # from 0
    seed: int  # of the line
    recipe: str  # fingerprint of everything that decides how it sounds and what its file is called
    file: str = ""
    kept: Entry | None = None  # of an earlier run, whose file is still there

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return Path(self.file).stem


class Recipes:
    """Fingerprints of takes: equal where the same would be made again.

    Args:
        model: as asked for.
        sound: how takes are stored.
        voices: clips count by their content, so a clip that was replaced makes another recipe.
        template: of file names.
    """

    def __init__(self, model: str, sound: Sound, voices: VoiceSource, template: str) -> None:
        self._shared = [model, sound.format, sound.loudness, sound.trim, template]
        self._voices = voices
        self._clips = cache(self._read_clips)

    def of(self, line: Line, take: int) -> str:
        """The fingerprint of one take (from 0) of a line as it was asked for."""
        said = line.model_dump(mode="json", exclude={"takes"})
        clips = [self._clips(name) for name in (line.voice, line.prefix_audio) if name]
        return _digest(json.dumps([said, take, self._shared, clips], sort_keys=True).encode())

    def _read_clips(self, name: str) -> list[str]:
        try:
            return [_digest(path.read_bytes()) for path in self._voices.clips(name)]
        except (LineError, OSError):
            return []  # the line fails for that reason and says so


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def plan(
    jobs: Iterable[Job], seeds: Iterable[int], recipes: Recipes, manifest: Manifest, *, resume: bool
) -> list[Planned]:
    """Takes of all jobs; with ``resume``, those that are there already are kept as they are."""
    finished: dict[str, list[Entry]] = defaultdict(list)
    if resume:
        for entry in manifest.entries():
            if entry.get("status") == "done" and (manifest.folder / str(entry.get("file"))).is_file():
                finished[str(entry.get("fingerprint"))].append(entry)
    planned = []
    for job, seed in zip(jobs, seeds, strict=True):
        for take in range(job.line.takes):
            recipe = recipes.of(job.line, take)
            kept = finished[recipe].pop(0) if finished[recipe] else None
            planned.append(Planned(job, take, seed, recipe, str(kept["file"]) if kept else "", kept))
    return planned


def give_names(planned: Iterable[Planned], manifest: Manifest, suffix: str, template: str) -> list[Planned]:
    """The same takes, each with a file name of its own.

    A file of an earlier run may be replaced; one that this program did not write never is.
    """
    planned = list(planned)
    ours = {key(str(entry.get("file"))) for entry in manifest.entries()}
    taken = {key(path.name) for path in manifest.folder.iterdir()} - ours
    taken |= {key(one.file) for one in planned if one.kept}
    return [
        one if one.kept else replace(one, file=file_name(_stem(one, template), taken, suffix=suffix))
        for one in planned
    ]


def replaced(planned: Iterable[Planned], folder: Path) -> list[str]:
    """Files of an earlier run that these takes will replace."""
    return [one.file for one in planned if not one.kept and (folder / one.file).exists()]


def bad_row_name(row: BadRow) -> str:
    """What a row that is no line goes by in the manifest."""
    named = next((value for name, value in row.raw.items() if name.casefold() == "name"), "")
    return safe_name(named or row.place.stem)


def _stem(planned: Planned, template: str) -> str:
    line, place = planned.job.line, planned.job.place
    name = line.name or line.id or place.stem
    stem = name
    if template:
        values = {
            "n": planned.job.number,
            "name": name,
            "voice": Path(line.voice or "").stem,
            "language": line.language,
            "emotion": _emotion_name(line.emotion),
            "text": line.text,
            "take": planned.take + 1,
            "seed": take_seed(planned.seed, planned.take),
            "project": Path(place.script).stem,
        }
        stem = fill(template, values) or name
    if line.takes > 1 and "{take" not in template:
        stem += f" take {planned.take + 1}"
    return stem


def _emotion_name(emotion: Any) -> str:
    if not isinstance(emotion, Emotion):
        return str(emotion or "")
    preset = next((name for name, mix in PRESETS.items() if mix == emotion), None)
    weights = emotion.model_dump()
    return preset or " ".join(sorted((n for n in weights if weights[n]), key=lambda n: -weights[n]))


def write_take(folder: Path, planned: Planned, speech: Speech, sound: Sound) -> Entry:
    """Write a take's file, whole or not at all, and describe it for the manifest.

    Raises:
        NotWrittenError: the disk refused; as text, a sentence for people.
    """
    from zonos.audio import write_audio

    samples = sound.finish(speech.samples, speech.sample_rate)
    write_audio(folder / planned.file, samples, speech.sample_rate, sound.format)
    return {
        **_about(planned, sound),
        "status": "done",
        "file": planned.file,
        "ended": speech.ended,
        "seconds": round(len(samples) / speech.sample_rate, 3),
        "sample_rate": speech.sample_rate,
        "seed": speech.seed,
        "model": speech.recipe["model"],
        "phonemes": speech.recipe["phonemes"],
        "warnings": list(speech.warnings),
        "loudness": sound.loudness,
        "trim": sound.trim,
        "fingerprint": planned.recipe,
        "recipe": {**speech.recipe, "line": {**speech.recipe["line"], "id": planned.job.line.id}},
    }


def failed_take(planned: Planned, sound: Sound, code: str, reason: str) -> Entry:
    """The manifest's entry of a take that was not made."""
    asked = planned.job.line.model_dump(mode="json", exclude_none=True)
    failure = {"status": "failed", "file": None, "code": code, "reason": reason}
    return {**_about(planned, sound), **failure, "seed": take_seed(planned.seed, planned.take), "line": asked}


def failed_row(row: BadRow, sound: Sound) -> Entry:
    """The manifest's entry of a row that is no line."""
    place = {"script": row.place.script, "row": row.place.row}
    failure = {"status": "failed", "file": None, "code": "bad_row", "reason": row.reason}
    return {"name": bad_row_name(row), "format": sound.format, **place, **failure, "raw": dict(row.raw)}


def _about(planned: Planned, sound: Sound) -> Entry:
    job = planned.job
    return {
        "name": planned.name,
        "format": sound.format,
        "id": job.line.id,
        "script": job.place.script,
        "row": job.place.row,
        "take": planned.take + 1,
        "text": job.line.text,
    }


def join_files(files: Sequence[Path], target: Path, gap: float, format: str) -> float:
    """Write takes one after the other into one file; returns its seconds.

    Args:
        files: in order; at least one.
        target: the joined file.
        gap: seconds of silence between two.
        format: of the joined file.

    Raises:
        NotWrittenError: the disk refused.
        LineError: one of the files cannot be read any more.
    """
    from zonos.audio import join, resample, write_audio

    rate = 0
    parts = []
    for file in files:
        samples, own_rate = _read_back(file)
        rate = rate or own_rate
        parts.append((resample(samples, own_rate, rate), gap))
    parts[-1] = (parts[-1][0], 0.0)
    # Lines of different speakers keep their own levels: a whisper stays one.
    joined = join(parts, rate, match=False)
    write_audio(target, joined, rate, format)
    return len(joined) / rate


def _read_back(file: Path) -> tuple[np.ndarray, int]:
    """Samples ``[n]`` of a take's file, however long, and their rate."""
    import soundfile

    from zonos.audio import read_clip

    try:
        samples, rate = soundfile.read(file, dtype="float32", always_2d=True)
    except soundfile.LibsndfileError:  # aac is not for libsndfile
        clip = read_clip(file)
        if clip.warnings:
            raise LineError("unreadable_take", f"{file.name!r} was not read whole.") from None
        return clip.mono, clip.sample_rate
    return samples.mean(axis=1), rate
