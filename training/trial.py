"""A checkpoint put on trial through the product's own engine: each function measures one row of the table."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch

import zonos
from training.listen import SpeakerEar, Whisper, comparable, error_rate
from training.phonemes import phonemes_of
from training.speakers import NAMED, Manner, Speaker, draw_speaker
from training.teacher import SAMPLE_RATE, Teacher
from zonos.events import Done, Failed, Speech
from zonos.line import PRESETS, Line
from zonos.text.tokens import count_phonemes

EMOTIONS = ("happy", "sad", "disgusted", "afraid", "surprised", "angry")
_SILENT = 0.003  # root mean square of a line that says nothing
_RUN_ON = 2.0  # times the longest expected length
UNSEEN_SEED = 424_242  # the data draws its voices from other generators
Recording = tuple[np.ndarray, int]
Ear = Callable[[np.ndarray, int], str]


@dataclass
class Tally:
    """What all lines of a trial add up to."""

    lines: int = 0
    run_on: int = 0
    silent: int = 0
    retried: int = 0
    failed: list[str] = field(default_factory=list)
    speech: float = 0.0
    wall: float = 0.0
    cpu: float = 0.0


class Stage:
    """Speaks lists of lines and keeps the tally.

    Args:
        model: what ``zonos.load`` takes.
        voices: folders of clips.
        slots: rows at once.
    """

    def __init__(self, model: str, voices: Sequence[Path], slots: int = 8) -> None:
        self.source = zonos.VoiceFolder(list(voices), allow_paths=True)
        self.engine = zonos.load(model, slots=slots, voices=self.source, device="cpu")
        self.tally = Tally()

    def speak(self, lines: Sequence[Line], timed: bool = False) -> list[Recording | None]:
        """Recordings in the order of the lines; None where a line failed. Seeds are the lines' places."""
        lines = [
            line.model_copy(update={"id": str(i), "seed": line.seed or i + 1}) for i, line in enumerate(lines)
        ]
        found: dict[str, Recording] = {}
        wall, cpu = time.perf_counter(), time.process_time()
        for event in self.engine.submit(lines):
            if isinstance(event, Done):
                found[event.line] = (event.speech.samples, event.speech.sample_rate)
                self._count(event.speech, timed)
            elif isinstance(event, Failed):
                self.tally.lines += 1
                self.tally.failed.append(f"{event.line}: {event.reason}")
        if timed:
            self.tally.wall += time.perf_counter() - wall
            self.tally.cpu += time.process_time() - cpu
        return [found.get(str(line.id)) for line in lines]

    def _count(self, speech: Speech, timed: bool) -> None:
        given = sum(piece["prefix_frames"] for piece in speech.recipe["pieces"])  # said by a clip before it
        letters = count_phonemes(speech.recipe["phonemes"])
        pace = self.engine.pipeline.codec.frame_rate / float(speech.recipe["line"]["speaking_rate"])
        expected = 0.7 + (letters - given / pace) / 9.0  # seconds of a slow reading
        self.tally.lines += 1
        self.tally.run_on += speech.ended != "eos" or speech.seconds > _RUN_ON * expected
        self.tally.retried += sum(bool(piece["retried_seeds"]) for piece in speech.recipe["pieces"])
        self.tally.silent += bool(len(speech.samples) == 0 or np.sqrt(np.mean(speech.samples**2)) < _SILENT)
        self.tally.speech += speech.seconds if timed else 0.0

    def close(self) -> None:
        """Stop the engine."""
        self.engine.close()


def heard_errors(
    stage: Stage, whisper: Whisper, texts: Sequence[str], voice: str, timed: bool = False
) -> float:
    """Word error rate of one voice at the checkpoint's defaults."""
    said = stage.speak([Line(text=text, voice=voice) for text in texts], timed)
    return error_rate(texts, [whisper(*recording) if recording else "" for recording in said])


def one_word(stage: Stage, whisper: Whisper, texts: Sequence[str], voice: str) -> int:
    """How many one-word lines are heard as written, nothing more and nothing less."""
    said = stage.speak([Line(text=text, voice=voice) for text in texts])
    heard = [whisper(*recording) if recording else "" for recording in said]
    return sum(comparable(t) == comparable(h) for t, h in zip(texts, heard, strict=True))


def continued(
    stage: Stage, whisper: Whisper, clips: dict[str, Path], said: str, texts: Sequence[str]
) -> tuple[float, float]:
    """Word error rates of texts that go on from each voice's own clip, its words given and not given."""
    rates = []
    for words in (said, None):
        lines = [
            Line(text=text, voice=name, prefix_audio=str(path), prefix_text=words)
            for name, path in clips.items()
            for text in texts
        ]
        heard = [whisper(*recording) if recording else "" for recording in stage.speak(lines)]
        rates.append(error_rate([str(line.text) for line in lines], heard))
    return rates[0], rates[1]


def resynthesis(
    stage: Stage, ears: dict[str, Ear], texts: Sequence[str], speaker: Speaker = NAMED[0]
) -> dict[str, float]:
    """Word error rates of the teacher's own recordings of a voice, and of those sent through the codec."""
    teacher, codec = Teacher(), stage.engine.pipeline.codec
    rng = np.random.default_rng(0)
    real = [teacher.speak(p, speaker, Manner(), Manner(), rng).wav for p in phonemes_of(texts)]
    coded = [codec.decode(codec.encode(torch.from_numpy(w)[None]), seed=1).numpy() for w in real]
    return {
        f"{name}, {ear_name}": error_rate(texts, [ear(wav, SAMPLE_RATE) for wav in wavs])
        for name, wavs in (("recording", real), ("codec", coded))
        for ear_name, ear in ears.items()
    }


def nearest(stage: Stage, ear: SpeakerEar, clips: dict[str, Path], texts: Sequence[str]) -> dict[str, float]:
    """For each voice: cosine to its own clip minus the best cosine to another voice's clip."""
    from zonos.audio.read import read_bytes, read_clip

    targets = {}
    for name, path in clips.items():
        clip = read_clip(read_bytes(path), path.name)
        targets[name] = ear(clip.mono, clip.sample_rate)
    margins = {}
    for name, path in clips.items():
        said = stage.speak([Line(text=text, voice=str(path)) for text in texts])
        vectors = [ear(*recording) for recording in said if recording]
        mean = np.mean(vectors, axis=0)
        score = {other: float(mean @ target) for other, target in targets.items()}
        margins[name] = score[name] - max(s for other, s in score.items() if other != name)
    return margins


def unseen_clips(folder: Path, texts: Sequence[str], count: int = 10) -> dict[str, Path]:
    """Clips of voices that are not in the data, made by the teacher."""
    rng, teacher = np.random.default_rng(UNSEEN_SEED), Teacher()
    return {
        speaker.name: record_clip(folder, teacher, speaker, texts)
        for speaker in (draw_speaker(rng, f"unseen-{i}") for i in range(count))
    }


def record_clip(folder: Path, teacher: Teacher, speaker: Speaker, texts: Sequence[str]) -> Path:
    """One clip of a voice in a plain manner, sentences half a second apart, as 24 kHz wav."""
    import soundfile

    rng = np.random.default_rng(1)
    gap = np.zeros(SAMPLE_RATE // 4, np.float32)
    parts = [
        part
        for p in phonemes_of(texts)
        for part in (teacher.speak(p, speaker, Manner(), Manner(), rng).wav, gap)
    ]
    path = folder / f"{speaker.name}.wav"
    soundfile.write(path, np.concatenate(parts[:-1]), SAMPLE_RATE)
    return path


def manners(stage: Stage, texts: Sequence[str], voice: str) -> dict[str, dict[str, float]]:
    """Pitch, its spread, length and level of neutral and the six emotions."""
    found = {}
    for emotion in ("neutral", *EMOTIONS):
        said = stage.speak([Line(text=text, voice=voice, emotion=PRESETS[emotion]) for text in texts])
        found[emotion] = measure([r for r in said if r])
    return found


def rates(stage: Stage, texts: Sequence[str], voice: str, values: Sequence[float]) -> dict[float, float]:
    """Total seconds at each speaking rate."""
    return {
        v: _seconds(stage.speak([Line(text=t, voice=voice, speaking_rate=v) for t in texts])) for v in values
    }


def spreads(stage: Stage, texts: Sequence[str], voice: str, values: Sequence[float]) -> dict[float, float]:
    """Measured standard deviation of pitch in Hz at each pitch_std."""
    return {
        v: measure([r for r in stage.speak([Line(text=t, voice=voice, pitch_std=v) for t in texts]) if r])[
            "f0 std"
        ]
        for v in values
    }


def _seconds(said: Sequence[Recording | None]) -> float:
    return float(sum(len(r[0]) / r[1] for r in said if r))


def measure(said: Sequence[Recording]) -> dict[str, float]:
    """Means over recordings: pitch and its standard deviation in Hz, seconds in all, level in dB."""
    pitches = [pitch_of(*r) for r in said]
    voiced = [p for p in pitches if len(p) > 3]
    levels = [20 * np.log10(np.sqrt(np.mean(w**2)) + 1e-6) for w, _ in said]
    return {
        "f0": float(np.mean([np.median(p) for p in voiced])) if voiced else 0.0,
        "f0 std": float(np.mean([p.std() for p in voiced])) if voiced else 0.0,
        "seconds": _seconds(said),
        "level": float(np.mean(levels)),
    }


def pitch_of(wav: np.ndarray, rate: int) -> np.ndarray:
    """Pitch in Hz of the clearly voiced frames, by YIN, outliers of an octave removed."""
    import librosa

    f0 = librosa.yin(wav, fmin=60, fmax=500, sr=rate, frame_length=2048, hop_length=256)
    level = librosa.feature.rms(y=wav, frame_length=1024, hop_length=256)[0][: len(f0)]
    kept = f0[: len(level)][level > 0.3 * level.max()]
    middle = np.median(kept)
    return np.asarray(kept[np.abs(np.log2(kept / middle)) < 0.8])
