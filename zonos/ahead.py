"""What a run would take, before it is started and without a model: the page and ``--dry-run`` ask here."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from zonos.codec import frame_rate_of
from zonos.config import ZonosConfig
from zonos.devices import pick_device, pick_dtype
from zonos.hub import Checkpoint
from zonos.plan import MOST_SLOTS, MemoryPlan, plan_run
from zonos.request import Request
from zonos.speeds import Speeds


@dataclass(frozen=True)
class Ahead:
    """A run as foreseen.

    Attributes:
        plan: its memory and time.
        device, dtype: what it would run on and in.
        model_bytes: weights of model, codec and speaker encoder, and what a step needs beside them.
        measured: the time goes by what this machine was seen to do, not by a guess.
    """

    plan: MemoryPlan
    device: torch.device
    dtype: torch.dtype
    model_bytes: int
    measured: bool

    @property
    def peak_bytes(self) -> int:
        """All of it."""
        return self.model_bytes + self.plan.kv_bytes


def look_ahead(
    checkpoint: Checkpoint,
    config: ZonosConfig,
    requests: Iterable[Request],
    *,
    device: str | None = None,
    dtype: str | None = None,
    slots: int | None = None,
    speed: float | None = None,
) -> Ahead:
    """Foresee a run.

    Args:
        checkpoint, config: that speak.
        requests: the lines, made ready.
        device, dtype, slots: as for ``zonos.load``; None = what it would choose.
        speed: frames per second of one row, where an engine at work has just measured it; else
            what this machine was last seen to do counts, or a cautious guess.

    Raises:
        CheckpointError: the named device or number type is not there.
    """
    where = pick_device(device)
    number = pick_dtype(dtype, where, config)
    speed = speed or Speeds().get(checkpoint.name, where, number)
    plan = plan_run(
        config,
        list(requests),
        dtype=number,
        device=where.type,
        slots=slots or MOST_SLOTS[where.type],
        frames_per_second=speed,
    )
    beside = plan.weight_bytes + plan.workspace_bytes + checkpoint.bytes_beside_model
    return Ahead(plan, where, number, beside, measured=speed is not None)


def frame_rate(checkpoint: Checkpoint) -> float:
    """Frames per second of a checkpoint's codec, from its config alone."""
    codec = checkpoint.codec.config
    return frame_rate_of(json.loads(codec.read_text(encoding="utf-8")) if codec else {})
