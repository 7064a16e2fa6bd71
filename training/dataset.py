"""The data as the model sees it: codes, tokens, conditions and voice vectors, cached shard by shard."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from training.data import Shard
from training.forward import Rows
from training.phonemes import LANGUAGE
from training.teacher import SAMPLE_RATE
from zonos.codebooks import delay
from zonos.codec.mini import MiniCodec
from zonos.config import ZonosConfig
from zonos.speaker import SpeakerEncoder
from zonos.text.languages import language_id
from zonos.text.tokens import tokenise

_REFERENCE_SECONDS = 5.0
_REFERENCES = 4  # clips of one voice in one shard, at most
CONDITIONS = {"speaker": 128, "emotion": 8, "fmax": 1, "pitch_std": 1, "speaking_rate": 1, "language_id": 1}


@dataclass(frozen=True)
class Item:
    """One utterance.

    Attributes:
        tokens: int64 [characters + 2].
        times: float32 [characters + 2], the middle of each token in seconds.
        codes: int16 [codebooks, frames].
        voices: float32 [n, 128]: vectors of other clips of its voice.
        emotion, pitch_std, speaking_rate: its conditions.
        opening: so many frames are given, not asked: a prefix clip's.
    """

    tokens: Tensor
    times: Tensor
    codes: Tensor
    voices: Tensor
    emotion: tuple[float, ...]
    pitch_std: float
    speaking_rate: float
    opening: int = 0

    @property
    def length(self) -> int:
        """Positions it takes: prefix and delayed frames."""
        return len(self.tokens) + len(CONDITIONS) + self.codes.shape[1] + self.codes.shape[0]


def load(data: Path, cache: Path, codec: MiniCodec, encoder: SpeakerEncoder, limit: int) -> list[Item]:
    """Items of the first ``limit`` shards; what is not in the cache is encoded and put there.

    A shard that is in the cache need not be there any more.
    """
    cache.mkdir(parents=True, exist_ok=True)
    items: list[Item] = []
    names = {path.stem for path in (*data.glob("shard-*.npz"), *cache.glob("shard-*.pt"))}
    for name in sorted(names)[:limit]:
        kept = cache / f"{name}.pt"
        if not kept.exists():
            part = kept.with_suffix(".part")
            torch.save(_encode(Shard(data / f"{name}.npz"), codec, encoder), part)
            part.replace(kept)
            print(f"model: encoded {name}", flush=True)
        items += read(kept)
    return items


def read(path: Path) -> list[Item]:
    """The items of one file of the cache."""
    return [Item(**fields) for fields in torch.load(path, weights_only=True)]


def _encode(shard: Shard, codec: MiniCodec, encoder: SpeakerEncoder) -> list[dict[str, Any]]:
    voices = _voices(shard, encoder)
    found = []
    for index, item in enumerate(shard.meta):
        others = [vector for vector, members in voices[item["speaker"]] if index not in members]
        if not others:
            continue
        times = shard.times(index)
        found.append(
            {
                "tokens": torch.tensor(tokenise(item["phonemes"])),
                "times": torch.from_numpy(np.concatenate([times[:1], times, times[-1:]])),
                "codes": codec.encode(torch.from_numpy(shard.wav(index))[None]).short(),
                "voices": torch.stack(others),
                "emotion": tuple(item["emotion"]),
                "pitch_std": item["pitch_std"],
                "speaking_rate": item["speaking_rate"],
            }
        )
    return found


def _voices(shard: Shard, encoder: SpeakerEncoder) -> dict[str, list[tuple[Tensor, frozenset[int]]]]:
    """For each voice of a shard some clips of a few utterances: their vectors, and which those were."""
    members: dict[str, list[int]] = {}
    for index, item in enumerate(shard.meta):
        members.setdefault(item["speaker"], []).append(index)
    return {
        name: [_clip(shard, encoder, group) for group in _groups(shard, indices)]
        for name, indices in members.items()
    }


def _groups(shard: Shard, indices: list[int]) -> list[list[int]]:
    groups: list[list[int]] = [[]]
    for index in indices:
        if sum(shard.meta[i]["samples"] for i in groups[-1]) >= _REFERENCE_SECONDS * SAMPLE_RATE:
            if len(groups) == _REFERENCES:
                break
            groups.append([])
        groups[-1].append(index)
    return [group for group in groups if group]


def _clip(shard: Shard, encoder: SpeakerEncoder, group: list[int]) -> tuple[Tensor, frozenset[int]]:
    wav = np.concatenate([shard.wav(index) for index in group])
    return encoder.embed(wav, SAMPLE_RATE), frozenset(group)


@dataclass(frozen=True)
class Batch:
    """Rows to run, and what they should say.

    Attributes:
        rows: the inputs.
        targets: int64 [positions, codebooks]: the next delayed frame after each frame position, the
            rows' frames one after another; -100 where nothing is asked.
        times: of each row's tokens in seconds.
        openings: given frames of each row.
    """

    rows: Rows
    targets: Tensor
    times: list[Tensor]
    openings: list[int]


def batches(
    items: list[Item],
    tokens: int,
    config: ZonosConfig,
    real: int,
    seed: Any,
    more: Callable[[np.random.Generator], list[Item]] = lambda rng: [],
) -> Iterator[Batch]:
    """Endless batches of about ``tokens`` positions, each of rows of like length, in random order.

    ``more`` draws rows that are added to each pass over the items.
    """
    rng = np.random.default_rng(seed)
    while True:
        rows = items + more(rng)
        order = rng.permutation(len(rows))
        for window in np.array_split(order, max(1, len(order) // 1024)):
            groups = _pack(sorted((rows[i] for i in window), key=lambda item: item.length), tokens)
            for number in rng.permutation(len(groups)):
                yield collate(groups[number], config, real, rng)


def _pack(items: list[Item], tokens: int) -> list[list[Item]]:
    """Consecutive items in groups whose padded size stays within ``tokens``."""
    groups: list[list[Item]] = [[]]
    for item in items:  # ascending length, so the last is the longest
        if groups[-1] and (len(groups[-1]) + 1) * item.length > tokens:
            groups.append([])
        groups[-1].append(item)
    return groups


def collate(
    items: list[Item], config: ZonosConfig, real: int, rng: np.random.Generator, noisy: bool = True
) -> Batch:
    """A batch of items: conditions dropped at random and inputs disturbed where ``noisy``."""
    pairs = [_frames(item, config, real) for item in items]
    frames = [f[:, :-1] for f, _ in pairs]
    if noisy:
        frames = [_disturb(f, real, config, rng) for f in frames]
    return Batch(
        Rows(
            [item.tokens for item in items], _values(items, rng, noisy), _keep(len(items), rng, noisy), frames
        ),
        torch.cat([wanted[:, 1:].T for _, wanted in pairs]),
        [item.times for item in items],
        [item.opening for item in items],
    )


def _frames(item: Item, config: ZonosConfig, real: int) -> tuple[Tensor, Tensor]:
    """Delayed frames with EOS as generation sees them, and the same as targets, [codebooks, frames + real + 1].

    Generation puts EOS in codebook k at k frames after codebook 0's, and MASK above it.
    """
    n, count = item.codes.shape
    delayed = delay(item.codes.long(), config.masked_token_id)  # [n, count + n]
    delayed = torch.cat([delayed, delayed.new_full((n, 1), config.masked_token_id)], dim=1)
    for k in range(n):
        delayed[k, k + 1 + count] = config.eos_token_id
    wanted = delayed.masked_fill(delayed == config.masked_token_id, -100)
    wanted[1:] = wanted[1:].masked_fill(wanted[1:] == config.eos_token_id, -100)
    if item.opening:
        for k in range(n):
            wanted[k, : item.opening + k + 1] = -100
    width = count + real + 1  # behind it only codebooks without sound end
    return delayed[:, :width], wanted[:, :width]


def _disturb(frames: Tensor, real: int, config: ZonosConfig, rng: np.random.Generator) -> Tensor:
    """Replace a share of the real codes by random ones: generation makes mistakes too."""
    share = rng.uniform(0, 0.2)
    hit = torch.from_numpy(rng.random(frames.shape) < share) & (frames < config.eos_token_id)
    hit[real:] = False
    return torch.where(hit, torch.from_numpy(rng.integers(config.eos_token_id, size=frames.shape)), frames)


def _values(items: list[Item], rng: np.random.Generator, noisy: bool) -> dict[str, Tensor]:
    voices = torch.stack([item.voices[int(rng.integers(len(item.voices)))] for item in items])
    if noisy:
        voices = voices + 0.1 * torch.from_numpy(rng.standard_normal(voices.shape)).float()
    count = len(items)
    fmax = np.where(rng.random(count) < 0.6, 22_050.0, rng.uniform(4_000, 24_000, count))
    language = np.full(count, float(language_id(LANGUAGE)))
    other = rng.random(count) < 0.1  # so that an untrained language id does not break the model
    language = np.where(other, rng.integers(0, 126, count), language)
    columns = {
        "fmax": fmax,
        "pitch_std": [item.pitch_std for item in items],
        "speaking_rate": [item.speaking_rate for item in items],
        "language_id": language,
    }
    numbers = {
        name: torch.tensor(np.asarray(column), dtype=torch.float32)[:, None]
        for name, column in columns.items()
    }
    return {"speaker": voices, "emotion": torch.tensor([item.emotion for item in items]), **numbers}


def _keep(count: int, rng: np.random.Generator, noisy: bool) -> dict[str, Tensor]:
    """12 % of the rows lose every condition (guidance needs them), 12 % each one of them."""
    joint = rng.random(count) >= (0.12 if noisy else 0.0)
    each = {name: rng.random(count) >= (0.12 if noisy else 0.0) for name in CONDITIONS}
    return {name: torch.from_numpy(joint & one) for name, one in each.items()}
