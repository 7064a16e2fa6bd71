"""One file says how every run is made: training/config.json, overridden by ``--config``."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict

DEFAULT = Path(__file__).with_name("config.json")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataConfig(_Part):
    """The data: ``shards`` of ``shard_size`` utterances; ``named_share`` of them by the shipped voices."""

    shards: int
    shard_size: int
    named_share: float
    utterances_per_pool_speaker: int
    max_seconds: float
    workers: int


class CodecConfig(_Part):
    """The codec: ``steps`` and ``lr`` of its two phases, segments of ``frames`` codec frames.

    Codebooks after ``real_codebooks`` carry nothing. ``warm_start``: a checkpoint folder, or null.
    """

    steps: tuple[int, int]
    lr: tuple[float, float]
    batch: int
    frames: int
    shards: int
    real_codebooks: int
    threads: int
    warm_start: Path | None


class SpeakerConfig(_Part):
    """Speaker encoder: an AM-softmax classifier over ``classes`` of the voices in the first ``shards``."""

    steps: int
    classes: int
    shards: int
    batch: int
    lr: float
    threads: int
    warm_start: Path | None


class ModelConfig(_Part):
    """The model: batches of ``tokens`` positions; stops at ``steps`` or after ``hours`` of work.

    ``warm_start``: a checkpoint folder, or null for a fresh model of ``shape`` (a config.json);
    ``reset_deep``: the warm start's codebooks without sound were trained as noise.
    """

    shards: int
    steps: int
    tokens: int
    muon_lr: float
    adam_lr: float
    threads: int
    hours: float
    shape: Path
    warm_start: Path | None
    reset_deep: bool


class Config(_Part):
    """Everything; ``runs`` is where data and checkpoints of the runs lie."""

    runs: Path
    seed: int
    data: DataConfig
    codec: CodecConfig
    speaker: SpeakerConfig
    model: ModelConfig


def load(path: Path | None = None) -> Config:
    """Read the default config, or another whole one."""
    return Config.model_validate(json.loads((path or DEFAULT).read_text(encoding="utf-8")))
