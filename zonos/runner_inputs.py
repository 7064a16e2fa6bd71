"""Index tensors and static choices of one decode step."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from zonos.cache import BlockIndex
from zonos.sampler_settings import SamplerUse


@dataclass(frozen=True)
class StepInputs:
    """Which lanes and blocks belong to whom; see ``Runner.step_inputs``."""

    rows: int
    row_of_lane: Tensor  # [lanes]
    cond_lane: Tensor  # [rows]
    twin_lane: Tensor  # [rows], the conditioned lane itself where there is no twin
    table: Tensor  # [lanes, width]
    order: Tensor  # [blocks - 1]
    first: Tensor  # [2 * lanes]
    lane_of_block: Tensor  # [blocks]
    start_of_block: Tensor  # [blocks]
    use: SamplerUse

    @property
    def blocks(self) -> BlockIndex:
        """Whose block is whose."""
        return BlockIndex(self.table, self.order, self.first, self.lane_of_block, self.start_of_block)
