"""Memory and time before a run: what the engine, ``--dry-run`` and the page all go by."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import torch

from zonos.blocks import BLOCK, first_capacity, grown
from zonos.config import BackboneConfig, ZonosConfig
from zonos.mamba2 import STATE_DTYPE, state_bytes_per_row
from zonos.model import N_EMBEDDINGS, build, exact_names
from zonos.pace import STEP_GROWTH
from zonos.packed import works
from zonos.request import Request
from zonos.shapes import PACKED_TOKENS

MOST_SLOTS = {"cuda": 64, "mps": 16, "cpu": 8}  # by default; more can be asked for
# Of the memory that is free, this share is never planned with: allocators fragment.
HEADROOM = 0.1
# On a GPU the codec works beside the decoder: its largest block's activations (see ``zonos.codec.dac``).
CODEC_BYTES = 600_000_000
# KV blocks that a lane should have at least: a line of some seconds.
FIRST_BLOCKS = 8
# Frames per second of one row, before anything was measured on this machine, by device.
_GUESSED_SPEED = {"cuda": 90.0, "mps": 20.0, "cpu": 4.5}
_SMALL_MODEL_SPEED = 60.0


@dataclass(frozen=True)
class RowCost:
    """What one row is expected to take."""

    prefix: int  # tokens in each lane before its first step
    steps: int
    lanes: int

    def blocks(self, steps: int) -> int:
        """KV blocks that it holds after so many steps."""
        return self.lanes * -(-(self.prefix + steps) // BLOCK)


@dataclass(frozen=True)
class Foreseen:
    """What decoding some rows is expected to take.

    Attributes:
        blocks: most KV blocks held at once.
        spans: steps, and rows in each of them, one after another.
    """

    blocks: int
    spans: list[tuple[int, int]]


def foresee(costs: Sequence[RowCost], slots: int) -> Foreseen:
    """Go through a run as the scheduler would: the longest rows first, a slot refilled as it comes free."""
    waiting = sorted(costs, key=lambda cost: cost.steps)
    running: list[tuple[int, int, RowCost]] = []  # (last step, tie-breaker, cost), a heap
    now = blocks = 0
    spans: list[tuple[int, int]] = []
    while waiting or running:
        while waiting and len(running) < slots:
            cost = waiting.pop()
            heapq.heappush(running, (now + cost.steps, len(waiting), cost))
        # Rows only grow until one leaves, so the most is held just then.
        ends = running[0][0]
        blocks = max(blocks, sum(cost.blocks(cost.steps - (end - ends)) for end, _, cost in running))
        spans.append((ends - now, len(running)))
        now = ends
        while running and running[0][0] == now:
            heapq.heappop(running)
    return Foreseen(blocks, spans)


@dataclass(frozen=True)
class MemoryPlan:
    """What a run takes.

    Attributes:
        weight_bytes: of the model.
        workspace_bytes: of a decode step or a prefill.
        kv_bytes: keys, values and recurrent states of all slots, as the pool grows for them.
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


def pool_bytes(config: BackboneConfig, slots: int, blocks: int, item_bytes: int) -> int:
    """What the state of ``slots`` guided rows takes once ``blocks`` KV blocks were held at once."""
    lanes = 2 * slots
    capacity = 1 + first_capacity(lanes)
    while capacity < blocks + 1:  # block 0 belongs to nobody
        capacity = grown(capacity, capacity + 1, None)
    return capacity * block_bytes(config, item_bytes) + lanes * state_bytes_per_row(config)


@lru_cache(maxsize=8)  # it builds the whole network, without memory for it
def weight_bytes(config: ZonosConfig, dtype: torch.dtype, device: str) -> int:
    """All parameters of the model, those that stay in fp32 counted as such, and the heads' packed copy."""
    model = build(config)
    exact = exact_names(model)
    held = sum(
        tensor.numel() * (STATE_DTYPE.itemsize if name in exact else dtype.itemsize)
        for name, tensor in model.state_dict().items()
    )
    heads = config.n_codebooks * N_EMBEDDINGS * config.backbone.d_model
    return held + (heads * dtype.itemsize if device == "cpu" and works(dtype) else 0)


def workspace_bytes(config: ZonosConfig, rows: int, blocks: int, tokens: int, item_bytes: int) -> int:
    """Activations of a decode step or of a prefill, whichever takes more.

    Args:
        config: the checkpoint's.
        rows: decoded at once: logits, their probabilities and noise, and the widest layer.
        blocks: KV blocks attended over.
        tokens: of the largest prefill, over all its lanes.
        item_bytes: of a number in the model's type.
    """
    backbone, logits = config.backbone, config.n_codebooks * N_EMBEDDINGS
    width = max(backbone.attn_mlp_d_intermediate, backbone.d_model)
    step = rows * 10 * logits * 4 + 2 * rows * 4 * width * item_bytes
    step += blocks * attended_bytes(backbone, item_bytes)
    return max(step, tokens * (4 * width + 4 * backbone.d_model) * item_bytes)


def attended_bytes(config: BackboneConfig, item_bytes: int) -> int:
    """What attending over one KV block takes for a moment: its queries, its sum, and that weighted, in fp32."""
    return config.attn_cfg.num_heads * config.head_dim * (2 * item_bytes + 2 * 4)


def prefill_tokens(costs: Iterable[RowCost], slots: int, device: str) -> int:
    """Tokens of the largest prefill: on the CPU of one row, else of as many as are packed together."""
    sizes = sorted((cost.prefix * cost.lanes for cost in costs), reverse=True)
    largest = sizes[0] if sizes else 0
    return largest if device == "cpu" else max(largest, min(sum(sizes[:slots]), PACKED_TOKENS))


def row_costs(config: ZonosConfig, requests: Iterable[Request]) -> list[RowCost]:
    """Every row of every take."""
    conditioners = len(config.conditioner_names) - 1  # each but the text is one token
    costs = []
    for request in requests:
        lanes = 1 if request.sampling.cfg_scale == 1 else 2
        for piece in request.pieces:
            steps = piece.expected_frames + config.n_codebooks
            before = len(piece.ids) + conditioners + piece.prefix_frames
            costs += [RowCost(before, steps, lanes)] * request.line.takes
    return costs


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
        frames_per_second: of one row alone, as measured on this machine; None = a cautious guess.
    """
    item = dtype.itemsize
    costs = row_costs(config, requests)
    rows = min(slots, len(costs))
    ahead = foresee(costs, slots)
    alone = 1 / (frames_per_second or _guess(config, device))
    seconds = sum(steps * alone * rows_**STEP_GROWTH for steps, rows_ in ahead.spans)
    return MemoryPlan(
        weight_bytes=weight_bytes(config, dtype, device),
        workspace_bytes=workspace_bytes(
            config, max(1, rows), ahead.blocks, prefill_tokens(costs, slots, device), item
        ),
        kv_bytes=pool_bytes(config.backbone, slots, ahead.blocks, item),
        rows=rows,
        takes=sum(request.line.takes for request in requests),
        seconds=seconds if costs else None,
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
    return pool_within(config, dtype.itemsize, int(free * (1 - HEADROOM)) - CODEC_BYTES, wanted)


def pool_within(config: ZonosConfig, item_bytes: int, usable: int, slots: int) -> Pool:
    """The most of ``slots`` whose states, workspace and first blocks fit ``usable`` bytes, and blocks for the rest."""
    backbone = config.backbone
    block = block_bytes(backbone, item_bytes) + attended_bytes(backbone, item_bytes)
    while True:
        left = usable - workspace_bytes(config, slots, 0, PACKED_TOKENS, item_bytes)
        left -= 2 * slots * state_bytes_per_row(backbone)
        if slots == 1 or left >= 2 * slots * FIRST_BLOCKS * block:
            return Pool(slots, max(1 + 2 * FIRST_BLOCKS, left // block))
        slots -= 1
