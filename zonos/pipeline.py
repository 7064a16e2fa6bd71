"""Everything that a checkpoint consists of, loaded and on its device."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from zonos.codec import Codec, load_codec
from zonos.config import ZonosConfig
from zonos.defaults import Defaults
from zonos.devices import pick_device, pick_dtype
from zonos.errors import LineError
from zonos.hub import Checkpoint, generation_defaults, iter_tensors, read_tensors, resolve
from zonos.hub.download import Report
from zonos.model import Zonos, build, load_weights
from zonos.packed import pack
from zonos.prefixes import Prefixes

if TYPE_CHECKING:
    from zonos.speaker import VoiceVectors


@dataclass
class Pipeline:
    """Model, codec, speaker encoder and defaults of one checkpoint."""

    checkpoint: Checkpoint
    model: Zonos
    codec: Codec
    voice_vectors: VoiceVectors | None
    defaults: Defaults

    @property
    def name(self) -> str:
        """What ``resolve`` takes again."""
        return self.checkpoint.name

    @property
    def config(self) -> ZonosConfig:
        """Shape of the model."""
        return self.model.config

    def voice_vector(self, clips: list[Path]) -> Tensor:
        """Speaker vector of a voice, averaged over its clips; cached by content.

        Raises:
            LineError: a clip cannot be used, or this checkpoint has no speaker encoder.
        """
        if self.voice_vectors is None:
            raise LineError("no_speaker_encoder", " ".join(self.checkpoint.notes))
        return self.voice_vectors.vector(clips)

    @cached_property
    def prefixes(self) -> Prefixes:
        """Makes the prefixes of rows."""
        return Prefixes(self.model.prefix_conditioner)


def load_pipeline(
    model: str = "mini",
    *,
    device: str | None = None,
    dtype: str | None = None,
    progress: Report | None = None,
) -> Pipeline:
    """Find a checkpoint and load all its parts.

    Args:
        model: ``mini``, a hub id or a folder.
        device: ``cuda``, ``mps``, ``cpu`` or None for the best there is.
        dtype: ``bfloat16``, ``float16``, ``float32`` or None for what fits device and model.
        progress: called during a download with bytes done, bytes in all, file.

    Raises:
        CheckpointError: what is missing or does not fit, in words.
    """
    checkpoint = resolve(model, progress=progress)
    config = ZonosConfig.from_file(checkpoint.config)
    where = pick_device(device)
    number = pick_dtype(dtype, where, config)
    network = pack(load_weights(build(config), iter_tensors(checkpoint.weights), where, number))
    return Pipeline(
        checkpoint=checkpoint,
        model=network,
        codec=_load_codec(checkpoint, where),
        voice_vectors=_load_speaker(checkpoint, where),
        defaults=generation_defaults(checkpoint),
    )


def _json(path: Path | None) -> dict[str, Any]:
    return {} if path is None else dict(json.loads(path.read_text(encoding="utf-8")))


def _load_codec(checkpoint: Checkpoint, device: torch.device) -> Codec:
    part = checkpoint.codec
    return load_codec(_json(part.config), read_tensors(part.weights), device)


def _load_speaker(checkpoint: Checkpoint, device: torch.device) -> VoiceVectors | None:
    if checkpoint.speaker is None:
        return None
    # Reading clips and mel spectrograms pull in torchaudio, which takes seconds to import.
    from zonos.speaker import VoiceVectors, load_speaker

    part = checkpoint.speaker
    return VoiceVectors(load_speaker(read_tensors(part.weights), _json(part.config), device))
