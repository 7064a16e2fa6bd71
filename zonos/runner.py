"""Prefill and decode step: all per-row state on the device, static shapes, no host sync.

A *row* is one piece of speech being decoded. It has one lane in the backbone's batch and, with
guidance, a twin lane for its unconditioned prefix. Rows 0..n-1 and lanes 0..m-1 are always the live
ones: a row that leaves is replaced by the last. The host mirrors what it can compute itself
(positions, membership) and reads a small flag tensor for the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from zonos.blocks import BLOCK, NOWHERE, OutOfBlocks, first_capacity
from zonos.cache import LaneState, StepView
from zonos.codebooks import delay
from zonos.graphs import StepGraphs, cuda_capture
from zonos.model import N_EMBEDDINGS, Zonos
from zonos.rows import RowPlan, RowTensors
from zonos.runner_inputs import StepInputs
from zonos.sampler_settings import SamplerSettings
from zonos.sampling import sample
from zonos.shapes import PACKED_TOKENS, Bucketed, Exact, Shape, round_up


@dataclass(frozen=True)
class RowFlags:
    """What the host reads back of one row."""

    frames: int  # frames of output that are whole in every codebook
    ended: bool  # every code is there
    said_eos: bool  # False at the end means that the limit was reached
    broken: bool  # logits were not finite
    repeats: int  # how often the last frame came in a row


class Runner:
    """Decodes up to ``slots`` rows at once.

    Args:
        model: loaded and fused, on its device.
        slots: most rows.
        max_blocks: most KV blocks, or None.
        lane_quantum: lanes are padded to a multiple of this. Where matrix products give a row the
            same bits for every multiple (fp32 on the CPU: see ``zonos.invariance``), a row's result
            does not depend on how many others there are.
        graphs: capture the decode step; None = on CUDA.
        reproducible: every step has room for all slots, so that its kernels are always the same.
    """

    def __init__(
        self,
        model: Zonos,
        *,
        slots: int,
        max_blocks: int | None = None,
        lane_quantum: int = 4,
        graphs: bool | None = None,
        reproducible: bool = False,
    ) -> None:
        self.model, self.slots, self.reproducible = model, slots, reproducible
        self.device = model.device
        graphs = self.device.type == "cuda" if graphs is None else graphs
        self.room: Exact | Bucketed = (
            Bucketed(slots, whole=reproducible) if graphs or reproducible else Exact(lane_quantum)
        )
        config = model.config
        self.n_codebooks = config.n_codebooks
        lanes = round_up(2 * slots, lane_quantum)
        self.state = LaneState(
            config.backbone,
            lanes,
            blocks=min(1 + first_capacity(lanes), max_blocks or NOWHERE),
            max_blocks=max_blocks,
            device=self.device,
            dtype=model.dtype,
        )
        self.rows = RowTensors.empty(slots, self.n_codebooks, config.masked_token_id, self.device)
        self.plans: list[RowPlan] = []  # live rows, by row number
        self._lanes: list[int] = []  # row of each live lane
        self._inputs: StepInputs | None = None
        self._graphs = StepGraphs(self._decode, cuda_capture(self.device)) if graphs else None

    # ---- membership --------------------------------------------------------------------------

    @property
    def free_rows(self) -> int:
        """Rows that can still be admitted."""
        return self.slots - len(self.plans)

    def has_room(self, plans: Sequence[RowPlan]) -> bool:
        """Whether the prefixes of all these rows fit now."""
        limit = self.state.blocks.max_blocks
        needed = sum(-(-(plan.prefill_tokens + 1) // BLOCK) * plan.lanes for plan in plans)
        return len(plans) <= self.free_rows and (limit is None or self.state.blocks.live + needed <= limit)

    @torch.inference_mode()
    def admit(self, plans: Sequence[RowPlan]) -> None:
        """Prefill rows and put them into the batch; they decode from the next step on.

        Raises:
            OutOfBlocks: no room for a prefix (see :meth:`has_room`); nobody was admitted.
        """
        for at, plan in enumerate(plans):
            plan.lane_ids = list(range(len(self._lanes), len(self._lanes) + plan.lanes))
            plan.position = plan.prefill_tokens
            self._lanes += [len(self.plans)] * plan.lanes
            self.plans.append(plan)
            try:
                for lane in plan.lane_ids:
                    self.state.reserve(lane, plan.prefill_tokens + 1)
            except OutOfBlocks:
                for _ in range(at + 1):
                    self.release(len(self.plans) - 1)
                raise
            self.rows.admit(len(self.plans) - 1, plan, self.model.config.masked_token_id)
        for group in self._prefill_groups(plans):
            self._prefill(group)
        self._inputs = None

    def _prefill_groups(self, plans: Sequence[RowPlan]) -> list[list[RowPlan]]:
        """Which rows are prefilled together.

        On the CPU each by itself: nothing is gained by packing, and its matrix products then have
        the same shape whoever waits beside it; so too where results must be reproducible.
        """
        if self.device.type == "cpu" or self.reproducible:
            return [[plan] for plan in plans]
        groups: list[list[RowPlan]] = []
        size = PACKED_TOKENS
        for plan in plans:
            size += plan.prefill_tokens * plan.lanes
            if size > PACKED_TOKENS:
                groups.append([])
                size = plan.prefill_tokens * plan.lanes
            groups[-1].append(plan)
        return groups

    def _prefill(self, plans: Sequence[RowPlan]) -> None:
        """Run the rows' prefixes, each with its audio prefix behind it, packed without padding."""
        parts: list[Tensor] = []
        for plan in plans:
            frames = delay(plan.audio_prefix, self.model.config.masked_token_id)
            # The last delayed frame is left to the first decode step, which needs its logits.
            heard = self.model.embed_frames(frames[:, : plan.audio_prefix.shape[1]].T)
            parts += [part for prefix in plan.prefixes for part in (prefix, heard)]
        lengths = [plan.prefill_tokens for plan in plans for _ in plan.lane_ids]
        self.state.begin_prefill([lane for plan in plans for lane in plan.lane_ids], lengths)
        self.model.backbone.prefill(torch.cat(parts), lengths, self.state)

    @torch.inference_mode()
    def release(self, row: int) -> None:
        """Take a row out; the last row gets its number, the last lanes its lanes."""
        plan = self.plans[row]
        for lane in sorted(plan.lane_ids, reverse=True):
            self._release_lane(lane)
        last = len(self.plans) - 1
        if row != last:
            self.rows.move(last, row)
            self.plans[row] = self.plans[last]
            for lane in self.plans[row].lane_ids:
                self._lanes[lane] = row
        self.plans.pop()
        self.rows.done[last] = True
        self._inputs = None

    def _release_lane(self, lane: int) -> None:
        self.state.release(lane)
        last = len(self._lanes) - 1
        if lane != last:
            self.state.move(last, lane)
            row = self._lanes[last]
            self._lanes[lane] = row
            owner = self.plans[row]
            owner.lane_ids = [lane if own == last else own for own in owner.lane_ids]
        self._lanes.pop()

    # ---- decode step -------------------------------------------------------------------------

    @torch.inference_mode()
    def step(self) -> None:
        """Decode one frame for every live row.

        Raises:
            OutOfBlocks: a row needs a block and none is free; nothing was decoded.
        """
        self._reserve_next()
        inputs = self.step_inputs()
        if self._graphs is None:
            self._decode(inputs)
        else:
            self._graphs.run(inputs, (self.state.address, self.rows.codes.data_ptr()))
        for plan in self.plans:
            plan.position += 1

    def _reserve_next(self) -> None:
        """Make sure that every lane has a block for its next token."""
        for plan in self.plans:
            if plan.position % BLOCK == 0:
                for lane in plan.lane_ids:
                    if self.state.reserve(lane, plan.position + 1):
                        self._inputs = None

    def _decode(self, inputs: StepInputs) -> None:
        decode_step(self.model, self.state, self.rows, inputs)

    def step_inputs(self) -> StepInputs:
        """Index tensors of the batch as it is now; built only when membership or blocks change."""
        if self._inputs is None:
            blocks, rows, lanes = self.state.blocks, len(self.plans), len(self._lanes)
            use = SamplerSettings.use([plan.sampling for plan in self.plans])
            room = self.room(Shape(rows, lanes, blocks.live, blocks.most_used(lanes), use))
            if blocks.max_blocks is not None:  # rounded up, it may be more than there can be
                room = replace(room, blocks=max(blocks.live, min(room.blocks, blocks.max_blocks)))
            self.state.make_room(room.blocks, room.width)
            # Lanes without a row follow the row of nobody, which stays at position 0; rows beyond
            # the live ones are done and stand still.
            row_of_lane = np.full(room.lanes, self.slots)
            row_of_lane[:lanes] = self._lanes
            lanes_of = np.zeros((2, room.rows))
            lanes_of[0, :rows] = [plan.lane_ids[0] for plan in self.plans]
            lanes_of[1, :rows] = [plan.lane_ids[-1] for plan in self.plans]
            order, first = blocks.order(room.lanes, room.blocks - 1)
            self._inputs = StepInputs(
                rows=room.rows,
                row_of_lane=self._index(row_of_lane),
                cond_lane=self._index(lanes_of[0]),
                twin_lane=self._index(lanes_of[1]),
                table=self._index(blocks.table[: room.lanes, : room.width]),
                order=self._index(order),
                first=self._index(first),
                lane_of_block=self._index(blocks.lane[: room.blocks]),
                start_of_block=self._index(blocks.start[: room.blocks]),
                use=room.use,
            )
        return self._inputs

    def _index(self, values: np.ndarray) -> Tensor:
        # Only CUDA has copied these numbers, which nobody holds afterwards, by the time it returns.
        waits_not = self.device.type == "cuda"
        return torch.from_numpy(np.array(values, dtype=np.int64)).to(self.device, non_blocking=waits_not)

    # ---- results -----------------------------------------------------------------------------

    @torch.inference_mode()
    def read(self) -> list[RowFlags]:
        """Flags of all live rows: the only place where the host waits for the device."""
        n, k = len(self.plans), self.n_codebooks
        rows = self.rows
        packed = torch.stack(
            [rows.step[:n], rows.eos_step[:n], rows.done[:n].long(), rows.broken[:n].long(), rows.repeats[:n]]
        )
        flags = []
        for plan, (step, eos, done, broken, repeats) in zip(self.plans, packed.T.tolist(), strict=True):
            last = min(eos, plan.limit) if eos >= 0 else plan.limit
            flags.append(
                RowFlags(max(0, min(step - (k - 1), last)), bool(done), eos >= 0, bool(broken), repeats)
            )
        return flags

    def codes(self, row: int, start: int, stop: int) -> np.ndarray:
        """Codes of new frames ``start`` to ``stop`` of a row, int16 [codebooks, stop - start]."""
        return self.rows.codes[row, :, start:stop].cpu().numpy().copy()


def decode_step(model: Zonos, state: LaneState, rows: RowTensors, inputs: StepInputs) -> None:
    """One frame for every live row, in place on the buffers of ``rows`` and ``state``.

    Pure tensor code: static shapes for given inputs, no host sync, no branch on a value.
    """
    n = inputs.rows
    live = slice(0, n)
    positions = rows.position[inputs.row_of_lane]
    state.bind(StepView(inputs.blocks, positions, model.config.backbone.attn_cfg.num_heads_kv))
    x = model.embed_frames(rows.frame[inputs.row_of_lane])
    hidden = model.backbone.decode(x, positions, state)
    logits = model.logits(hidden)
    guided = guide(logits[inputs.cond_lane], logits[inputs.twin_lane], rows.cfg_scale[live])
    broken = ~guided[..., : N_EMBEDDINGS - 1].isfinite().flatten(1).all(1)
    guided = forbid(guided, model.config.eos_token_id)
    # Broken rows sample from zeros: their tokens are never used, and NaN stays out of the kernels.
    guided = torch.where(broken[:, None, None], 0.0, guided)
    token = sample(guided, rows.recent[live], rows.seed[live], rows.step[live], rows.sampling(n), inputs.use)
    rows.advance(n, token, broken, model.config.eos_token_id, model.config.masked_token_id)


def guide(cond: Tensor, uncond: Tensor, cfg_scale: Tensor) -> Tensor:
    """Classifier-free guidance ``u + (c - u) * scale`` per row; scale 1 returns ``c`` bit for bit."""
    scale = cfg_scale[:, None, None]
    return torch.where(scale == 1, cond, uncond + (cond - uncond) * scale)


def forbid(logits: Tensor, eos_id: int) -> Tensor:
    """MASK is never sampled, EOS only in codebook 0."""
    column = torch.arange(logits.shape[-1], device=logits.device)
    later = torch.arange(logits.shape[1], device=logits.device)[:, None] > 0
    return logits.masked_fill((column > eos_id) | ((column == eos_id) & later), float("-inf"))
