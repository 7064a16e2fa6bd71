"""Which files of a folder or a hub repository make a checkpoint: names only, nothing is opened.

Two layouts are known. The embedded one keeps everything flat: ``config.json``, ``model*.safetensors``,
``generation.json``, ``codec.json``, ``codec.safetensors``, ``speaker.json``, ``speaker.safetensors``.
The published one has ``config.json`` and ``model.safetensors``, with codec and speaker encoder in
repositories of their own, or in sub-folders.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

CONFIG = "config.json"
GENERATION = "generation.json"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"
PICKLES = ("pytorch_model.bin", "model.pt", "model.pth")
SPEAKER_BASE = "ResNet293_SimAM_ASP_base"
SPEAKER_LDA = "ResNet293_SimAM_ASP_base_LDA-128"
CODEC_FOLDERS = ("codec", "dac", "dac_44khz", "descript/dac_44khz", "autoencoder")
SPEAKER_FOLDERS = ("speaker", "speaker_embedding", "Zonos-v0.1-speaker-embedding")
_SHARD = re.compile(r"model-(\d+)-of-(\d+)\.safetensors")


@dataclass(frozen=True, slots=True)
class PartNames:
    """Files of one part, relative to the folder, as posix names; they may not exist yet."""

    config: str | None
    weights: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        """Config first: small, and it tells that the part belongs to the checkpoint."""
        return ((self.config,) if self.config else ()) + self.weights


@dataclass(frozen=True, slots=True)
class Layout:
    """What a folder's names amount to; a part that it does not have is None."""

    model: PartNames
    generation: str | None
    codec: PartNames | None
    speaker: PartNames | None

    @property
    def all(self) -> tuple[str, ...]:
        """Every file, the model's weights last (so that a broken download is seen as one)."""
        small = (CONFIG, *((self.generation,) if self.generation else ()))
        parts = [part.all for part in (self.codec, self.speaker) if part]
        return (*small, *(name for part in parts for name in part), *self.model.weights)


def read_layout(names: Collection[str], indexed: Collection[str] = ()) -> Layout:
    """Sort file names into parts.

    Args:
        names: files there are, relative posix paths.
        indexed: shards that an index file lists, where it could be read.
    """
    return Layout(
        model=PartNames(CONFIG, model_weights(names, indexed)),
        generation=GENERATION if GENERATION in names else None,
        codec=codec_names(names),
        speaker=speaker_names(names),
    )


def model_weights(names: Collection[str], indexed: Collection[str] = ()) -> tuple[str, ...]:
    """The model's weights: one safetensors file, else shards, else a pickle; the first is expected
    where there is none."""
    if WEIGHTS in names:
        return (WEIGHTS,)
    if indexed:
        return tuple(sorted(indexed))
    shards = [match for name in names if (match := _SHARD.fullmatch(name))]
    if shards:
        digits, total = len(shards[0][1]), shards[0][2]
        return tuple(f"model-{n:0{digits}}-of-{total}.safetensors" for n in range(1, int(total) + 1))
    return next(((name,) for name in PICKLES if name in names), (WEIGHTS,))


def codec_names(names: Collection[str]) -> PartNames | None:
    """The codec that lies with the model."""
    if {"codec.json", "codec.safetensors"} & set(names):
        return PartNames("codec.json", ("codec.safetensors",))
    for folder in CODEC_FOLDERS:
        part = dac_names(folder + "/")
        if set(part.all) & set(names):
            return part
    return None


def dac_names(prefix: str = "") -> PartNames:
    """The published codec's own layout."""
    return PartNames(prefix + CONFIG, (prefix + WEIGHTS,))


def speaker_names(names: Collection[str], *, own_repository: bool = False) -> PartNames | None:
    """The speaker encoder that lies with the model, one file with its config or the published two."""
    for prefix in ("", *(folder + "/" for folder in SPEAKER_FOLDERS)):
        flat = PartNames(prefix + "speaker.json", (prefix + "speaker.safetensors",))
        if set(flat.all) & set(names):
            return flat
        if any(name.startswith(prefix + SPEAKER_BASE) for name in names):
            return _published_speaker(names, prefix)
    return _published_speaker(names, "") if own_repository else None


def _published_speaker(names: Collection[str], prefix: str) -> PartNames:
    def best(stem: str) -> str:
        safe = f"{prefix}{stem}.safetensors"
        return safe if safe in names else f"{prefix}{stem}.pt"  # no pickle where there is a choice

    return PartNames(None, (best(SPEAKER_BASE), best(SPEAKER_LDA)))
