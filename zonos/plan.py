"""Memory and time before a run: what the engine, ``--dry-run`` and the page all go by."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch

from zonos.blocks import BLOCK
from zonos.config import BackboneConfig, ZonosConfig
from zonos.mamba2 import state_bytes_per_row
from zonos.model import N_EMBEDDINGS, build
from zonos.request import Request

MOST_SLOTS = {"cuda": 64, "mps": 16, "cpu": 8}  # by default; more can be asked for
# Of the memory that is free, this share is never planned with: allocators fragment.
HEADROOM = 0.1
# Frames per second of one row, before anything was measured on this machine, by device.
_GUESSED_SPEED = {"cuda": 90.0, "mps": 20.0, "cpu": 4.5}
_SMALL_MODEL_SPEED = 60.0


@dataclass(frozen=True)
class RowCost:
    """Bytes that one row takes on the device at its expected end."""

    tokens: int  # of its longest lane
    lanes: int
    bytes: int


@dataclass(frozen=True)
class MemoryPlan:
    """What a run takes.

    Attributes:
        weight_bytes: of the model.
        workspace_bytes: of one decode step, logits and attention.
        kv_bytes: keys, values and recurrent states of the rows at once, each at its end.
        rows: rows at once.
        takes: in all.
        seconds: expected length of the run; None where nothing is known of this machine's speed.
    """

    weight_bytes: int
    workspace_bytes: int
    kv_bytes: int
    rows: int
    takes: int
    seconds: float | None

    @property
    def peak_bytes(self) -> int:
        """All of it."""
        return self.weight_bytes + self.workspace_bytes + self.kv_bytes


def token_bytes(config: BackboneConfig, item_bytes: int) -> int:
    """Keys and values of one token in one lane, over all attention layers."""
    layers = len(set(config.attn_layer_idx))
    return 2 * layers * config.attn_cfg.num_heads_kv * config.head_dim * item_bytes


def block_bytes(config: BackboneConfig, item_bytes: int) -> int:
    """One KV block in all layers."""
    return BLOCK * token_bytes(config, item_bytes)


def lane_bytes(config: BackboneConfig, tokens: int, item_bytes: int) -> int:
    """One lane that holds ``tokens`` tokens: whole blocks, and the hybrid's constant state."""
    return -(-tokens // BLOCK) * block_bytes(config, item_bytes) + state_bytes_per_row(config)


def weight_bytes(config: ZonosConfig, item_bytes: int) -> int:
    """All parameters of the model."""
    return sum(parameter.numel() for parameter in build(config).parameters()) * item_bytes


def workspace_bytes(config: ZonosConfig, rows: int, item_bytes: int) -> int:
    """Activations of one decode step: logits, their probabilities and noise, and the widest layer."""
    logits = config.n_codebooks * N_EMBEDDINGS
    per_row = 8 * logits * 4 + 2 * (logits * 4)
    per_lane = 4 * config.backbone.attn_mlp_d_intermediate * item_bytes
    return rows * per_row + 2 * rows * per_lane


def row_costs(config: ZonosConfig, requests: Iterable[Request], item_bytes: int) -> list[RowCost]:
    """Every row of every take, the dearest first."""
    conditioners = len(config.conditioner_names) - 1  # each but the text is one token
    costs = []
    for request in requests:
        lanes = 1 if request.sampling.cfg_scale == 1 else 2
        for piece in request.pieces:
            tokens = len(piece.ids) + conditioners + piece.expected_frames + config.n_codebooks
            cost = RowCost(tokens, lanes, lanes * lane_bytes(config.backbone, tokens, item_bytes))
            costs += [cost] * request.line.takes
    return sorted(costs, key=lambda cost: -cost.bytes)


def plan_run(
    config: ZonosConfig,
    requests: Sequence[Request],
    *,
    dtype: torch.dtype,
    device: str,
    slots: int,
    frames_per_second: float | None = None,
) -> MemoryPlan:
    """Memory and time of a run.

    Args:
        config: the checkpoint's.
        requests: lines made ready.
        dtype, device: what it runs in and on.
        slots: most rows at once.
        frames_per_second: over all rows, as measured on this machine; None = a cautious guess.
    """
    item = dtype.itemsize
    costs = row_costs(config, requests, item)
    frames = sum(request.expected_frames * request.line.takes for request in requests)
    rows = min(slots, len(costs))
    speed = frames_per_second or _guess(config, device) * max(1, rows) ** 0.7
    return MemoryPlan(
        weight_bytes=weight_bytes(config, item),
        workspace_bytes=workspace_bytes(config, max(1, rows), item),
        kv_bytes=sum(cost.bytes for cost in costs[:rows]),
        rows=rows,
        takes=sum(request.line.takes for request in requests),
        seconds=frames / speed if frames else None,
    )


def _guess(config: ZonosConfig, device: str) -> float:
    return _SMALL_MODEL_SPEED if config.backbone.d_model < 1024 else _GUESSED_SPEED.get(device, 4.5)


@dataclass(frozen=True)
class Pool:
    """How many rows and KV blocks an engine may have on its device."""

    slots: int
    max_blocks: int | None  # None: the device's memory is not the engine's to plan (CPU, MPS)


def plan_pool(config: ZonosConfig, dtype: torch.dtype, device: torch.device, slots: int | None) -> Pool:
    """Slots and KV blocks for the memory that is free now, the weights being loaded already.

    A block is taken when a row reaches it, not when the row starts, so the pool is shared by what
    rows really need; when it runs full all the same, the row that lost least waits again.
    """
    wanted = slots or MOST_SLOTS.get(device.type, 8)
    if device.type != "cuda":
        return Pool(wanted, None)
    free, _ = torch.cuda.mem_get_info(device)
    usable = int(free * (1 - HEADROOM)) - workspace_bytes(config, wanted, dtype.itemsize)
    usable -= 2 * wanted * state_bytes_per_row(config.backbone)
    blocks = max(3, usable // block_bytes(config.backbone, dtype.itemsize))
    return Pool(wanted, int(blocks))
