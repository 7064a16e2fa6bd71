"""The KV cache in blocks, and the recurrent state of the hybrid, per lane.

A *lane* is one sequence in the backbone's batch: a row has one for its conditioned and, with
guidance, one for its unconditioned prefix. Keys and values live in blocks of ``BLOCK`` tokens; a
lane owns just the blocks it has filled, listed in a table. A decode step attends over all live
blocks of the pool as one batch, without copying or padding any: partial softmax sums per block,
then combined per lane (the split-softmax identity of Milakov and Gimelshein, 2018). Live blocks are
kept at the front of the pool, so that the step reads what the lanes have and nothing else.

Numbers of a lane never depend on its neighbours: every block is multiplied by itself, and the
partial sums are added in the lane's own order.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from zonos.blocks import BLOCK, BlockTables, grown
from zonos.config import BackboneConfig
from zonos.mamba2 import STATE_DTYPE, state_shapes

_LEAST = 1e-30
_FORBIDDEN = -1e30  # finite, so that a block without any valid key yields weight 0 and never NaN


class LaneState:
    """State of all lanes of a runner; implements ``zonos.transformer.LayerState``.

    Args:
        config: the backbone.
        lanes: most lanes in a batch.
        blocks: KV blocks at the start (see ``zonos.blocks.grown``).
        max_blocks: most KV blocks; None = no limit.
        device, dtype: of keys and values. Recurrent states are fp32.
    """

    def __init__(
        self,
        config: BackboneConfig,
        lanes: int,
        *,
        blocks: int,
        max_blocks: int | None,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.config, self.device, self.dtype, self.max_blocks = config, device, dtype, max_blocks
        heads = config.attn_cfg.num_heads_kv
        self.scale = config.head_dim**-0.5
        shape = (max(blocks, 2), heads, BLOCK, config.head_dim)
        attention = sorted(set(config.attn_layer_idx))
        self.keys = {i: torch.zeros(shape, device=device, dtype=dtype) for i in attention}
        self.values = {i: torch.zeros(shape, device=device, dtype=dtype) for i in attention}
        self.blocks = BlockTables(lanes, max_blocks)
        # Of all Mamba2 layers in one tensor each, so that a lane is moved or cleared at once.
        self._mamba = {i: at for at, i in enumerate(sorted(set(range(config.n_layer)) - set(attention)))}
        self._conv, self._ssm = (
            torch.zeros(len(self._mamba), lanes, *shape, device=device, dtype=STATE_DTYPE)
            for shape in state_shapes(config)
        )
        self._prefill_lanes: list[int] = []
        self._prefill_lengths: list[int] = []
        self._view: StepView | None = None

    # ---- blocks and lanes --------------------------------------------------------------------

    @property
    def capacity(self) -> int:
        """Blocks allocated on the device."""
        return next(iter(self.keys.values())).shape[0]

    def reserve(self, lane: int, tokens: int) -> bool:
        """Give a lane blocks for ``tokens`` tokens in all; True when it got new ones.

        Raises:
            OutOfBlocks: the pool is full; the lane keeps what it had.
        """
        changed = self.blocks.reserve(lane, tokens)
        if self.blocks.live > self.capacity:
            self._grow(self.blocks.live)
        return changed

    def release(self, lane: int) -> None:
        """Take a lane's blocks back, close the holes they leave, and clear what is free now.

        A step multiplies what it does not use by 0, which numbers that are not finite survive: they
        must not stay behind in a free block, nor in a free lane, which decodes on as padding.
        """
        before = self.blocks.live
        copies = self.blocks.release(lane)
        for tensor in self.pools():
            for source, target in copies:
                tensor[target] = tensor[source]
            tensor[self.blocks.live : before] = 0
        for state in (self._conv, self._ssm):
            state[:, lane] = 0

    def move(self, source: int, target: int) -> None:
        """Renumber a lane into an empty one; blocks stay, the recurrent state is moved."""
        self.blocks.move(source, target)
        for state in (self._conv, self._ssm):
            state[:, target] = state[:, source]
            state[:, source] = 0

    def make_room(self, blocks: int, width: int) -> None:
        """Let a step read ``blocks`` blocks and ``width`` table columns, live or not."""
        self.blocks.fit(width, blocks)
        if blocks > self.capacity:
            self._grow(blocks)

    @property
    def address(self) -> int:
        """Of the pool on the device; it changes when the pool grows."""
        return next(iter(self.keys.values())).data_ptr()

    def pools(self) -> list[Tensor]:
        """Keys and values of all attention layers."""
        return [*self.keys.values(), *self.values.values()]

    def _grow(self, blocks: int) -> None:
        """Make room for ``blocks`` blocks on the device."""
        size = grown(self.capacity, blocks, self.max_blocks)
        for pool in (self.keys, self.values):
            for i, old in list(pool.items()):
                new = old.new_zeros(size, *old.shape[1:])
                new[: old.shape[0]] = old
                pool[i] = new

    # ---- prefill -----------------------------------------------------------------------------

    def begin_prefill(self, lanes: list[int], lengths: list[int]) -> None:
        """Say which lanes the packed sequences of the next prefill go to; blocks are reserved."""
        self._prefill_lanes, self._prefill_lengths = lanes, lengths

    def prefill(self, layer: int, k: Tensor, v: Tensor) -> None:
        """See ``LayerState.prefill``; tokens past the last sequence are padding and dropped."""
        start = 0
        for lane, length in zip(self._prefill_lanes, self._prefill_lengths, strict=True):
            blocks = torch.tensor(self.blocks.blocks(lane)[: -(-length // BLOCK)], device=self.device)
            for pool, x in ((self.keys, k), (self.values, v)):
                own = x[start : start + length]
                padded = own.new_zeros(len(blocks) * BLOCK, *own.shape[1:])
                padded[:length] = own
                pool[layer][blocks] = padded.unflatten(0, (-1, BLOCK)).transpose(1, 2)
            start += length

    def prefill_recurrent(self, layer: int, conv_state: Tensor, ssm_state: Tensor) -> None:
        """See ``LayerState.prefill_recurrent``."""
        lanes = torch.tensor(self._prefill_lanes, device=self.device)
        at = self._mamba[layer]
        self._conv[at, lanes] = conv_state
        self._ssm[at, lanes] = ssm_state

    # ---- decode step: static shapes, no host sync --------------------------------------------

    def bind(self, view: StepView) -> None:
        """Set what the next decode step's layers see."""
        self._view = view

    def recurrent(self, layer: int) -> tuple[Tensor, Tensor]:
        """See ``LayerState.recurrent``."""
        assert self._view is not None
        at, lanes = self._mamba[layer], self._view.index.table.shape[0]
        return self._conv[at, :lanes], self._ssm[at, :lanes]

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        """See ``LayerState.attend``."""
        assert self._view is not None
        return paged_attention(q, k, v, self.keys[layer], self.values[layer], self._view, self.scale)


class BlockIndex(NamedTuple):
    """Whose block is whose, as tensors.

    Attributes:
        table: [lanes, width] int64, block ids in the lane's order, 0 where it has none.
        order: [blocks - 1] int64, the tables' blocks one lane after another, then zeros.
        first: [2 * lanes] int64, where each lane's blocks begin in ``order``, and shares of the zeros.
        lane: [blocks] int64, the lane each block belongs to.
        start: [blocks] int64, position of the block's first token in its lane.
    """

    table: Tensor
    order: Tensor
    first: Tensor
    lane: Tensor
    start: Tensor


class StepView:
    """What all layers of one decode step share.

    Args:
        index: whose block is whose.
        positions: [lanes] int64, where the new token goes.
        kv_heads: key and value heads.
    """

    def __init__(self, index: BlockIndex, positions: Tensor, kv_heads: int) -> None:
        self.index, table = index, index.table
        offset = torch.arange(BLOCK, device=table.device)
        at = index.start[:, None] + offset
        valid = at <= positions[index.lane][:, None]
        self.bias = torch.where(valid, 0.0, _FORBIDDEN)[:, None, None, :]  # [blocks, 1, 1, BLOCK]
        block = table.gather(1, (positions // BLOCK)[:, None])  # [lanes, 1]
        heads = torch.arange(kv_heads, device=table.device)
        self.slots = ((block * kv_heads + heads) * BLOCK + (positions % BLOCK)[:, None]).flatten()


def paged_attention(
    q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor, view: StepView, scale: float
) -> Tensor:
    """Write the new token and attend over each lane's own blocks.

    Args:
        q: [lanes, heads, head_dim]; k, v: [lanes, kv_heads, head_dim].
        keys, values: pools [capacity, kv_heads, BLOCK, head_dim], written in place.
        view: of the step.
        scale: of the scores.

    Returns:
        [lanes, heads, head_dim].
    """
    lanes, heads, dim = q.shape
    kv_heads, index = k.shape[1], view.index
    keys.view(-1, dim).index_copy_(0, view.slots, k.reshape(-1, dim))
    values.view(-1, dim).index_copy_(0, view.slots, v.reshape(-1, dim))
    blocks = index.lane.shape[0]
    grouped = (q * scale).view(lanes, kv_heads, heads // kv_heads, dim)[index.lane]
    scores = torch.matmul(grouped, keys[:blocks].transpose(-1, -2)).float() + view.bias
    scores[0] = _FORBIDDEN  # block 0 borrowed a lane's query, which may not be finite
    peak = scores.amax(-1)  # [blocks, kv_heads, group]
    weights = (scores - peak[..., None]).exp()
    total = weights.sum(-1)
    mixed = torch.matmul(weights.to(values.dtype), values[:blocks]).float()  # [blocks, kv, group, dim]
    lane_peak = peak[index.table].amax(1)  # [lanes, kv_heads, group]
    share = (peak - lane_peak[index.lane]).exp()
    share[0] = 0.0
    weight = sum_by_lane(total * share, index).clamp_min(_LEAST)  # of padding lanes it is 0
    out = sum_by_lane(mixed * share[..., None], index) / weight[..., None]
    return out.to(q.dtype).reshape(lanes, heads, dim)


def sum_by_lane(parts: Tensor, index: BlockIndex) -> Tensor:
    """Sums over each lane's blocks, in the lane's own order: [blocks, ...] -> [lanes, ...].

    It reads the blocks that there are; a sum over the padded tables reads lanes times the longest lane.
    """
    if parts.device.type == "mps":  # not every release has the operator there
        return sum_by_table(parts, index)
    sums = F.embedding_bag(index.order, parts.flatten(1), index.first, mode="sum")
    lanes = index.table.shape[0]
    return sums[:lanes].unflatten(1, parts.shape[1:])


def sum_by_table(parts: Tensor, index: BlockIndex) -> Tensor:
    """The same sums, read over the padded tables; ``parts[0]`` must be 0."""
    return parts[index.table].sum(1)
