"""`python -m training data`: shards of utterances, resumable, several workers."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from training.config import Config, DataConfig
from training.phonemes import phonemes_of
from training.speakers import NAMED, Speaker, draw_emotion, draw_jitter, draw_speaker, manner_of
from training.teacher import SAMPLE_RATE, Teacher
from training.texts import Writer


def run(config: Config) -> None:
    """Make every shard that is not there yet; safe to stop at any time and to start again."""
    folder = config.runs / "data"
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [i for i in range(config.data.shards) if not shard_path(folder, i).exists()]
    print(f"data: {len(wanted)} of {config.data.shards} shards to make in {folder}", flush=True)
    jobs = [(config.data, config.seed, folder, index) for index in wanted]
    started, seconds = time.time(), 0.0
    with get_context("spawn").Pool(config.data.workers) as pool:
        for done, made in enumerate(pool.imap_unordered(_make, jobs), 1):
            seconds += made
            spent = time.time() - started
            left = spent / done * (len(jobs) - done)
            print(
                f"data: shard {done} of {len(jobs)}, {seconds / 3600:.2f} h of speech, {left / 60:.0f} min left",
                flush=True,
            )


def shard_path(folder: Path, index: int) -> Path:
    """Where a shard lies; it holds arrays ``wav`` int16, ``pitch`` and ``times`` float32, all joined, and ``meta``."""
    return folder / f"shard-{index:04d}.npz"


_workers: dict[str, Any] = {}


def _make(job: tuple[DataConfig, int, Path, int]) -> float:
    """Make one shard; returns its seconds of speech."""
    data, seed, folder, index = job
    if not _workers:  # once a process: the network and the word lists take a second to load
        _workers.update(teacher=Teacher(), writer=Writer())
    rng = np.random.default_rng((seed, index))
    return write_shard(shard_path(folder, index), *make_utterances(data, index, rng, **_workers))


def make_utterances(
    data: DataConfig, shard: int, rng: np.random.Generator, teacher: Teacher, writer: Writer
) -> tuple[list[dict[str, Any]], list[np.ndarray], list[np.ndarray], list[np.ndarray]]:
    """One shard's utterances: their descriptions, wavs, pitch curves and phoneme times."""
    texts = [writer.draw(rng) for _ in range(data.shard_size)]
    meta: list[dict[str, Any]] = []
    wavs, pitches, times = [], [], []
    for text, phonemes, speaker in zip(texts, phonemes_of(texts), _cast(data, shard, rng), strict=True):
        emotion = draw_emotion(rng)
        if not phonemes:
            continue
        said = teacher.speak(phonemes, speaker, manner_of(emotion), draw_jitter(rng), rng)
        if not 0.3 <= len(said.wav) / SAMPLE_RATE <= data.max_seconds:
            continue
        meta.append(
            {
                "text": text,
                "phonemes": phonemes,
                "speaker": speaker.name,
                "emotion": [round(e, 4) for e in emotion],
                "pitch_std": round(said.pitch_std, 2),
                "speaking_rate": round(said.rate, 2),
                "voice": asdict(speaker) if speaker not in NAMED else None,
            }
        )
        wavs.append(said.wav)
        pitches.append(said.pitch)
        times.append(said.times)
    return meta, wavs, pitches, times


def _cast(data: DataConfig, shard: int, rng: np.random.Generator) -> Sequence[Speaker]:
    """Who speaks each utterance: the named voices, and unnamed ones that live in one shard only."""
    others = round(data.shard_size * (1 - data.named_share))
    count = -(-others // data.utterances_per_pool_speaker)
    pool = [draw_speaker(rng, f"pool-{shard:04d}-{i:02d}") for i in range(count)]
    named = rng.integers(len(NAMED), size=data.shard_size - others)
    cast = [NAMED[i] for i in named] + [pool[i % count] for i in range(others)]
    return [cast[i] for i in rng.permutation(len(cast))]


def write_shard(
    path: Path,
    meta: list[dict[str, Any]],
    wavs: list[np.ndarray],
    pitches: list[np.ndarray],
    times: list[np.ndarray],
) -> float:
    """Write one shard whole or not at all; returns its seconds of speech."""
    for item, wav, pitch, time_ in zip(meta, wavs, pitches, times, strict=True):
        item.update(samples=len(wav), hops=len(pitch), characters=len(time_))
    part = path.with_suffix(".part")
    with part.open("wb") as file:
        np.savez(
            file,
            wav=np.rint(np.concatenate(wavs) * 32767).astype(np.int16),
            pitch=np.concatenate(pitches).astype(np.float32),
            times=np.concatenate(times).astype(np.float32),
            meta=np.frombuffer(json.dumps(meta).encode(), np.uint8),
        )
    part.replace(path)
    return float(sum(map(len, wavs)) / SAMPLE_RATE)


class Shard:
    """One shard opened: ``meta[i]``, ``wav(i)`` float32, ``pitch(i)``, ``times(i)``."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as file:
            self._wav, self._pitch, self._times = file["wav"], file["pitch"], file["times"]
            self.meta: list[dict[str, Any]] = json.loads(file["meta"].tobytes())
        self._ends = {
            key: np.cumsum([0, *(m[key] for m in self.meta)]) for key in ("samples", "hops", "characters")
        }

    def __len__(self) -> int:
        return len(self.meta)

    def wav(self, index: int) -> np.ndarray:
        """float32 [samples] at 24 kHz."""
        return self._cut(self._wav, "samples", index).astype(np.float32) / 32767

    def pitch(self, index: int) -> np.ndarray:
        """float32 [hops of 300 samples], Hz, 0 where unvoiced."""
        return self._cut(self._pitch, "hops", index)

    def times(self, index: int) -> np.ndarray:
        """float32 [characters of the phoneme string], seconds."""
        return self._cut(self._times, "characters", index)

    def _cut(self, joined: np.ndarray, key: str, index: int) -> np.ndarray:
        ends = self._ends[key]
        return joined[ends[index] : ends[index + 1]]
